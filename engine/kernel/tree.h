/* SPDX-License-Identifier: GPL-2.0-only */
/* What trees call differently, under one name: by the facts that scripts/probe reads from them. */
#ifndef SHIM_KERNEL_TREE_H
#define SHIM_KERNEL_TREE_H

#include <linux/mm_types.h>
#include <linux/mm.h>

#ifdef TREE_HAS_CPU_NOT_IDLE_HIDDEN
#define SHIM_CPU_BUSY			__CPU_NOT_IDLE
#else
#define SHIM_CPU_BUSY			CPU_NOT_IDLE
#endif

#ifdef TREE_HAS_H_NR_QUEUED
#define SHIM_CFS_QUEUED(cfs)		((cfs)->h_nr_queued)
#else
#define SHIM_CFS_QUEUED(cfs)		((cfs)->h_nr_running)
#endif

#ifdef TREE_HAS_SCHED_DELAYED
#define SHIM_IS_DELAYED(p)		((p)->se.sched_delayed)
#else
#define SHIM_IS_DELAYED(p)		0
#endif

/*
 * In the queue so that the owner of a mutex runs in its place, and in whose place a running task
 * runs.
 */
#ifdef CONFIG_SCHED_PROXY_EXEC
#define SHIM_IS_DONOR(p)		((p)->blocked_on != NULL)
#define SHIM_CHARGED(p)			(raw_cpu_rq(task_cpu(p))->donor)
#else
#define SHIM_IS_DONOR(p)		0
#define SHIM_CHARGED(p)			(p)
#endif

/* Held back by cpu.max: each task by itself, or with its group's queue. */
#ifndef CONFIG_CFS_BANDWIDTH
#define SHIM_IS_THROTTLED(p, cpu)	0
#elif defined(TREE_HAS_TASK_THROTTLED)
#define SHIM_IS_THROTTLED(p, cpu)	((p)->throttled)
#else
#define SHIM_IS_THROTTLED(p, cpu)	(task_group(p)->cfs_rq[cpu]->throttle_count)
#endif

#ifdef CONFIG_SCHED_CLASS_EXT
#define SHIM_EXT_QUEUED(rq)		((rq)->scx.nr_running)
#else
#define SHIM_EXT_QUEUED(rq)		0
#endif

/* The servers' part of dl_nr_running that is not in rq->nr_running. */
#ifdef TREE_HAS_SERVER_UNCOUNTED
#if defined(CONFIG_SCHED_CLASS_EXT) && defined(TREE_HAS_EXT_SERVER)
#define SHIM_EXT_UNCOUNTED(rq)		(!RB_EMPTY_NODE(&(rq)->ext_server.rb_node))
#else
#define SHIM_EXT_UNCOUNTED(rq)		0
#endif
#define SHIM_UNCOUNTED(rq)		(!RB_EMPTY_NODE(&(rq)->fair_server.rb_node) + SHIM_EXT_UNCOUNTED(rq))
#else
#define SHIM_UNCOUNTED(rq)		0
#endif

#ifdef TREE_HAS_RD_OVERLOADED
#define SHIM_RD_OVERLOADED(rd)		((rd)->overloaded)
#else
#define SHIM_RD_OVERLOADED(rd)		((rd)->overload)
#endif

#ifdef TREE_HAS_SCHED_CACHE
#define SHIM_GROUP_TYPES_CACHE		{ group_llc_balance, "llc_balance" },
#define SHIM_MIGRATION_TYPES_MORE	{ migrate_llc_task, "llc_task" },
#else
#define SHIM_GROUP_TYPES_CACHE
#define SHIM_MIGRATION_TYPES_MORE
#endif

#ifdef TREE_HAS_GROUP_SMT_BALANCE
#define SHIM_GROUP_TYPES_MORE		{ group_smt_balance, "smt_balance" }, SHIM_GROUP_TYPES_CACHE
#else
#define SHIM_GROUP_TYPES_MORE		SHIM_GROUP_TYPES_CACHE
#endif

#ifdef TREE_HAS_SOFTIRQ_NO_ARGUMENT
#define SHIM_SOFTIRQ(action)		action(void)
#else
#define SHIM_SOFTIRQ(action)		action(struct softirq_action *unused)
#endif

/* Whom set_next_ktime() is asked by. */
#ifdef TREE_HAS_CLOCK_EVT_KTIME
#define SHIM_CLOCK_EVT_KTIME		CLOCK_EVT_FEAT_KTIME
#else
#define SHIM_CLOCK_EVT_KTIME		CLOCK_EVT_FEAT_HRTIMER
#endif

#ifdef TREE_HAS_TIMERS_INIT
#define shim_init_timers()		timers_init()
#else
#define shim_init_timers()		init_timers()
#endif

#ifdef TREE_HAS_SYSCTL_CONST
#define SHIM_SYSCTL			const struct ctl_table
#else
#define SHIM_SYSCTL			struct ctl_table
#endif

/* What a handler of a sysctl is given. */
#ifdef TREE_HAS_SYSCTL_HANDLER_CONST
#define SHIM_SYSCTL_HANDLED		const struct ctl_table
#else
#define SHIM_SYSCTL_HANDLED		struct ctl_table
#endif

/* What fork, exec and exit tell cache-aware scheduling. */
#ifndef TREE_HAS_SCHED_CACHE
#define mm_alloc_sched(mm)		0
#define mm_destroy_sched(mm)		do { } while (0)
#define sched_cache_fork(p)		do { } while (0)
#define sched_cache_exec_mmap(p, mm)	do { } while (0)
#define sched_cache_exit_mm(p)		do { } while (0)
#endif

/* Whether arch_cpu_idle() returns with interrupts off. */
#ifdef TREE_HAS_ARCH_IDLE_IRQS_OFF
#define shim_arch_cpu_idle_return()	do { } while (0)
#else
#define shim_arch_cpu_idle_return()	raw_local_irq_enable()
#endif

/* kernel/time/tick-internal.h is private to kernel/time */
#ifdef TREE_HAS_TICK_CPU_DYING
extern int tick_cpu_dying(unsigned int cpu);
#define shim_tick_cpu_dying(cpu)		((void)tick_cpu_dying(cpu))
#else
extern void tick_handover_do_timer(void);
extern void tick_offline_cpu(unsigned int cpu);

static inline void shim_tick_cpu_dying(unsigned int cpu)
{
	tick_handover_do_timer();
	tick_offline_cpu(cpu);
}
#endif

/* Later on tick_cpu_dying() does it. */
#ifdef TREE_HAS_TICK_CLEANUP
extern void tick_cleanup_dead_cpu(int cpu);
#define shim_tick_cleanup_dead(cpu)	tick_cleanup_dead_cpu(cpu)
#else
#define shim_tick_cleanup_dead(cpu)	do { } while (0)
#endif

/*
 * rcuref_get() changes the count at once.  Of what is read of each packet only tclassid lies in
 * its line: ip_rcv_finish_core().  Before, dst_hold_safe() was atomic_inc_not_zero(), which looks
 * first; and in the line of the count lay rt_genid and rt_type, which ipv4_dst_check() and
 * ip_rcv_finish_core() read of each packet.
 */
#ifdef TREE_HAS_RCUREF_ROUTES
#define shim_route_hold(route)		hw_line_change(route)
#else
#define shim_route_hold(route)		hw_line_change_if(route)
#endif
#define shim_route_release(route)	hw_line_change_if(route)

#endif
