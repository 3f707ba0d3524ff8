// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the programs of known schedulers do about them: tunables they set where nobody asks for
 * another value, the schedulers' own programs that they run, flags of the operations, and where
 * they pin themselves meanwhile.
 */
#include "scx.h"

struct value {
	const char	*tunable;
	u64		(*is)(unsigned int cpu); /* cpu: of an array with one for each, else 0 */
	bool		of_each_cpu;
};

static u64 cpus(unsigned int cpu)
{
	return nr_cpu_ids;
}

static u64 slice(unsigned int cpu)
{
	return shim_ext_slice_ns;
}

static u64 no(unsigned int cpu)
{
	return 0;
}

static u64 yes(unsigned int cpu)
{
	return 1;
}

static u64 has_smt(unsigned int cpu)
{
	return hw_machine.has_smt;
}

static bool has_nodes(void)
{
	return hw_nr_nodes > 1;
}

static u64 is_numa(unsigned int cpu)
{
	return has_nodes();
}

static u64 capacity(unsigned int cpu)
{
	return hw_cpu_topo[cpu].capacity;
}

/* The CPU of that place, the biggest first; of alike ones in their order. */
static u64 by_capacity(unsigned int place)
{
	unsigned int cpu, other;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		unsigned int before = 0;

		for (other = 0; other < nr_cpu_ids; other++)
			before += hw_cpu_topo[other].capacity > hw_cpu_topo[cpu].capacity ||
				  (hw_cpu_topo[other].capacity == hw_cpu_topo[cpu].capacity && other < cpu);
		if (before == place)
			return cpu;
	}
	return 0;
}

static u64 full_speed(unsigned int cpu)
{
	return SCHED_CAPACITY_SCALE;
}

static u64 ms1(unsigned int cpu)
{
	return NSEC_PER_MSEC;
}

static u64 ms20(unsigned int cpu)
{
	return 20 * NSEC_PER_MSEC;
}

static u64 ms200(unsigned int cpu)
{
	return 200 * NSEC_PER_MSEC;
}

static u64 tasks16k(unsigned int cpu)
{
	return 16384;
}

static unsigned int last_by_capacity(void)
{
	return by_capacity(nr_cpu_ids - 1);
}

#define MOST_VALUES	12

static const struct setup {
	const char	*operations;		/* the scheduler's, by which it is known */
	const char	*refused; /* why: a part that schedules is the program itself */
	const char	*pinned_by;		/* to the CPU of this tunable, */
	unsigned int	(*pinned)(void);	/* or to this one */
	/* What enable_primary_cpu() is called for. */
	bool		primary_is_pinned, primary_is_all;
	bool		siblings, starts_timer;
	bool		flags, more_flags;	/* of the operations */
	struct value	values[MOST_VALUES];
} setups[] = {
	{ "central_ops", .pinned_by = "central_cpu", .values = { { "nr_cpu_ids", cpus }, { "slice_ns", slice } } },
	{ "flatcg_ops", .values = { { "nr_cpus", cpus }, { "cgrp_slice_ns", slice } } },
	{ "qmap_ops", .values = { { "slice_ns", slice }, { "max_tasks", tasks16k }, { "round_robin_ns", ms200 } } },
	{ "pair_ops", "its program pairs the CPUs and makes a map for each pair" },
	{ "userland_ops", "its program decides which task runs" },
	{
		"bpfland_ops", .primary_is_all = true, .siblings = true, .flags = true, .more_flags = true,
		.values = {
			{ "local_pcpu", no }, { "sticky_tasks", no }, { "local_kthreads", no }, { "primary_all", yes },
			{ "smt_enabled", has_smt }, { "numa_enabled", is_numa }, { "cpufreq_perf_lvl", full_speed },
			{ "cpu_capacity", capacity, true }, { "preferred_cpus", by_capacity, true },
		},
	},
	{
		"beerland_ops", .siblings = true, .flags = true, .more_flags = true,
		.values = {
			{ "slice_ns", ms1 }, { "slice_lag", ms20 }, { "primary_all", yes }, { "smt_enabled", has_smt },
			{ "numa_enabled", is_numa }, { "cpu_capacity", capacity, true },
		},
	},
	{
		"tickless_ops", .pinned = last_by_capacity, .primary_is_pinned = true, .starts_timer = true, .flags = true,
		.values = {
			{ "nr_cpu_ids", cpus }, { "smt_enabled", has_smt }, { "slice_ns", ms20 },
			{ "preferred_cpus", by_capacity, true },
		},
	},
};

