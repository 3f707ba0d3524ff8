// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pairs of tasks that share a ring of buffers: the producer writes one after the other, all of it,
 * the consumer reads it.  Two pipes say which are full and which are free again.
 */
#include "workload.h"

struct pair {
	struct bench *bench;
	struct wl_region *ring;
	struct wl_pipe *full, *empty;
	unsigned int stop;
	unsigned long bytes;		/* consumed */
};

struct bench {
	int buffers;
	unsigned long size;
	unsigned long long end;
	struct wl_barrier start;
};

static void produce(void *arg)
{
	struct pair *p = arg;
	struct bench *b = p->bench;

	wl_pipe_write(p->empty, b->buffers);
	wl_barrier_wait(&b->start);
	for (int i = 0; wl_now() < b->end; i = (i + 1) % b->buffers) {
		wl_pipe_read(p->empty, 1);
		wl_touch(p->ring, i * b->size, b->size, WL_WRITE);
		wl_pipe_write(p->full, 1);
	}
	wl_store(&p->stop, 1);
	wl_pipe_write(p->full, 1);
}

static void consume(void *arg)
{
	struct pair *p = arg;
	struct bench *b = p->bench;

	wl_barrier_wait(&b->start);
	for (int i = 0;; i = (i + 1) % b->buffers) {
		wl_pipe_read(p->full, 1);
		if (wl_load(&p->stop))
			break;
		wl_touch(p->ring, i * b->size, b->size, WL_READ);
		p->bytes += b->size;
		wl_pipe_write(p->empty, 1);
	}
}

static void producer_consumer(void)
{
	int pairs = wl_option("pairs"), threads = wl_option("threads");
	struct wl_task *(*start)(const char *, void (*)(void *), void *) = threads ? wl_thread : wl_fork;
	struct pair *pair = wl_new(struct pair, pairs);
	struct wl_task **task = wl_new(struct wl_task *, 2 * pairs);
	struct bench *b = wl_new(struct bench, 1);
	unsigned long bytes = 0;

	b->buffers = wl_option("buffers");
	b->size = wl_option("size");
	b->end = WL_NEVER;
	wl_barrier_init(&b->start, 2 * pairs + 1);
	for (int i = 0; i < pairs; i++) {
		struct pair *p = &pair[i];

		*p = (struct pair) { .bench = b, .full = wl_pipe(), .empty = wl_pipe() };
		p->ring = (threads ? wl_region : wl_shared_region)(b->buffers * b->size);
		task[2 * i] = start("producer", produce, p);
		task[2 * i + 1] = start("consumer", consume, p);
	}
	wl_barrier_wait(&b->start);
	wl_begin();
	b->end = wl_now() + wl_option("time");
	for (int i = 0; i < 2 * pairs; i++)
		wl_join(task[i]);
	wl_end();
	for (int i = 0; i < pairs; i++)
		bytes += pair[i].bytes;
	wl_result("transfer rate", bytes / wl_elapsed() / 1e9, "GB/s");
}

static const struct wl_option options[] = {
	{ "pairs", 'p', WL_COUNT, 1, 1, 10000, NULL, "pairs of a producer and a consumer" },
	{ "threads", 't', WL_FLAG, 0, 0, 1, NULL, "threads of one process instead of processes" },
	{ "buffers", 'b', WL_COUNT, 4, 1, 4096, NULL, "in the ring of a pair" },
	{ "size", 's', WL_SIZE, 1 << 20, 4096, 1 << 30, NULL, "of a buffer" },
	{ "time", 'd', WL_TIME, 5 * WL_SEC, 1, 86400 * WL_SEC, NULL, "how long buffers are written" },
	{ }
};

WORKLOAD(producer_consumer) = {
	.name = "producer-consumer",
	.summary = "pairs of tasks of which one writes buffers and the other reads them",
	.original = "schedlab's own",
	.options = options,
	.main = producer_consumer,
	.working_set = { .process = 4, .child = 4, .thread = 2, .stack = 8 << 20 },
};
