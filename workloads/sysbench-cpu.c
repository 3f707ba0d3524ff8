// SPDX-License-Identifier: GPL-2.0-only
/* sysbench cpu: an event tries every number up to cpu-max-prime for being prime. */
#include "sysbench.h"

static int event(struct sysbench_thread *thread)
{
	const unsigned long long *divisions = thread->bench->test;

	wl_divide(*divisions);
	return 1;
}

static void sysbench_cpu(void)
{
	unsigned long long *divisions = wl_new(unsigned long long, 1);

	*divisions = sysbench_divisions(wl_option("cpu-max-prime"));
	sysbench_run(event, divisions);
}

static const struct wl_option options[] = {
	SYSBENCH_OPTIONS,
	{ "cpu-max-prime", 0, WL_COUNT, 10000, 1, 10000000, NULL, "numbers below this are tried" },
	{ }
};

WORKLOAD(sysbench_cpu) = {
	.name = "sysbench-cpu",
	.summary = "threads that compute",
	.original = "sysbench cpu, sysbench 1.0.20",
	.options = options,
	.main = sysbench_cpu,
	.working_set = SYSBENCH_WORKING_SET,
};
