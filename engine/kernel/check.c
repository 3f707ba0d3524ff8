// SPDX-License-Identifier: GPL-2.0-only
/* Invariants, checked all the time: what no correct scheduler may do. */
#include "shim.h"

/*
 * sched_feat() looks at a bit of it: a feature without one is off, whatever its default, and stays
 * off.
 */
static_assert(__SCHED_FEAT_NR <= BITS_PER_BYTE * sizeof(sysctl_sched_features),
	      "more sched features than sysctl_sched_features has bits; those behind the last bit could not be on. "
	      "Leave patches out, or add one that makes it a u64, as ILB_UTIL does.");

static void fail(const char *what, struct task_struct *p, int cpu)
{
	char text[160];

	if (p)
		snprintf(text, sizeof(text), "%s: task %s/%d on CPU %d, state %x, on_rq %d", what,
			 p->comm, p->pid, task_cpu(p), READ_ONCE(p->__state), p->on_rq);
	else
		snprintf(text, sizeof(text), "%s on CPU %d", what, cpu);
	/* the stack of a task that runs is its CPU's */
	hw_die_about(text, cpu, p ? p->comm : NULL, p && !p->on_cpu ? p->thread.sp : NULL);
}

static void check_rq(int cpu)
{
	struct rq *rq = raw_cpu_rq(cpu);
	unsigned int sum;

	if (raw_spin_is_locked(__rq_lockp(rq)))	/* waits for something with its lock held */
		return;
	/* a throttled real-time queue keeps its own count, and the CPU's is without it */
	sum = SHIM_CFS_QUEUED(&rq->cfs) + (rq->rt.rt_queued ? rq->rt.rt_nr_running : 0) + rq->dl.dl_nr_running -
	      SHIM_UNCOUNTED(rq) + SHIM_EXT_QUEUED(rq) + (rq->stop && rq->stop->on_rq == TASK_ON_RQ_QUEUED);
	if (rq->nr_running != sum)
		fail("nr_running is not the sum of its classes", NULL, cpu);
	if (rq->curr != rq->idle && rq->curr->on_cpu == 0)
		fail("the running task is not marked running", rq->curr, cpu);
	if (!cpu_online(cpu) && rq->nr_running)
		fail("tasks are left on an off-line CPU", NULL, cpu);
}

#ifdef CONFIG_SCHED_CORE
/*
 * With core scheduling a task also waits for what its siblings run, by weights that no one queue
 * has.
 */
static bool waits_for_siblings(struct rq *rq)
{
	int cpu;

	if (!rq->core_enabled)
		return false;
	for_each_cpu(cpu, cpu_smt_mask(cpu_of(rq)))
		if (cpu != cpu_of(rq) && raw_cpu_rq(cpu)->nr_running)
			return true;
	return false;
}
#else
static bool waits_for_siblings(struct rq *rq)
{
	return false;
}
#endif

/* Nobody can hold it off: every queue above it runs, and no higher class is there. */
static bool may_run(struct task_struct *p, struct rq *rq)
{
	struct sched_entity *se __maybe_unused;

	if (rq->rt.rt_nr_running || rq->dl.dl_nr_running || waits_for_siblings(rq))
		return false;
#ifdef CONFIG_CFS_BANDWIDTH
	for (se = &p->se; se; se = se->parent)
		if (cfs_rq_of(se)->throttle_count || cfs_rq_of(se)->throttled)
			return false;
#endif
	return true;
}

/*
 * How long a fair task may wait: its share of each level's weight decides how
 * often it gets a slice; far beyond that it is starved.
 */
#ifdef TREE_HAS_FLAT_TREE
/* All tasks queue in the root's tree, each with the product of its levels' shares as its weight. */
static u64 patience(struct task_struct *p)
{
	const struct cfs_rq *root = &raw_cpu_rq(task_cpu(p))->cfs;
	u64 total = root->sum_weight << root->sum_shift, own = max(p->se.h_load.weight, 1UL);

	if (root->curr)
		total += root->curr->h_load.weight;
	return NSEC_PER_SEC + clamp_t(u64, total / own + 1, 1, 1000000) * 32 * TICK_NSEC;
}
#else
static u64 patience(struct task_struct *p)
{
	struct sched_entity *se;
	u64 factor = 1;

	for (se = &p->se; se; se = se->parent) {
		u64 total = cfs_rq_of(se)->load.weight, own = max(se->load.weight, 1UL);

		factor *= clamp_t(u64, total / own + 1, 1, 100000);
		if (factor > 1000000)
			break;
	}
	return NSEC_PER_SEC + factor * 32 * TICK_NSEC;
}
#endif

static void check_task(struct kern_task *task)
{
	struct task_struct *p = task->kernel;
	unsigned int state = READ_ONCE(p->__state);
	struct rq *rq = raw_cpu_rq(task_cpu(p));

	if (raw_spin_is_locked(&p->pi_lock))	/* somebody is about to queue it */
		return;
	if (state == TASK_RUNNING && !p->on_rq && !p->on_cpu)
		fail("a runnable task is on no queue", p, task_cpu(p));
	if (!task->ready_at || p->on_cpu || hw.clk < task->ready_at)
		return;
	if (state == TASK_WAKING && hw.clk - task->ready_at > NSEC_PER_SEC / 10)
		fail("a wakeup got lost on its way", p, task_cpu(p));
	if (state != TASK_RUNNING || p->sched_class != &fair_sched_class || SHIM_IS_DELAYED(p))
		return;
	if (may_run(p, rq) && hw.clk - task->ready_at > patience(p))
		fail("a runnable task is starved", p, task_cpu(p));
}

void kern_check(void)
{
	struct hw_task *task;
	int cpu;

	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		check_rq(cpu);
	for (task = hw_first_task; task; task = task->next)
		if (kern_task_of(task)->kernel)
			check_task(kern_task_of(task));
}
