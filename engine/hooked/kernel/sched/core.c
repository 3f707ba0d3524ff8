// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/sched/core.c with tracepoints at the choice of the next task and at changes of affinity,
 * and accounts of switches and wakeups, which are paid for where a task is queued.
 */
#define INSTANTIATE_EXPORTED_MIGRATE_DISABLE	/* as core.c itself does before its first header */
#include <trace/events/schedlab.h>
#include "hook.h"
#include "wakeup.h"

#define PICK_NEXT(name, rq, more...)					\
({									\
	struct rq *shim_rq = (rq);					\
	simtime shim_from = hw.clk;					\
	struct task_struct *shim_next = (name)(shim_rq, ##more);	\
									\
	hw_function_ran(HW_PICK_NEXT_TASK, shim_from);			\
	trace_pick_next(shim_rq, shim_next);				\
	shim_next;							\
})
#define __pick_next_task(args...)	SHIM_HOOK(PICK_NEXT, __pick_next_task, args)

#define SCHEDULE(name, mode, more...)					\
({									\
	enum hw_time shim_before = hw_spend_on(HW_TIME_SCHEDULE);	\
	__auto_type shim_given = SHIM_KEEP((name)(mode, ##more));	\
									\
	hw_spend_on(shim_before);					\
	SHIM_GIVE(shim_given, (name)(mode, ##more));			\
})
#define __schedule(mode, more...) SHIM_CHOOSE(SHIM_DECLARES_##mode)(SCHEDULE, __schedule, mode, ##more)

#define WAKE_UP(name, task, more...)					\
({									\
	enum hw_time shim_before = hw_spend_on(HW_TIME_WAKEUP);		\
	__auto_type shim_woken = (name)(task, ##more);			\
									\
	hw_spend_on(shim_before);					\
	shim_woken;							\
})
#define try_to_wake_up(args...)		SHIM_HOOK(WAKE_UP, try_to_wake_up, args)

/* A woken task is queued: its CPU looks idle to others until that is done. */
#define ACTIVATE(name, queue, task, more...)			\
({									\
	struct rq *shim_rq = (queue);					\
	struct task_struct *shim_task = (task);				\
	int shim_idle = shim_looks_idle(shim_rq);			\
									\
	shim_wakeup_queues(shim_task);					\
	__auto_type shim_given = SHIM_KEEP((name)(shim_rq, shim_task, ##more)); \
	if (shim_idle)							\
		hw_rqs[cpu_of(shim_rq)].seen_idle = hw.clk;		\
	SHIM_GIVE(shim_given, (name)(shim_rq, shim_task, ##more));	\
})
/* The same of a CPU that is sent an interrupt to queue it. */
#define QUEUE_THERE(name, task, cpu, more...)				\
({									\
	struct task_struct *shim_task = (task);				\
	int shim_to = (cpu);						\
	int shim_idle = shim_looks_idle(cpu_rq(shim_to));		\
									\
	shim_wakeup_sends(shim_task, shim_to);				\
	__auto_type shim_given = SHIM_KEEP((name)(shim_task, shim_to, ##more)); \
	if (shim_idle)							\
		hw_rqs[shim_to].seen_idle = hw.clk;			\
	SHIM_GIVE(shim_given, (name)(shim_task, shim_to, ##more));	\
})
#define __ttwu_queue_wakelist(args...)	SHIM_HOOK(QUEUE_THERE, __ttwu_queue_wakelist, args)
#define activate_task(args...)		SHIM_HOOK(ACTIVATE, activate_task, args)

#define ALLOW(name, task, more...)					\
({									\
	struct task_struct *shim_of = (task);				\
	__auto_type shim_given = SHIM_KEEP((name)(shim_of, ##more));	\
									\
	trace_cpus_allowed(shim_of);					\
	SHIM_GIVE(shim_given, (name)(shim_of, ##more));			\
})
#define __do_set_cpus_allowed(args...)	SHIM_HOOK(ALLOW, __do_set_cpus_allowed, args)
#define do_set_cpus_allowed(args...)	SHIM_HOOK(ALLOW, do_set_cpus_allowed, args)

#include <kernel/sched/core.c>

#if defined(CONFIG_SCHED_MM_CID) && defined(TREE_HAS_MM_CID_USERS)
#include "mm_cid.h"

/* mm_update_cpus_allowed(), of a task that has not had its CPUs changed */
void shim_cid_allow(struct mm_struct *mm, const struct cpumask *cpus)
{
	mm_update_cpus_allowed(mm, cpus);
}
#endif
