// SPDX-License-Identifier: GPL-2.0-only
/* The context switch: from one task's coroutine to another's. */
#include "sim.h"

/* What __switch_to() passes on to the next task in a register. */
static struct task_struct *switched_from;

struct task_struct *sim_switch_to(struct task_struct *prev, struct task_struct *next)
{
	if (unlikely(*(u64 *)prev->thread.stack_base != SIM_STACK_CANARY))
		sim_die("kernel stack overflow", prev->comm, prev->pid);
	sim_charge(sim_costs.schedule);
	sim_context_switch(next, next->thread.sim);
	switched_from = prev;
	sim_co_switch(&prev->thread.sp, next->thread.sp);
	return switched_from;
}

/* First code of every new task. */
void sim_first_switch(void)
{
	schedule_tail(switched_from);
}
