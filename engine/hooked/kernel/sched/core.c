// SPDX-License-Identifier: GPL-2.0-only
/* kernel/sched/core.c with a tracepoint at the choice of the next task. */
#define INSTANTIATE_EXPORTED_MIGRATE_DISABLE	/* as core.c itself does before its first header */
#include <trace/events/schedlab.h>
#include "hook.h"

#define PICK_NEXT(name, rq, more...)					\
({									\
	simtime __from = hw.clk;					\
	struct task_struct *__next = (name)(rq, ##more);		\
									\
	hw_function_ran(HW_PICK_NEXT_TASK, __from);			\
	trace_pick_next(rq, __next);					\
	__next;								\
})
#define __pick_next_task(args...)	SHIM_HOOK(PICK_NEXT, __pick_next_task, args)

#include <kernel/sched/core.c>

#if defined(CONFIG_SCHED_MM_CID) && defined(TREE_HAS_MM_CID_USERS)
#include "mm_cid.h"

/* mm_update_cpus_allowed(), of a task that has not had its CPUs changed */
void shim_cid_allow(struct mm_struct *mm, const struct cpumask *cpus)
{
	mm_update_cpus_allowed(mm, cpus);
}
#endif
