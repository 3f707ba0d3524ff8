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

static void fetch_one(struct hw_task *task, int from)
{
	if (!task->wake_lines)
		return;
	task->wake_lines--;
	hw_stall(hw_costs.line[hw_cpu_distance[hw.cpu][from]]);
}

/* The waker's part, before it looks for a CPU; the first line is the one with the task's lock and state. */
void shim_wakeup_begins(struct task_struct *p)
{
	struct hw_task *task = hw_of(p);

	hw_charge(hw_costs.wakeup - min(hw_costs.wakeup, hw_costs.wakeup_queue));
	task->woken_by = hw.cpu + 1;
	task->woken_at = task_cpu(p);
	task->wake_lines = hw_costs.wake_lines;
	fetch_one(task, task->woken_at);
}

/* The waker leaves the task to another CPU, on that one's list. */
void shim_wakeup_sends(struct task_struct *p, int to)
{
	fetch_one(hw_of(p), to);
}

/*
 * The rest, paid by whoever queues the task: the waker, with lines from where the task ran last, or
 * the CPU that the waker has left it to, with those that the waker wrote.
 */
void shim_wakeup_queues(struct task_struct *p)
{
	struct hw_task *task = hw_of(p);
	int waker = task->woken_by - 1;

	if (!task->woken_by)
		return;
	hw_charge(min(hw_costs.wakeup, hw_costs.wakeup_queue));
	while (task->wake_lines)
		fetch_one(task, waker == hw.cpu ? task->woken_at : waker);
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
