// SPDX-License-Identifier: GPL-2.0-only
/* The context switch: from one task's coroutine to another's. */
#include "shim.h"
#include "mm_cid.h"

/* What __switch_to() passes on to the next task in a register. */
static struct task_struct *switched_from;

void shim_check_stack(const struct task_struct *p)
{
	if (unlikely(*(u64 *)p->thread.stack_base != HW_STACK_CANARY))
		hw_die("kernel stack overflow", p->comm, p->pid);
}

/* A look at the far end of a stack misses the host's cache; what overflowed it stays to be seen. */
#define SWITCHES_PER_CHECK	17

struct task_struct *shim_switch_to(struct task_struct *prev, struct task_struct *next)
{
	static unsigned int switches;

	if (++switches % SWITCHES_PER_CHECK == 0)
		shim_check_stack(prev);
	hw_charge(hw_costs.schedule);
	if (unlikely(hw.core_sched))
		shim_core_switched(next);
	shim_cid_switched(next);
	if (prev->thread.last_cpu == hw.cpu && !prev->thread.was_away)
		hw_leave_caches(&prev->thread.task->hw);
	prev->thread.was_away = true;
	hw_context_switch(next, &next->thread.task->hw);
	switched_from = prev;
	hw_switch_context(&prev->thread.sp, &next->thread.sp);
	return switched_from;
}

/* First code of every new task. */
void shim_first_switch(void)
{
	schedule_tail(switched_from);
}
