/* SPDX-License-Identifier: GPL-2.0-only */
/* What trees call differently, under one name: by the facts that scripts/probe reads from them. */
#ifndef SIM_KERNEL_TREE_H
#define SIM_KERNEL_TREE_H

#include <linux/mm_types.h>
#include <linux/mm.h>

#ifdef SIM_HAS_CPU_NOT_IDLE_HIDDEN
#define SIM_CPU_BUSY			__CPU_NOT_IDLE
#else
#define SIM_CPU_BUSY			CPU_NOT_IDLE
#endif

#ifdef SIM_HAS_H_NR_QUEUED
#define SIM_CFS_QUEUED(cfs)		((cfs)->h_nr_queued)
#else
#define SIM_CFS_QUEUED(cfs)		((cfs)->h_nr_running)
#endif

#ifdef SIM_HAS_SCHED_DELAYED
#define SIM_IS_DELAYED(p)		((p)->se.sched_delayed)
#else
#define SIM_IS_DELAYED(p)		0
#endif

/* The fair server's part of dl_nr_running that is not in rq->nr_running. */
#ifdef SIM_HAS_SERVER_UNCOUNTED
#define SIM_UNCOUNTED(rq)		(!RB_EMPTY_NODE(&(rq)->fair_server.rb_node))
#else
#define SIM_UNCOUNTED(rq)		0
#endif

#ifdef SIM_HAS_RD_OVERLOADED
#define SIM_RD_OVERLOADED(rd)		((rd)->overloaded)
#else
#define SIM_RD_OVERLOADED(rd)		((rd)->overload)
#endif

#ifdef SIM_HAS_GROUP_SMT_BALANCE
#define SIM_GROUP_TYPES_MORE		{ group_smt_balance, "smt_balance" },
#else
#define SIM_GROUP_TYPES_MORE
#endif

#ifdef SIM_HAS_SOFTIRQ_NO_ARGUMENT
#define SIM_SOFTIRQ(action)		action(void)
#else
#define SIM_SOFTIRQ(action)		action(struct softirq_action *unused)
#endif

/* Whom set_next_ktime() is asked by. */
#ifdef SIM_HAS_CLOCK_EVT_KTIME
#define SIM_CLOCK_EVT_KTIME		CLOCK_EVT_FEAT_KTIME
#else
#define SIM_CLOCK_EVT_KTIME		CLOCK_EVT_FEAT_HRTIMER
#endif

#ifdef SIM_HAS_TIMERS_INIT
#define sim_init_timers()		timers_init()
#else
#define sim_init_timers()		init_timers()
#endif

#ifdef SIM_HAS_SYSCTL_CONST
#define SIM_SYSCTL			const struct ctl_table
#else
#define SIM_SYSCTL			struct ctl_table
#endif

/* What a handler of a sysctl is given. */
#ifdef SIM_HAS_SYSCTL_HANDLER_CONST
#define SIM_SYSCTL_HANDLED		const struct ctl_table
#else
#define SIM_SYSCTL_HANDLED		struct ctl_table
#endif

/* What fork, exec and exit tell cache-aware scheduling. */
#ifndef SIM_HAS_SCHED_CACHE
#define mm_alloc_sched(mm)		0
#define mm_destroy_sched(mm)		do { } while (0)
#define sched_cache_fork(p)		do { } while (0)
#define sched_cache_exec_mmap(p, mm)	do { } while (0)
#define sched_cache_exit_mm(p)		do { } while (0)
#endif

/* Whether arch_cpu_idle() returns with interrupts off. */
#ifdef SIM_HAS_ARCH_IDLE_IRQS_OFF
#define sim_arch_cpu_idle_return()	do { } while (0)
#else
#define sim_arch_cpu_idle_return()	raw_local_irq_enable()
#endif

/* kernel/time/tick-internal.h is private to kernel/time */
#ifdef SIM_HAS_TICK_CPU_DYING
extern int tick_cpu_dying(unsigned int cpu);
#define sim_tick_cpu_dying(cpu)		((void)tick_cpu_dying(cpu))
#else
extern void tick_handover_do_timer(void);
extern void tick_offline_cpu(unsigned int cpu);

static inline void sim_tick_cpu_dying(unsigned int cpu)
{
	tick_handover_do_timer();
	tick_offline_cpu(cpu);
}
#endif

/* Later on tick_cpu_dying() does it. */
#ifdef SIM_HAS_TICK_CLEANUP
extern void tick_cleanup_dead_cpu(int cpu);
#define sim_tick_cleanup_dead(cpu)	tick_cleanup_dead_cpu(cpu)
#else
#define sim_tick_cleanup_dead(cpu)	do { } while (0)
#endif

/*
 * rcuref_get() changes the count at once.  Of what is read of each packet only tclassid lies in
 * its line: ip_rcv_finish_core().  Before, dst_hold_safe() was atomic_inc_not_zero(), which looks
 * first; and in the line of the count lay rt_genid and rt_type, which ipv4_dst_check() and
 * ip_rcv_finish_core() read of each packet.
 */
#ifdef SIM_HAS_RCUREF_ROUTES
#define sim_route_hold(route)		sim_line_change(route)
#else
#define sim_route_hold(route)		sim_line_change_if(route)
#endif
#define sim_route_release(route)	sim_line_change_if(route)

#endif
