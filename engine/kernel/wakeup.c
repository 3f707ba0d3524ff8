// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a wakeup costs, and when others see that it was.  The choice of a CPU reads other CPUs' state
 * without their locks; until a task is queued there, those who look find the CPU idle, and several
 * may choose the same one.
 */
#include "shim.h"
#include "wakeup.h"

static struct hw_task *hw_of(struct task_struct *p)
{
	return &p->thread.task->hw;
}

/* Of the lines that a wakeup moves, the first is the one with the task's lock and state. */
static void move_lines(unsigned int nr, int from)
{
	hw_stall((simtime)nr * hw_costs.line[hw_cpu_distance[hw.cpu][from]]);
}

void shim_wakeup_begins(struct task_struct *p)
{
	struct hw_task *task = hw_of(p);

	move_lines(min(hw_costs.wake_lines, 1U), task_cpu(p));
	task->woken_at = task_cpu(p);
	task->woken_by = hw.cpu + 1;
}

/*
 * Whoever queues it pays the rest: the waker, for lines from where the task ran last, or the CPU that
 * the waker has sent an interrupt to, for those that the waker wrote.
 */
void shim_wakeup_pays(struct task_struct *p)
{
	struct hw_task *task = hw_of(p);
	int waker = task->woken_by - 1;

	if (!task->woken_by)
		return;
	hw_charge(hw_costs.wakeup);
	move_lines(max(hw_costs.wake_lines, 1U) - 1, waker == hw.cpu ? task->woken_at : waker);
	task->woken_by = 0;
}

/* 1: who looks at this CPU without its lock sees it idle, and nothing on its way to it. */
int shim_looks_idle(struct rq *rq)
{
	return rq->curr == rq->idle && !rq->nr_running && !rq->ttwu_pending;
}

/* A wakeup that would take this CPU: what the others have done until now counts. */
void shim_wakeup_looks_at(int cpu)
{
	if (hw.clk > hw.next && shim_looks_idle(raw_cpu_rq(cpu)))
		hw_catch_up();
}
