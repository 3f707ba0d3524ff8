// SPDX-License-Identifier: GPL-2.0-only
/*
 * perf bench futex wake: threads, each pinned to a CPU, block on one futex; the first task
 * wakes them, `nwakes` at a time.
 */
#include "workload.h"

struct bench {
	unsigned int futex;
	int starting;
	struct wl_mutex lock;
	struct wl_condition parent, workers;
};

struct worker {
	struct bench *bench;
	int cpu;
};

static void worker(void *arg)
{
	struct worker *w = arg;
	struct bench *b = w->bench;

	wl_pin_cpus(w->cpu, 1);
	wl_lock(&b->lock);
	if (!--b->starting)
		wl_signal(&b->parent);
	wl_condition_wait(&b->workers, &b->lock, WL_NEVER);
	wl_unlock(&b->lock);
	wl_futex_wait(&b->futex, 0, WL_NEVER);
}

static void block_threads(struct bench *b, struct worker *workers, struct wl_task **task, int threads)
{
	b->starting = threads;
	for (int i = 0; i < threads; i++) {
		workers[i] = (struct worker) { b, i % wl_cpus() };
		task[i] = wl_thread("futex-wake", worker, &workers[i]);
	}
	wl_lock(&b->lock);
	while (b->starting)
		wl_condition_wait(&b->parent, &b->lock, WL_NEVER);
	wl_broadcast(&b->workers);
	wl_unlock(&b->lock);
	wl_sleep(100 * WL_MSEC);	/* perf's own; until then all wait */
}

static void futex_wake(void)
{
	struct bench *b = wl_new(struct bench, 1);
	int threads = wl_option("threads") ? wl_option("threads") : wl_cpus();
	int nwakes = wl_option("nwakes"), repeat = wl_option("repeat");
	struct worker *workers = wl_new(struct worker, threads);
	struct wl_task **task = wl_new(struct wl_task *, threads);
	unsigned long long waking = 0;

	for (int round = 0; round < repeat; round++) {
		unsigned long long start;
		int woken = 0;

		block_threads(b, workers, task, threads);
		if (!round)
			wl_begin();
		start = wl_now();
		while (woken < threads)
			woken += wl_futex_wake(&b->futex, nwakes);
		waking += wl_now() - start;
		for (int i = 0; i < threads; i++)
			wl_join(task[i]);
	}
	wl_end();
	wl_result("time", (double)waking / repeat / WL_MSEC, "ms");
	wl_result("threads", threads, "");
}

static const struct wl_option options[] = {
	{ "threads", 't', WL_COUNT, 0, 0, 100000, NULL, "threads that are woken; 0: one a CPU" },
	{ "nwakes", 'w', WL_COUNT, 1, 1, 100000, NULL, "how many are woken at a time" },
	{ "repeat", 'r', WL_COUNT, 10, 1, 100000, NULL, "rounds" },
	{ }
};

WORKLOAD(futex_wake) = {
	.name = "futex-wake",
	.summary = "many threads that wait for one futex are woken",
	.original = "perf bench futex wake, Linux 6.1",
	.options = options,
	.main = futex_wake,
	.working_set = { .process = 8, .thread = 2, .stack = 8 << 20 },
};
