// SPDX-License-Identifier: GPL-2.0-only
/* The machine as it is described, and keeping tasks on parts of it. */
#include <string.h>
#include "instance.h"
#include "json.h"

int wl_cpus(void)
{
	return hw_nr_cpus;
}

int wl_llcs(void)
{
	return hw_nr_llcs;
}

int wl_nodes(void)
{
	return hw_nr_nodes;
}

int wl_cpu(void)
{
	return hw.cpu;
}

int wl_capacity(int cpu)
{
	return hw_cpu_topo[cpu].capacity;
}

int wl_idle_states(void)
{
	return hw_nr_idle_states;
}

const char *wl_idle_name(int state)
{
	return hw_idle_states[state].name;
}

void wl_idle_read(int cpu, int state, struct wl_idle *idle)
{
	struct kern_idle now;

	kern_idle_stats(cpu, state, &now);
	idle->usage = now.usage;
	idle->time = now.time_ns;
}

struct cpu_set {
	unsigned long bits[HW_MAX_CPUS / 64];
};

static void set_cpu(int cpu, void *arg)
{
	struct cpu_set *set = arg;

	set->bits[cpu / 64] |= 1UL << cpu % 64;
}

static void pin(const unsigned long *cpus)
{
	int err = kern_setaffinity(&self()->kern, cpus, hw_nr_cpus);

	if (err)
		wl_refuse("%s cannot be pinned: %s", self()->comm, strerror(-err));
}

void wl_pin_cpus(int first, int count)
{
	struct cpu_set set = { };

	for (int cpu = first; cpu < first + count && cpu < hw_nr_cpus; cpu++)
		set_cpu(cpu, &set);
	pin(set.bits);
}

void wl_pin_llcs(int first, int count)
{
	struct cpu_set set = { };

	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		if (hw_cpu_topo[cpu].llc >= first && hw_cpu_topo[cpu].llc < first + count)
			set_cpu(cpu, &set);
	pin(set.bits);
}

void wl_pin_node(int node)
{
	struct cpu_set set = { };

	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		if (hw_cpu_topo[cpu].node == node)
			set_cpu(cpu, &set);
	pin(set.bits);
}

void wl_pin_list(const char *list)
{
	json_t *text = json_string(list);
	struct cpu_set set = { };

	json_cpu_list(text, AT(NULL, self()->instance->label), hw_nr_cpus - 1, set_cpu, &set);
	json_decref(text);
	pin(set.bits);
}
