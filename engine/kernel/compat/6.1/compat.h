/* SPDX-License-Identifier: GPL-2.0-only */
/* What 6.1 calls differently; the other series have a file of the same shape. */
#ifndef SIM_COMPAT_H
#define SIM_COMPAT_H

#include <linux/mm_types.h>
#include <linux/mm.h>

/* ../../kernel/time/tick-internal.h is private to kernel/time */
extern void tick_handover_do_timer(void);
extern void tick_offline_cpu(unsigned int cpu);
extern void tick_cleanup_dead_cpu(int cpu);

#define SIM_INIT_TASK_SERIES

static inline void sim_new_task_series(struct task_struct *p)
{
}

static inline void sim_tick_cpu_dying(unsigned int cpu)
{
	tick_handover_do_timer();
	tick_offline_cpu(cpu);
}

/* 6.1 wants interrupts on when arch_cpu_idle() returns. */
#define sim_arch_cpu_idle_return()	raw_local_irq_enable()
#define SIM_CPU_BUSY			CPU_NOT_IDLE
#define SIM_CFS_QUEUED(cfs)		((cfs)->h_nr_running)
#define SIM_IS_DELAYED(p)		0
#define SIM_RD_OVERLOADED(rd)		((rd)->overload)
#define SIM_GROUP_TYPES_SERIES
#define SIM_SOFTIRQ(action)		action(struct softirq_action *unused)

/*
 * dst_hold_safe() is atomic_inc_not_zero(), which looks first.  In the line of the count lie
 * rt_genid and rt_type, which ipv4_dst_check() and ip_rcv_finish_core() read of each packet.
 */
#define sim_route_hold(route)		sim_line_change_if(route)
#define sim_route_release(route)	sim_line_change_if(route)

#endif
