// SPDX-License-Identifier: GPL-2.0-only
/*
 * How fast a task runs: the CPU's own speed x frequency x what busy SMT siblings
 * leave x the share of memory bandwidth it gets.  All in 1/65536, all integer.
 */
#include "inside.h"
#include "json.h"

static unsigned int smt_speed[8] = { [0 ... 7] = 65536 }; /* by busy siblings, 65536 = alone */
static unsigned int smt_polling;	/* a polling sibling counts as this much of a busy one */
static unsigned int node_mbs;		/* of each node; 0: no limit */
static unsigned int traffic[HW_MAX_NODES];	/* MB/s that running tasks want of it */

void speed_read_smt(json_t *obj)
{
	const struct path *at = AT(NULL, "smt");
	json_t *list, *v;
	size_t i;

	json_only(obj, at, "speed", "polling", NULL);
	list = json_need(obj, at, "speed");
	if (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > 8)
		json_error_at(AT(at, "speed"), "the speed of a thread with 0, 1, ... busy siblings is expected");
	for (i = 0; i < 8; i++) {
		v = json_array_get(list, i < json_array_size(list) ? i : json_array_size(list) - 1);
		smt_speed[i] = json_num(v, AT_INDEX(AT(at, "speed"), i), 0.01, 1) * 65536;
	}
	smt_polling = json_num(json_need(obj, at, "polling"), AT(at, "polling"), 0, 1) * 1024;
}

void speed_read_memory(json_t *obj)
{
	const struct path *at = AT(NULL, "memory");

	json_only(obj, at, "node_bandwidth", "thread_bandwidth", "cache_bandwidth", NULL);
	node_mbs = json_mbs(json_need(obj, at, "node_bandwidth"), AT(at, "node_bandwidth"));
	hw_machine.thread_bandwidth_mbs = json_mbs(json_need(obj, at, "thread_bandwidth"), AT(at, "thread_bandwidth"));
	hw_machine.cache_bandwidth_mbs = json_mbs(json_need(obj, at, "cache_bandwidth"), AT(at, "cache_bandwidth"));
}

static unsigned int smt_share(int cpu)
{
	unsigned int busy = 0, low, high;

	if (!hw_mechanisms.smt || !machine.nr_siblings[cpu])
		return 65536;
	for (int i = 0; i < machine.nr_siblings[cpu]; i++) {
		enum cpu_state s = cpus[machine.siblings[cpu][i]].state;

		if (s == CPU_USER || s == CPU_KERNEL)
			busy += 1024;
		else if (s == CPU_POLL)
			busy += smt_polling;
	}
	low = smt_speed[busy / 1024];
	if (busy % 1024 == 0)
		return low;
	high = smt_speed[busy / 1024 + 1];
	return low - (low - high) * (uint64_t)(busy % 1024) / 1024;
}

unsigned int hw_cpu_speed(int cpu)
{
	return machine.cpu_speed[cpu] / 64;
}

static unsigned int at_frequency(int cpu, unsigned int speed)
{
	return (uint64_t)speed * machine.frequency[cpu] / 1024;
}

static unsigned int beside_siblings(int cpu, unsigned int speed)
{
	return (uint64_t)speed * cpus[cpu].share / 65536;
}

/* Without waiting for memory. */
static struct pace plain_speed(const struct cpu *c, const struct hw_task *task)
{
	struct pace pace = { .capacity = machine.cpu_speed[c->id] };

	if (task->slow_ratio && pace.capacity < 65536)
		pace.capacity = task->slow_ratio;
	pace.frequency = at_frequency(c->id, pace.capacity);
	pace.sibling = beside_siblings(c->id, pace.frequency);
	return pace;
}

static int memory_node(const struct hw_task *task, int cpu)
{
	return task->mem_node >= 0 ? task->mem_node : hw_cpu_topo[cpu].node;
}

static unsigned int distance(int cpu, int node)
{
	return hw_node_distance(hw_cpu_topo[cpu].node, node);
}

/* How much longer a node's memory takes, seen from this CPU, when so much bandwidth is wanted. */
static uint64_t memory_stretch(int cpu, int node, unsigned int wanted)
{
	uint64_t limit = node_mbs, stretch = 65536;

	if (!hw_mechanisms.bandwidth || !limit)
		return stretch;
	if (wanted > limit)
		stretch = wanted * 65536ULL / limit;
	return stretch * distance(cpu, node) / 10;
}

struct pace speed_of(const struct cpu *c, const struct hw_task *task)
{
	struct pace pace = plain_speed(c, task);
	uint64_t rate = pace.sibling, stretch;

	if (task->memory_share) {
		int node = memory_node(task, c->id);

		stretch = memory_stretch(c->id, node, traffic[node]) * task->memory_share;
		/* only the memory part of the work is stretched */
		rate = rate * 65536 * 1024 / (stretch + 65536ULL * (1024 - task->memory_share));
	}
	pace.all = rate ? rate : 1;
	return pace;
}

/*
 * Clearing new pages is done in the kernel: slowed down by the others' traffic, itself not part of
 * it.
 */
simtime hw_clear_time(int node, unsigned long bytes)
{
	unsigned int mbs = hw_machine.thread_bandwidth_mbs;

	return bytes * 1000 / mbs * memory_stretch(hw.cpu, node, traffic[node] + mbs) / 65536;
}

/* Sets the bandwidth that the running task wants of its memory; none where none runs. */
static void set_traffic(struct cpu *c, int running)
{
	const struct hw_task *task = c->task;
	uint64_t wanted = 0;
	int node = c->traffic_node;

	if (running && task->memory_share) {
		node = memory_node(task, c->id);
		wanted = (uint64_t)hw_machine.thread_bandwidth_mbs * task->memory_share / 1024;
		wanted = wanted * plain_speed(c, task).sibling / 65536 * 10 / distance(c->id, node);
	}
	if (wanted == c->traffic)
		return;
	traffic[node] += wanted - c->traffic;
	c->traffic = wanted;
	c->traffic_node = node;
	for (int i = 0; i < hw_nr_cpus; i++)
		if (cpus[i].traffic && cpus[i].traffic_node == node && &cpus[i] != c)
			cpu_update_rate(i);
}

void speed_task_starts(struct cpu *c)
{
	boost_look(c->id);
	set_traffic(c, 1);
}

void speed_task_stops(struct cpu *c)
{
	set_traffic(c, 0);
}

/* Its siblings or its frequency changed. */
void speed_cpu_changed(int cpu)
{
	unsigned int rate;

	cpus[cpu].share = smt_share(cpu);
	rate = beside_siblings(cpu, at_frequency(cpu, machine.cpu_speed[cpu]));
	cpus[cpu].slowdown = 1024ULL * 65536 / (rate ? rate : 1);
	if (cpus[cpu].traffic)
		set_traffic(&cpus[cpu], 1);
	cpu_update_rate(cpu);
}

void speed_siblings_changed(int cpu)
{
	boost_thread(cpu);
	for (int i = 0; i < machine.nr_siblings[cpu]; i++)
		speed_cpu_changed(machine.siblings[cpu][i]);
}

void hw_set_frequency(int domain, unsigned int khz)
{
	struct hw_freq_domain *d = &hw_freq_domains[domain];
	unsigned int top = d->opp[d->nr_opps - 1].khz;

	thermal_count();
	power_frequency(domain, khz);
	d->now_khz = khz;
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		if (hw_cpu_topo[cpu].domain != domain)
			continue;
		hw_cpu_topo[cpu].freq_scale = machine.frequency[cpu] = (uint64_t)khz * 1024 / top;
		speed_cpu_changed(cpu);
	}
}
