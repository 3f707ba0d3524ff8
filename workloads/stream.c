// SPDX-License-Identifier: GPL-2.0-only
/*
 * STREAM: four loops over three arrays of doubles, each by all threads together.  Every
 * thread touches its part of the arrays first, so it lies on the thread's node.
 */
#include "workload.h"

enum { COPY, SCALE, ADD, TRIAD, NR_KERNELS };

static const struct {
	const char *name;
	int arrays;			/* read or written */
} kernels[NR_KERNELS] = { { "Copy", 2 }, { "Scale", 2 }, { "Add", 3 }, { "Triad", 3 } };

struct bench {
	struct wl_region *a, *b, *c;
	struct wl_barrier start, end;
	int threads, ntimes, unbound;
	unsigned long long best[NR_KERNELS];
};

struct part {
	struct bench *bench;
	int number;
	unsigned long offset, bytes;
};

static void compute(const struct part *p, int kernel)
{
	const struct bench *s = p->bench;

	switch (kernel) {
	case COPY:
		wl_stream(WL_COPY, s->c, s->a, NULL, p->offset, p->bytes);
		break;
	case SCALE:
		wl_stream(WL_SCALE, s->b, s->c, NULL, p->offset, p->bytes);
		break;
	case ADD:
		wl_stream(WL_SUM, s->c, s->a, s->b, p->offset, p->bytes);
		break;
	case TRIAD:
		wl_stream(WL_TRIAD, s->a, s->b, s->c, p->offset, p->bytes);
		break;
	}
}

/* The first thread takes the time, as OpenMP's first thread does around a parallel loop. */
static void kernel(const struct part *p, int number, int first_round)
{
	struct bench *s = p->bench;
	unsigned long long start = wl_now(), took;

	wl_barrier_wait(&s->start);
	compute(p, number);
	wl_barrier_wait(&s->end);
	took = wl_now() - start;
	if (p->number == 0 && !first_round && took < s->best[number])
		s->best[number] = took;
}

static void thread(void *arg)
{
	struct part *p = arg;
	struct bench *s = p->bench;

	if (!s->unbound)
		wl_pin_llcs(p->number % wl_llcs(), 1);
	wl_touch(s->a, p->offset, p->bytes, WL_WRITE);
	wl_touch(s->b, p->offset, p->bytes, WL_WRITE);
	wl_touch(s->c, p->offset, p->bytes, WL_WRITE);
	wl_stream(WL_SCALE, s->a, s->a, NULL, p->offset, p->bytes);
	wl_barrier_wait(&s->end);
	if (p->number == 0)
		wl_begin();
	for (int round = 0; round < s->ntimes; round++)
		for (int k = 0; k < NR_KERNELS; k++)
			kernel(p, k, round == 0);
}

static void stream(void)
{
	struct bench *s = wl_new(struct bench, 1);
	unsigned long elements = wl_option("array-size");
	struct wl_task **task;
	struct part *part;

	s->threads = wl_option("threads") ? wl_option("threads") : wl_llcs();
	s->ntimes = wl_option("ntimes");
	s->unbound = wl_option("unbound");
	s->a = wl_region(elements * sizeof(double));
	s->b = wl_region(elements * sizeof(double));
	s->c = wl_region(elements * sizeof(double));
	wl_barrier_init(&s->start, s->threads);
	wl_barrier_init(&s->end, s->threads);
	for (int k = 0; k < NR_KERNELS; k++)
		s->best[k] = WL_NEVER;
	part = wl_new(struct part, s->threads);
	task = wl_new(struct wl_task *, s->threads);
	for (int i = 0; i < s->threads; i++) {
		unsigned long from = elements * i / s->threads, to = elements * (i + 1) / s->threads;

		part[i] = (struct part) { s, i, from * sizeof(double), (to - from) * sizeof(double) };
		if (i)
			task[i] = wl_thread("stream", thread, &part[i]);
	}
	thread(&part[0]);
	for (int i = 1; i < s->threads; i++)
		wl_join(task[i]);
	wl_end();
	for (int k = 0; k < NR_KERNELS; k++)
		wl_result(kernels[k].name, kernels[k].arrays * elements * sizeof(double) * 1e3 / s->best[k], "MB/s");
}

static const struct wl_option options[] = {
	{ "array-size", 'n', WL_COUNT, 10000000, 1000, 1LL << 34, NULL, "elements of each array (STREAM_ARRAY_SIZE)" },
	{ "ntimes", 0, WL_COUNT, 10, 2, 100000, NULL, "rounds, of which the first does not count (NTIMES)" },
	{ "threads", 't', WL_COUNT, 0, 0, 4096, NULL, "threads, each on an LLC of its own; 0: one for each LLC" },
	{ "unbound", 0, WL_FLAG, 0, 0, 1, NULL, "threads run where the scheduler puts them" },
	{ }
};

WORKLOAD(stream) = {
	.name = "stream",
	.summary = "four loops over arrays, bound by memory bandwidth",
	.original = "STREAM 5.10",
	.options = options,
	.main = stream,
};
