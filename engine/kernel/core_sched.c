// SPDX-License-Identifier: GPL-2.0-only
/*
 * Core scheduling: cookies of tasks, as prctl(PR_SCHED_CORE) sets them, and what is watched
 * meanwhile: that nobody goes on in user mode beside a sibling's task of another cookie, unless one
 * of the two has been asked to stop.
 */
#include <linux/kernel_stat.h>
#include "shim.h"

struct kern_core_sched kern_core_stats;
static simtime mixed_since[NR_CPUS];		/* by core; 0: not */

unsigned long kern_core_cookie(void)
{
	hw.core_sched = 1;
	return shim_core_cookie();
}

void kern_core_sched(unsigned long cookie)
{
	hw.core_sched = 1;
	shim_syscall_enter(HW_TIME_OTHER);
	shim_core_sched(cookie);
	shim_syscall_exit();
}

/* One lock guards the runqueues of a core's siblings: its holder may write to all of them. */
void shim_core_write(unsigned int cpu)
{
	unsigned int other;

	if (!raw_cpu_rq(cpu)->core_enabled)
		return;
	for_each_cpu(other, topology_sibling_cpumask(cpu))
		if (other != cpu)
			hw_rq_write(other);
}

/* The task of another cookie that a sibling runs. */
static struct task_struct *other_cookie_than(const struct task_struct *p)
{
	unsigned int cpu;

	for_each_cpu(cpu, topology_sibling_cpumask(hw.cpu)) {
		struct rq *rq = raw_cpu_rq(cpu);

		if (cpu != hw.cpu && rq->core_enabled && rq->curr != rq->idle &&
		    rq->curr->core_cookie != p->core_cookie)
			return rq->curr;
	}
	return NULL;
}

/*
 * This CPU is about to run another task.  What is counted has the time until the interrupt reaches
 * the sibling, and until its task leaves the kernel, where it is in it.
 */
void shim_core_switched(struct task_struct *next)
{
	simtime *since = &mixed_since[hw_cpu_topo[hw.cpu].core];
	bool mixed = next != raw_cpu_rq(hw.cpu)->idle && other_cookie_than(next);

	if (*since && !mixed) {
		simtime took = hw.clk > *since ? hw.clk - *since : 0;

		kern_core_stats.mixed_ns += took;
		kern_core_stats.longest_ns = max(kern_core_stats.longest_ns, took);
		*since = 0;
	} else if (mixed && !*since) {
		*since = hw.clk;
	}
}

void shim_core_enters_user(void)
{
	struct task_struct *other = other_cookie_than(current);

	if (other && !test_tsk_need_resched(other) && !test_tsk_need_resched(current))
		hw_die_about("siblings run tasks of different core scheduling cookies", hw.cpu, other->comm, NULL);
}

/* What the kernel has accounted since boot (schedstats are on). */
simtime kern_forced_idle(void)
{
	simtime sum = 0;
	int cpu;

	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		sum += raw_per_cpu_ptr(&kernel_cpustat, cpu)->cpustat[CPUTIME_FORCEIDLE];
	return sum;
}
