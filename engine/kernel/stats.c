// SPDX-License-Identifier: GPL-2.0-only
/* The kernel's own counters, summed up for the results. */
#include <linux/cpuidle.h>
#include "shim.h"

struct kern_newidle kern_newidle;

/* Takes the kernel's own figures over into the engine's side of the task. */
void kern_collect(struct kern_task *task)
{
	struct task_struct *p = task->kernel;

	if (!p)
		return;
	task->runtime = p->se.sum_exec_runtime;
	/* update_curr() has not yet seen what a running task did since the last tick */
	if (p->on_cpu && hw.clk > SHIM_CHARGED(p)->se.exec_start)
		task->runtime += hw.clk - SHIM_CHARGED(p)->se.exec_start;
}

int kern_waits_for(const struct kern_task *task)
{
	const struct task_struct *p = task->kernel;

	if (!p || !p->on_rq || p->on_cpu || SHIM_IS_DELAYED(p) || SHIM_IS_DONOR(p))
		return -1;
	return task_cpu(p);
}

static struct kern_balance *find_balance(struct kern_balance *stats, const char *name)
{
	while (stats->name[0] && strcmp(stats->name, name))
		stats++;
	if (!stats->name[0])
		strscpy(stats->name, name, sizeof(stats->name));
	return stats;
}

/* The kernel counts its balance passes only with schedstats on. */
int kern_counts_balance(void)
{
	return schedstat_enabled();
}

/* By name: a machine may have several NUMA levels, and CPUs with different domains. */
void kern_balance_stats(struct kern_balance stats[KERN_MAX_DOMAINS])
{
	static const int types[3] = { SHIM_CPU_BUSY, CPU_IDLE, CPU_NEWLY_IDLE };
	int cpu, i;

	memset(stats, 0, KERN_MAX_DOMAINS * sizeof(*stats));
	for (cpu = 0; cpu < hw_nr_cpus; cpu++) {
		struct sched_domain *sd;

		for (sd = raw_cpu_rq(cpu)->sd; sd; sd = sd->parent) {
			struct kern_balance *s = find_balance(stats, sd->name);

			for (i = 0; i < 3; i++) {
				s->calls[i] += sd->lb_count[types[i]];
				s->pulls[i] += sd->lb_gained[types[i]];
			}
		}
	}
}

void kern_idle_stats(int cpu, int state, struct kern_idle *stats)
{
	const struct cpuidle_device *dev = *raw_per_cpu_ptr(&cpuidle_devices, cpu);
	const struct cpuidle_state_usage *usage;

	*stats = (struct kern_idle) { };
	if (!dev)
		return;
	usage = &dev->states_usage[state];
	stats->usage = usage->usage;
	stats->time_ns = usage->time_ns;
	stats->above = usage->above;
	stats->below = usage->below;
	stats->rejected = usage->rejected;
}
