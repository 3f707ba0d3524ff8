// SPDX-License-Identifier: GPL-2.0-only
/*
 * hackbench of rt-tests: groups of senders and receivers.  All report ready on one pipe
 * and wait in poll() on another; one byte in it starts them all, and nobody reads it.
 */
#include "workload.h"

enum { RECEIVER, SENDER };

struct channel {
	struct wl_pipe *pipe;
	struct wl_socket *end[2];
};

struct group {
	struct bench *bench;
	struct channel *fd;
};

struct bench {
	int fds, pipe;
	unsigned int loops, datasize;
	struct wl_pipe *ready, *wakefd;
};

struct role {
	struct group *group;
	int number;
};

static void ready(struct bench *b)
{
	struct wl_poll start = { .pipe = b->wakefd };

	wl_pipe_write(b->ready, 1);
	wl_poll(&start, 1, WL_NEVER);
}

static void receiver(void *arg)
{
	struct role *role = arg;
	struct bench *b = role->group->bench;
	struct channel *c = &role->group->fd[role->number];
	unsigned long messages = (unsigned long)b->fds * b->loops;

	ready(b);
	for (unsigned long i = 0; i < messages; i++) {
		if (b->pipe)
			wl_pipe_read(c->pipe, b->datasize);
		else
			wl_receive(c->end[1], b->datasize);
	}
}

static void sender(void *arg)
{
	struct role *role = arg;
	struct bench *b = role->group->bench;

	ready(b);
	for (unsigned int i = 0; i < b->loops; i++) {
		for (int r = 0; r < b->fds; r++) {
			struct channel *c = &role->group->fd[r];

			if (b->pipe)
				wl_pipe_write(c->pipe, b->datasize);
			else
				wl_send(c->end[0], b->datasize);
		}
	}
}

static struct wl_task *create(int threads, int role, struct role *arg)
{
	if (threads)
		return wl_thread(role == SENDER ? "sender" : "receiver", role == SENDER ? sender : receiver, arg);
	return wl_fork(role == SENDER ? "sender" : "receiver", role == SENDER ? sender : receiver, arg);
}

static int start_group(struct bench *b, int threads, struct wl_task **task)
{
	struct group *g = wl_new(struct group, 1);
	struct role *roles = wl_new(struct role, b->fds);
	int n = 0;

	g->bench = b;
	g->fd = wl_new(struct channel, b->fds);
	for (int i = 0; i < b->fds; i++) {
		roles[i] = (struct role) { g, i };
		if (b->pipe)
			g->fd[i].pipe = wl_pipe();
		else
			wl_connect(WL_UNIX, g->fd[i].end);
		task[n++] = create(threads, RECEIVER, &roles[i]);
	}
	for (int i = 0; i < b->fds; i++)
		task[n++] = create(threads, SENDER, &roles[i]);
	return n;
}

static void hackbench(void)
{
	struct bench *b = wl_new(struct bench, 1);
	int groups = wl_option("groups"), threads = wl_option("threads"), total = 0;
	struct wl_task **task;

	b->fds = wl_option("fds");
	b->loops = wl_option("loops");
	b->datasize = wl_option("datasize");
	b->pipe = wl_option("pipe");
	b->ready = wl_pipe();
	b->wakefd = wl_pipe();
	task = wl_new(struct wl_task *, groups * 2 * b->fds);
	for (int i = 0; i < groups; i++)
		total += start_group(b, threads, task + total);
	for (int i = 0; i < total; i++)
		wl_pipe_read(b->ready, 1);
	wl_begin();
	wl_pipe_write(b->wakefd, 1);
	for (int i = 0; i < total; i++) {
		if (threads)
			wl_join(task[i]);
		else
			wl_wait();
	}
	wl_end();
	wl_result("time", wl_elapsed(), "s");
	wl_result("messages", (double)groups * b->fds * b->fds * b->loops, "");
}

static const struct wl_option options[] = {
	{ "groups", 'g', WL_COUNT, 10, 1, 4096, NULL, "groups of senders and receivers" },
	{ "fds", 'f', WL_COUNT, 20, 1, 1000, NULL, "senders, and receivers, of a group" },
	{ "loops", 'l', WL_COUNT, 100, 1, 1 << 30, NULL, "messages from each sender to each receiver" },
	{ "datasize", 's', WL_SIZE, 100, 1, 65536, NULL, "size of a message" },
	{ "pipe", 'p', WL_FLAG, 0, 0, 1, NULL, "pipes instead of socket pairs" },
	{ "threads", 'T', WL_FLAG, 0, 0, 1, NULL, "threads instead of processes" },
	{ }
};

const struct workload hackbench_workload = {
	.name = "hackbench",
	.summary = "groups of tasks sending small messages to each other",
	.original = "hackbench, rt-tests 2.4",
	.options = options,
	.main = hackbench,
};
