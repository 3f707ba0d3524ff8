// SPDX-License-Identifier: GPL-2.0-only
/* perf bench sched pipe: two tasks hand four bytes to and fro over two pipes. */
#include "workload.h"

struct bench {
	unsigned long loops;
	struct wl_pipe *there, *back;
};

static void first(void *arg)
{
	struct bench *b = arg;

	for (unsigned long i = 0; i < b->loops; i++) {
		wl_pipe_write(b->there, 4);
		wl_pipe_read(b->back, 4);
	}
}

static void second(void *arg)
{
	struct bench *b = arg;

	for (unsigned long i = 0; i < b->loops; i++) {
		wl_pipe_read(b->there, 4);
		wl_pipe_write(b->back, 4);
	}
}

static void sched_pipe(void)
{
	struct bench *b = wl_new(struct bench, 1);

	b->loops = wl_option("loop");
	b->there = wl_pipe();
	b->back = wl_pipe();
	wl_begin();
	if (wl_option("threaded")) {
		struct wl_task *one = wl_thread("sched-pipe", first, b);
		struct wl_task *other = wl_thread("sched-pipe", second, b);

		wl_join(one);
		wl_join(other);
	} else {
		struct wl_task *child = wl_fork("sched-pipe", first, b);

		second(b);
		wl_join(child);
	}
	wl_end();
	wl_result("time", wl_elapsed(), "s");
	wl_result("usecs/op", wl_elapsed() * 1e6 / b->loops, "us");
	wl_result("ops/sec", b->loops / wl_elapsed(), "1/s");
}

static const struct wl_option options[] = {
	{ "loop", 'l', WL_COUNT, 1000000, 1, 1 << 30, NULL, "round trips" },
	{ "threaded", 'T', WL_FLAG, 0, 0, 1, NULL, "two threads instead of two processes" },
	{ }
};

WORKLOAD(sched_pipe) = {
	.name = "sched-pipe",
	.summary = "two tasks waking each other over pipes",
	.original = "perf bench sched pipe, Linux 6.1",
	.options = options,
	.main = sched_pipe,
	.working_set = { .process = 4, .child = 4, .thread = 2, .stack = 8 << 20 },
};
