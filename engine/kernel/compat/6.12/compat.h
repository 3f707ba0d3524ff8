/* SPDX-License-Identifier: GPL-2.0-only */
/* What 6.12 calls differently; the other series have a file of the same shape. */
#ifndef SIM_COMPAT_H
#define SIM_COMPAT_H

#include <linux/mm_types.h>
#include <linux/mm.h>

/* ../../kernel/time/tick-internal.h is private to kernel/time */
extern int tick_cpu_dying(unsigned int cpu);
extern void tick_cleanup_dead_cpu(int cpu);

#define SIM_INIT_TASK_SERIES						\
	.max_allowed_capacity = SCHED_CAPACITY_SCALE,

static inline void sim_new_task_series(struct task_struct *p)
{
	p->dl_server = NULL;
}

static inline void sim_tick_cpu_dying(unsigned int cpu)
{
	tick_cpu_dying(cpu);
}

#define sim_arch_cpu_idle_return()	do { } while (0)
#define SIM_CPU_BUSY			__CPU_NOT_IDLE
#define SIM_CFS_QUEUED(cfs)		((cfs)->h_nr_queued)
#define SIM_IS_DELAYED(p)		((p)->se.sched_delayed)
#define SIM_RD_OVERLOADED(rd)		((rd)->overloaded)
#define SIM_GROUP_TYPES_SERIES		{ group_smt_balance, "smt_balance" },
#define SIM_SOFTIRQ(action)		action(void)

/*
 * rcuref_get() changes the count at once.  Of what is read of each packet only tclassid lies in
 * its line: ip_rcv_finish_core().
 */
#define sim_route_hold(route)		sim_line_change(route)
#define sim_route_release(route)	sim_line_change_if(route)

#endif
