// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints on decisions, without changing the kernel's sources: the classes'
 * select_task_rq() methods are reached through a table of pointers, which we turn
 * to wrappers at boot.
 */
#include "shim.h"
#include <trace/events/schedlab.h>

typedef int (*select_fn)(struct task_struct *p, int cpu, int flags);

static const struct sched_class *const classes[] = {
	&fair_sched_class, &rt_sched_class, &dl_sched_class
};

static select_fn original[ARRAY_SIZE(classes)];

static int select_traced(struct task_struct *p, int cpu, int flags)
{
	simtime from = hw.clk;
	int i = 0, chosen;

	while (classes[i] != p->sched_class && i < ARRAY_SIZE(classes) - 1)
		i++;
	chosen = original[i](p, cpu, flags);
	hw_function_ran(HW_SELECT_TASK_RQ, from);
	trace_select_task_rq(p, cpu, chosen, flags);
	return chosen;
}

void shim_setup_decisions(void)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		select_fn *method = (select_fn *)&classes[i]->select_task_rq;

		original[i] = *method;
		hw_make_writable(method, sizeof(*method));
		*method = select_traced;
	}
}
