// SPDX-License-Identifier: GPL-2.0-only
/*
 * sysbench memory: an event goes over a small block, which all threads share or each has for
 * itself, word by word or to as many random words.
 */
#include <string.h>
#include "sysbench.h"

#define WORD	8UL
#define LINE	64UL
#define MIB	(1 << 20)

struct test {
	unsigned long	block_size, stores;
	unsigned long	events_each;
	unsigned long long compute;		/* cycles of an event */
	void		*shared;		/* NULL: each thread has its own */
};

static int event(struct sysbench_thread *thread)
{
	struct test *t = thread->bench->test;

	if (thread->events == t->events_each)
		return 0;
	if (!thread->events && !t->shared)
		wl_footprint(t->block_size);
	wl_cycles(t->compute);
	if (t->shared && t->stores)
		wl_scatter(t->shared, t->block_size, t->stores);
	return 1;
}

static void sysbench_memory(void)
{
	struct test *t = wl_new(struct test, 1);
	unsigned long total = wl_option("memory-total-size"), events;
	int random = !strcmp(wl_text("memory-access-mode"), "rnd");

	t->block_size = wl_option("memory-block-size");
	if (t->block_size & (t->block_size - 1))
		wl_refuse("memory-block-size is not a power of two");
	t->events_each = total ? total / t->block_size / wl_option("threads") : ~0UL;
	t->compute = t->block_size / WORD *
		     wl_figure(random ? WL_sysbench_memory_random_100 : WL_sysbench_memory_turn_100) / 100;
	/* word by word, a line is stored to once, as seen from another CPU */
	if (!strcmp(wl_text("memory-oper"), "write"))
		t->stores = t->block_size / (random ? WORD : LINE);
	if (!strcmp(wl_text("memory-scope"), "global"))
		t->shared = wl_alloc(t->block_size);
	events = sysbench_run(event, t);
	wl_result("transferred", (double)events * t->block_size / MIB, "MiB");
	wl_result("transfer rate", (double)events * t->block_size / MIB / wl_elapsed(), "MiB/s");
}

static const struct wl_option options[] = {
	SYSBENCH_OPTIONS,
	{ "memory-block-size", 0, WL_SIZE, 1 << 10, 64, 1 << 16, NULL, "what an event goes over; it fits a core's cache" },
	{ "memory-total-size", 0, WL_SIZE, 100LL << 30, 0, 1LL << 50, NULL, "all threads' events together; 0: no limit" },
	{ "memory-scope", 0, WL_WORD, 0, 0, 0, "global|local", "one block, or one for each thread" },
	{ "memory-oper", 0, WL_WORD, 1, 0, 0, "read|write|none", "what is done to each word" },
	{ "memory-access-mode", 0, WL_WORD, 0, 0, 0, "seq|rnd", "in which order" },
	{ }
};

WORKLOAD(sysbench_memory) = {
	.name = "sysbench-memory",
	.summary = "threads that go over a small block of memory",
	.original = "sysbench memory, sysbench 1.0.20",
	.options = options,
	.main = sysbench_memory,
	.working_set = SYSBENCH_WORKING_SET,
};
