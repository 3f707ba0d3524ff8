// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a task runs: the CPU's own speed x frequency x what busy SMT siblings
 * leave x the share of memory bandwidth it gets.  All in 1/65536, all integer.
 */
#include "sim.h"

static unsigned int memory_users[SIM_MAX_NODES];	/* sum of memory_share of running tasks */

static unsigned int smt_share(int cpu)
{
	unsigned int busy = 0, low, high;

	if (!sim_mechanisms.smt || !machine.nr_siblings[cpu])
		return 65536;
	for (int i = 0; i < machine.nr_siblings[cpu]; i++) {
		enum cpu_state s = cpus[machine.siblings[cpu][i]].state;

		if (s == CPU_USER || s == CPU_KERNEL)
			busy += 1024;
		else if (s == CPU_POLL)
			busy += machine.smt_polling;
	}
	low = machine.smt_speed[busy / 1024];
	if (busy % 1024 == 0)
		return low;
	high = machine.smt_speed[busy / 1024 + 1];
	return low - (low - high) * (uint64_t)(busy % 1024) / 1024;
}

static unsigned int core_speed(int cpu, unsigned int speed)
{
	speed = (uint64_t)speed * sim_cpu_topo[cpu].freq_scale / 1024;
	return (uint64_t)speed * cpus[cpu].share / 65536;
}

/* Memory traffic beyond what a node delivers stretches the memory part of the work. */
static unsigned int memory_stretch(const struct sim_task *task, int cpu)
{
	int node = task->mem_node >= 0 ? task->mem_node : sim_cpu_topo[cpu].node;
	uint64_t wanted, limit = machine.bandwidth_mbs[node], stretch = 65536;

	if (!task->memory_share || !sim_mechanisms.bandwidth || !limit)
		return 65536;
	wanted = (uint64_t)memory_users[node] * machine.thread_bandwidth_mbs / 1024;
	if (wanted > limit)
		stretch = wanted * 65536 / limit;
	if (node != sim_cpu_topo[cpu].node)
		stretch = stretch * sim_node_distance(sim_cpu_topo[cpu].node, node) / 10;
	/* only the memory part of the work is stretched */
	stretch = (stretch * task->memory_share + 65536ULL * (1024 - task->memory_share)) / 1024;
	return stretch;
}

unsigned int speed_of(const struct cpu *c, const struct sim_task *task)
{
	unsigned int speed = machine.cpu_speed[c->id];
	uint64_t rate;

	if (task->slow_ratio && speed < 65536)
		speed = task->slow_ratio;
	rate = core_speed(c->id, speed);
	rate = rate * 65536 / memory_stretch(task, c->id);
	return rate ? rate : 1;
}

/* Its siblings or its frequency changed. */
void speed_cpu_changed(int cpu)
{
	unsigned int rate;

	cpus[cpu].share = smt_share(cpu);
	rate = core_speed(cpu, machine.cpu_speed[cpu]);
	cpus[cpu].slowdown = 1024ULL * 65536 / (rate ? rate : 1);
	cpu_update_rate(cpu);
}

void speed_siblings_changed(int cpu)
{
	for (int i = 0; i < machine.nr_siblings[cpu]; i++)
		speed_cpu_changed(machine.siblings[cpu][i]);
}

static void memory_changed(const struct cpu *c, int change)
{
	int node = c->task->mem_node >= 0 ? c->task->mem_node : sim_cpu_topo[c->id].node;

	memory_users[node] += change * (int)c->task->memory_share;
	for (int i = 0; i < sim_nr_cpus; i++)
		if (cpus[i].state == CPU_USER && cpus[i].task->memory_share && &cpus[i] != c)
			cpu_update_rate(i);
}

void speed_task_starts(struct cpu *c)
{
	if (c->task->memory_share)
		memory_changed(c, 1);
}

void speed_task_stops(struct cpu *c)
{
	if (c->task->memory_share)
		memory_changed(c, -1);
}

void sim_set_frequency(int domain, unsigned int khz)
{
	const struct sim_freq_domain *d = &sim_freq_domains[domain];
	unsigned int top = d->opp[d->nr_opps - 1].khz;

	for (int cpu = 0; cpu < sim_nr_cpus; cpu++) {
		if (sim_cpu_topo[cpu].domain != domain)
			continue;
		sim_cpu_topo[cpu].freq_scale = (uint64_t)khz * 1024 / top;
		speed_cpu_changed(cpu);
	}
}
