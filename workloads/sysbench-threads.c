// SPDX-License-Identifier: GPL-2.0-only
/* sysbench threads: an event locks one of a few mutexes, yields, and unlocks it, over and over. */
#include "sysbench.h"

struct lock {
	struct wl_mutex mutex;
	char rest_of_a_pthread_mutex[24];	/* neighbours share cache lines as there */
};

struct test {
	int yields, locks;
	struct lock *lock;
	unsigned int events;
};

static int event(struct sysbench_thread *thread)
{
	struct test *t = thread->bench->test;
	struct wl_mutex *mutex = &t->lock[wl_add(&t->events, 1) % t->locks].mutex;

	for (int i = 0; i < t->yields; i++) {
		wl_lock(mutex);
		wl_yield();
		wl_unlock(mutex);
	}
	return 1;
}

static void sysbench_threads(void)
{
	struct test *t = wl_new(struct test, 1);

	t->yields = wl_option("thread-yields");
	t->locks = wl_option("thread-locks");
	t->lock = wl_new(struct lock, t->locks);
	sysbench_run(event, t);
}

static const struct wl_option options[] = {
	SYSBENCH_OPTIONS,
	{ "thread-yields", 0, WL_COUNT, 1000, 1, 1 << 30, NULL, "turns of an event" },
	{ "thread-locks", 0, WL_COUNT, 8, 1, 100000, NULL, "mutexes" },
	{ }
};

WORKLOAD(sysbench_threads) = {
	.name = "sysbench-threads",
	.summary = "threads that yield while they hold one of a few mutexes",
	.original = "sysbench threads, sysbench 1.0.20",
	.options = options,
	.main = sysbench_threads,
	.working_set = SYSBENCH_WORKING_SET,
};
