// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own counters, summed up for the results. */
#include <linux/cpuidle.h>
#include "sim.h"

/* Takes the kernel's own figures over into the engine's side of the task. */
void kern_collect(struct sim_task *task)
{
	struct task_struct *p = task->kernel;

	if (!p)
		return;
	task->runtime = p->se.sum_exec_runtime;
	if (p->flags & PF_EXITING)
		task->kernel = NULL;
}

int kern_balance_stats(int level, struct kern_balance *stats)
{
	static const int types[3] = { SIM_CPU_BUSY, CPU_IDLE, CPU_NEWLY_IDLE };
	int cpu, i, found = 0;

	*stats = (struct kern_balance) { };
	for (cpu = 0; cpu < sim_nr_cpus; cpu++) {
		struct sched_domain *sd = raw_cpu_rq(cpu)->sd;
		int l;

		for (l = 0; sd && l < level; l++)
			sd = sd->parent;
		if (!sd)
			continue;
		found = 1;
		strscpy(stats->name, sd->name, sizeof(stats->name));
		for (i = 0; i < 3; i++) {
			stats->calls[i] += sd->lb_count[types[i]];
			stats->pulls[i] += sd->lb_gained[types[i]];
		}
	}
	return found;
}

void kern_idle_stats(int state, struct kern_idle *stats)
{
	int cpu;

	*stats = (struct kern_idle) { };
	for (cpu = 0; cpu < sim_nr_cpus; cpu++) {
		struct cpuidle_device *dev = *raw_per_cpu_ptr(&cpuidle_devices, cpu);

		if (!dev)
			continue;
		stats->usage += dev->states_usage[state].usage;
		stats->time_ns += dev->states_usage[state].time_ns;
		stats->too_deep += dev->states_usage[state].above;
		stats->too_shallow += dev->states_usage[state].below;
	}
}
