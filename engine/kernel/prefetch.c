// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a CPU reads first when it stops being idle or in user mode: the host's cache is too small for
 * the runqueues and tasks of 256 CPUs that run in turn.  Nothing that is simulated depends on it.
 */
#include <linux/tick.h>
#include "kernel/time/tick-sched.h"
#include "sim.h"

const void *sim_wake_line[SIM_WAKE_LINES];
unsigned int sim_nr_wake_lines;

static void add_wake_lines(const void *from, const void *to)
{
	const char *line = (const char *)((unsigned long)from & ~(L1_CACHE_BYTES - 1UL));

	for (; line < (const char *)to && sim_nr_wake_lines < SIM_WAKE_LINES; line += L1_CACHE_BYTES)
		sim_wake_line[sim_nr_wake_lines++] = line;
}

void sim_setup_prefetch(void)
{
	const struct rq *rq = (const struct rq __force *)&runqueues;
	const struct tick_sched *ts = (void *)tick_get_tick_sched(0) - __per_cpu_offset[0];

	add_wake_lines(rq, &rq->rt);
	add_wake_lines(&rq->curr, rq + 1);
	add_wake_lines(ts, ts + 1);
}
