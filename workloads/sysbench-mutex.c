// SPDX-License-Identifier: GPL-2.0-only
/* sysbench mutex: each thread takes a random mutex for a moment, spins, and again. */
#include "sysbench.h"

struct lock {
	struct wl_mutex mutex;
	char apart[256];			/* as in sysbench */
};

struct test {
	int mutexes, locks;
	unsigned long long spin;		/* cycles */
	struct lock *lock;
	unsigned int counter __attribute__((aligned(64)));
};

/* One event a thread. */
static int event(struct sysbench_thread *thread)
{
	struct test *t = thread->bench->test;

	if (thread->events)
		return 0;
	for (int i = 0; i < t->locks; i++) {
		struct wl_mutex *mutex = &t->lock[wl_uniform(0, t->mutexes - 1)].mutex;

		wl_cycles(t->spin);
		wl_lock(mutex);
		wl_add(&t->counter, 1);
		wl_unlock(mutex);
	}
	return 1;
}

static void sysbench_mutex(void)
{
	struct test *t = wl_new(struct test, 1);

	t->mutexes = wl_option("mutex-num");
	t->locks = wl_option("mutex-locks");
	t->spin = wl_option("mutex-loops") * wl_figure(WL_sysbench_mutex_turn_100) / 100;
	t->lock = wl_new(struct lock, t->mutexes);
	sysbench_run(event, t);
}

static const struct wl_option options[] = {
	SYSBENCH_OPTIONS,
	{ "mutex-num", 0, WL_COUNT, 4096, 1, 1000000, NULL, "mutexes" },
	{ "mutex-locks", 0, WL_COUNT, 50000, 1, 1 << 30, NULL, "locks a thread takes" },
	{ "mutex-loops", 0, WL_COUNT, 10000, 0, 1 << 30, NULL, "empty loops before each" },
	{ }
};

WORKLOAD(sysbench_mutex) = {
	.name = "sysbench-mutex",
	.summary = "threads that contend for mutexes",
	.original = "sysbench mutex, sysbench 1.0.20",
	.options = options,
	.main = sysbench_mutex,
	.working_set = SYSBENCH_WORKING_SET,
};