static const struct setup *setup_of(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(setups); i++)
		if (!strcmp(shim_scheduler.operations, setups[i].operations))
			return &setups[i];
	return NULL;
}

/* Versions of a scheduler differ: what this one does not have is not set. */
void kern_scx_set_up(void)
{
	const struct setup *setup = setup_of();
	unsigned int i, cpu;

	if (!setup)
		return;
	if (setup->refused)
		hw_refuse("sched_ext: %s is not simulated: %s", shim_scheduler.source, setup->refused);
	for (i = 0; i < MOST_VALUES && setup->values[i].tunable; i++) {
		const struct value *value = &setup->values[i];

		for (cpu = 0; cpu < (value->of_each_cpu ? nr_cpu_ids : 1); cpu++)
			shim_scx_put(value->tunable, cpu, value->is(cpu));
	}
}

static int pinned_to(const struct setup *setup)
{
	unsigned int cpu;
	char value[24];

	if (setup->pinned)
		return setup->pinned();
	if (!setup->pinned_by)
		return -1;
	kern_scx_get(setup->pinned_by, value, sizeof(value));
	if (kstrtouint(value, 0, &cpu) || cpu >= nr_cpu_ids)
		hw_refuse("sched_ext: %s: its tunable %s is %s; the machine has CPUs 0 to %u",
			  shim_scheduler.source, setup->pinned_by, value, nr_cpu_ids - 1);
	return cpu;
}

/* BPF_PROG_TEST_RUN of one of the scheduler's own programs, whose argument is one number or two. */
static void run_program(const char *name, s32 cpu, s32 other)
{
	s32 argument[2] = { cpu, other };
	unsigned int i;
	int ret;

	for (i = 0; i < shim_scheduler.nr_programs; i++) {
		if (strcmp(shim_scheduler.programs[i].name, name))
			continue;
		ret = shim_scheduler.programs[i].run(argument);
		if (ret)
			hw_refuse("sched_ext: %s: its program %s() answers %d for CPU %d", shim_scheduler.source, name, ret, cpu);
	}
}

/* The two of a core that are named siblings are its first ones. */
static int sibling_of(unsigned int cpu)
{
	unsigned int other, found = 0;
	int of_core[2] = { -1, -1 };

	for (other = 0; other < nr_cpu_ids && found < 2; other++)
		if (hw_cpu_topo[other].core == hw_cpu_topo[cpu].core)
			of_core[found++] = other;
	if (found == 2 && of_core[0] == cpu)
		return of_core[1];
	return found == 2 && of_core[1] == cpu ? of_core[0] : -1;
}

int shim_scx_attach(void)
{
	static const struct setup unknown;
	const struct setup *setup = setup_of() ?: &unknown;
	int pinned = pinned_to(setup), cpu, ret;

	if (pinned >= 0)
		set_cpus_allowed_ptr(current, cpumask_of(pinned));
	if (setup->primary_is_all || setup->primary_is_pinned)
		run_program("enable_primary_cpu", -1, 0);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (setup->primary_is_all || (setup->primary_is_pinned && cpu == pinned))
			run_program("enable_primary_cpu", cpu, 0);
		if (setup->siblings && hw_machine.has_smt)
			run_program("enable_sibling_cpu", cpu, sibling_of(cpu));
	}
	ret = shim_ext_load(shim_scheduler.ops, shim_scheduler.by_cid, setup->flags ? shim_ext_flags(setup->more_flags, has_nodes()) : 0);
	if (!ret && setup->starts_timer)
		run_program("start_timer", pinned, 0);
	if (pinned >= 0)
		set_cpus_allowed_ptr(current, cpu_possible_mask);
	return ret;
}
