// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the accounts of tasks' time have to know of the kernel's state: queues, idle CPUs, throttled
 * groups.
 */
#include "shim.h"

bool shim_has_limits;

static struct hw_task *hw_of(struct task_struct *p)
{
	return &p->thread.task->hw;
}

static bool throttled(struct task_struct *p, int cpu)
{
	return shim_has_limits && p->sched_class == &fair_sched_class && SHIM_IS_THROTTLED(p, cpu);
}

/*
 * As idle_cpu(), but without a look that costs.  sched_ext counts a task in its last CPU's nr_running
 * while it waits in a queue from which any CPU may take it: that one has no work for it.
 */
static bool has_work(struct rq *rq)
{
#ifdef CONFIG_SCHED_CLASS_EXT
	return rq->nr_running > rq->scx.nr_running || rq->scx.local_dsq.nr || rq->ttwu_pending;
#else
	return rq->nr_running || rq->ttwu_pending;
#endif
}

static void look_idle(struct rq *rq)
{
	bool idles = rq->curr == rq->idle;

	hw_cpu_idles(cpu_of(rq), idles, idles && !has_work(rq) && cpumask_test_cpu(cpu_of(rq), cpu_active_mask));
}

static void look_throttled(struct rq *rq)
{
	struct hw_task *task, *next;
	int cpu = cpu_of(rq);

	for (task = hw_first_waiting(cpu); task; task = next) {
		struct task_struct *p = kern_task_of(task)->kernel;

		next = task->next_waiting;
		/* what is about to end may be preempted once more */
		if (p && throttled(p, cpu) != (task->spends == HW_TIME_THROTTLED))
			hw_task_waits(task, cpu, throttled(p, cpu));
	}
}

/* Its count of tasks changed, or one may be on its way to it. */
void shim_spent_look(struct rq *rq)
{
	look_idle(rq);
	if (unlikely(shim_has_limits))
		look_throttled(rq);
}

void shim_spent_queued(struct task_struct *p, int cpu)
{
	hw_task_may_run_on(hw_of(p), cpumask_bits(p->cpus_ptr), p->nr_cpus_allowed);
	hw_task_waits(hw_of(p), cpu, throttled(p, cpu));
}

/* A waiting task moves to another queue; one that is not queued yet is shim_spent_queued()'s. */
void shim_spent_moved(struct task_struct *p, int cpu)
{
	if (hw_of(p)->waits_on)
		shim_spent_queued(p, cpu);
}

void shim_spent_switch(struct task_struct *prev, bool queued, struct task_struct *next)
{
	struct rq *rq = raw_cpu_rq(hw.cpu);

	if (!is_idle_task(prev)) {
		hw_task_stops(hw_of(prev), READ_ONCE(prev->__state) == TASK_DEAD);
		if (queued)
			shim_spent_queued(prev, cpu_of(rq));
	}
	if (!is_idle_task(next))
		hw_task_runs(hw_of(next));
	look_idle(rq);
}
