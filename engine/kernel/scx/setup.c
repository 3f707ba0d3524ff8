// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the programs of known schedulers do about them: tunables they set where nobody asks for
 * another value, the schedulers' own programs that they run, flags of the operations, and where
 * they pin themselves meanwhile.
 */
#include "scx.h"
#include "setup.h"

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

static u64 its_group(unsigned int cpu)
{
	return shim_scheduler->group_id;
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

/* Programs of the scx project read the ranking of preferred cores first, then capacities. */
static unsigned int raw_capacity(unsigned int cpu)
{
	return hw_has_priorities ? hw_cpu_topo[cpu].priority : hw_cpu_topo[cpu].capacity;
}

static unsigned int most_capacity(void)
{
	unsigned int cpu, most = 1;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		most = max(most, raw_capacity(cpu));
	return most;
}

static unsigned int mean_capacity(void)
{
	unsigned int cpu, sum = 0;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		sum += raw_capacity(cpu);
	return sum / nr_cpu_ids;
}

static unsigned int least_capacity(void)
{
	unsigned int cpu, least = UINT_MAX;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		least = min(least, raw_capacity(cpu));
	return least;
}

unsigned int setup_capacity(unsigned int cpu)
{
	return raw_capacity(cpu) * SCHED_CAPACITY_SCALE / most_capacity();
}

bool setup_has_little(void)
{
	return most_capacity() * 10 >= least_capacity() * 13;
}

bool setup_is_big(unsigned int cpu)
{
	return !setup_has_little() || raw_capacity(cpu) >= mean_capacity();
}

static u64 capacity(unsigned int cpu)
{
	return setup_capacity(cpu);
}

static u64 is_big(unsigned int cpu)
{
	return setup_is_big(cpu);
}

static u64 is_turbo(unsigned int cpu)
{
	return mean_capacity() < most_capacity() && raw_capacity(cpu) == most_capacity();
}

static u64 is_alike(unsigned int cpu)
{
	return least_capacity() == most_capacity();
}

/* The CPU of that place, the biggest first; of alike ones in their order. */
static u64 by_capacity(unsigned int place)
{
	unsigned int cpu, other;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		unsigned int before = 0;

		for (other = 0; other < nr_cpu_ids; other++)
			before += capacity(other) > capacity(cpu) || (capacity(other) == capacity(cpu) && other < cpu);
		if (before == place)
			return cpu;
	}
	return 0;
}

static u64 nodes(unsigned int cpu)
{
	return hw_nr_nodes;
}

static u64 llcs(unsigned int cpu)
{
	return hw_nr_llcs;
}

static u64 full_speed(unsigned int cpu)
{
	return SCHED_CAPACITY_SCALE;
}

static u64 us500(unsigned int cpu)
{
	return 500 * NSEC_PER_USEC;
}

static u64 ms1(unsigned int cpu)
{
	return NSEC_PER_MSEC;
}

static u64 ms5(unsigned int cpu)
{
	return 5 * NSEC_PER_MSEC;
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

static u64 six(unsigned int cpu)
{
	return 6;
}

static u64 percent10(unsigned int cpu)
{
	return 10 * SCHED_CAPACITY_SCALE / 100;
}

static u64 percent25(unsigned int cpu)
{
	return 25 * SCHED_CAPACITY_SCALE / 100;
}

static u64 percent100(unsigned int cpu)
{
	return 100;
}

/* BPF_PROG_TEST_RUN of one of the scheduler's own programs, where this version of it has it. */
static int run_program(const char *name, void *argument)
{
	unsigned int i;

	for (i = 0; i < shim_scheduler->nr_programs; i++)
		if (!strcmp(shim_scheduler->programs[i].name, name))
			return ((int (*)(void *))shim_scheduler->programs[i].run)(argument);
	return 0;
}

void setup_run(const char *name, void *argument)
{
	int ret = run_program(name, argument);

	if (ret)
		hw_refuse("sched_ext: %s: its program %s() answers %d", shim_scheduler->source, name, ret);
}

static void run_for_cpu(const char *name, s32 cpu, s32 other)
{
	s32 argument[2] = { cpu, other };
	int ret = run_program(name, argument);

	if (ret)
		hw_refuse("sched_ext: %s: its program %s() answers %d for CPU %d", shim_scheduler->source, name, ret, cpu);
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

static u64 other_of_core(unsigned int cpu)
{
	return sibling_of(cpu);
}

#define PAIR_QUEUED	4096		/* tasks of a cgroup */

/* The first half of the CPUs with the second. */
static void pair_up(void)
{
	unsigned int cpu, half = nr_cpu_ids / 2;

	if (nr_cpu_ids % 2)
		hw_refuse("sched_ext: %s needs an even number of CPUs; the machine has %u", shim_scheduler->source, nr_cpu_ids);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		shim_scx_put("pair_cpu", cpu, (cpu + half) % nr_cpu_ids);
		shim_scx_put("pair_id", cpu, cpu % half);
		shim_scx_put("in_pair_idx", cpu, cpu >= half);
	}
	shim_scx_resize("pair_ctx", half);
	shim_scx_fill("cgrp_q_arr", BPF_MAP_TYPE_QUEUE, sizeof(u32), PAIR_QUEUED);
}

static void put_nodes(void)
{
	unsigned int cpu;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		u32 node = hw_cpu_topo[cpu].node;

		shim_scx_update("cpu_node_map", &cpu, &node);
	}
}

#define MOST_VALUES	20

static const struct setup {
	const char	*operations;		/* the scheduler's, by which it is known */
	const char	*refused; /* why: a part that schedules is the program itself */
	const char	*pinned_by;		/* to the CPU of this tunable, */
	unsigned int	(*pinned)(void);	/* or to this one */
	/* What enable_primary_cpu() is called for. */
	bool		primary_is_pinned, primary_is_all;
	bool		siblings, starts_timer;
	unsigned int	flags;			/* SHIM_EXT_*, of the operations */
	const char	*attached;		/* to sched_switch, */
	const char	*without;		/* in place of this operation */
	void		(*more)(void);		/* values that are no single ones */
	void		(*prepare)(void);	/* before it is loaded, when its maps are there */
	struct value	values[MOST_VALUES];
} setups[] = {
	{ "central_ops", .pinned_by = "central_cpu", .values = { { "nr_cpu_ids", cpus }, { "slice_ns", slice } } },
	{ "flatcg_ops", .values = { { "nr_cpus", cpus }, { "cgrp_slice_ns", slice } } },
	{
		"qmap_ops", .values = {
			{ "slice_ns", slice }, { "max_tasks", tasks16k }, { "round_robin_ns", ms200 },
			{ "sub_cgroup_id", its_group },
		},
	},
	{ "pair_ops", .more = pair_up, .values = { { "nr_cpu_ids", cpus }, { "pair_batch_dur_ns", slice } } },
	{ "userland_ops", "its program decides which task runs" },
	{
		"bpfland_ops", .primary_is_all = true, .siblings = true,
		.flags = SHIM_EXT_ENQ_LAST | SHIM_EXT_EXITING | SHIM_EXT_MIGRATION_DISABLED | SHIM_EXT_QUEUED_WAKEUP | SHIM_EXT_BY_NODE,
		.values = {
			{ "local_pcpu", no }, { "sticky_tasks", no }, { "local_kthreads", no }, { "primary_all", yes },
			{ "smt_enabled", has_smt }, { "numa_enabled", is_numa }, { "cpufreq_perf_lvl", full_speed },
			{ "cpu_capacity", capacity, true }, { "preferred_cpus", by_capacity, true },
		},
	},
	{
		"beerland_ops", .siblings = true,
		.flags = SHIM_EXT_ENQ_LAST | SHIM_EXT_EXITING | SHIM_EXT_MIGRATION_DISABLED | SHIM_EXT_QUEUED_WAKEUP | SHIM_EXT_BY_NODE | SHIM_EXT_IMMED,
		.values = {
			{ "slice_ns", ms1 }, { "slice_lag", ms20 }, { "primary_all", yes }, { "smt_enabled", has_smt },
			{ "numa_enabled", is_numa }, { "cpu_capacity", capacity, true },
		},
	},
	{
		"cosmos_ops", .siblings = true, .prepare = put_nodes,
		.flags = SHIM_EXT_ENQ_LAST | SHIM_EXT_EXITING | SHIM_EXT_MIGRATION_DISABLED | SHIM_EXT_QUEUED_WAKEUP | SHIM_EXT_BY_NODE,
		.values = {
			{ "slice_ns", ms1 }, { "slice_lag", ms20 }, { "cpufreq_enabled", yes }, { "smt_enabled", has_smt },
			{ "numa_enabled", is_numa }, { "nr_node_ids", nodes }, { "busy_threshold", no }, { "primary_all", yes },
			{ "gpu_enabled", no }, { "cpu_capacity", capacity, true }, { "preferred_cpus", by_capacity, true },
			{ "all_cpus_same_capacity", is_alike },
		},
	},
	{
		"lavd_ops", .attached = "lavd_sched_switch", .without = "cpu_release", .more = setup_lavd, .prepare = setup_arena,
		.flags = SHIM_EXT_ENQ_LAST | SHIM_EXT_EXITING | SHIM_EXT_MIGRATION_DISABLED | SHIM_EXT_OWN_IDLE,
		.values = {
			{ "nr_llcs", llcs }, { "nr_cpu_ids", cpus }, { "is_smt_active", has_smt }, { "is_autopilot_on", yes },
			{ "slice_max_ns", ms5 }, { "slice_min_ns", us500 }, { "pinned_slice_ns", ms5 }, { "preempt_shift", six },
			{ "lat_load_target_pct", percent100 }, { "lb_low_util_wall", percent25 },
			{ "lb_local_dsq_util_wall", percent10 }, { "no_use_em", yes }, { "cpu_capacity", capacity, true },
			{ "cpu_big", is_big, true }, { "cpu_turbo", is_turbo, true }, { "cpu_sibling", other_of_core, true },
		},
	},
	{ "layered", "its program decides which CPUs a layer has, all the time" },
	{ "rusty", "its program moves tasks between domains" },
	{ "rustland", "its program decides which task runs" },
	{
		"tickless_ops", .pinned = last_by_capacity, .primary_is_pinned = true, .starts_timer = true,
		.flags = SHIM_EXT_ENQ_LAST | SHIM_EXT_MIGRATION_DISABLED | SHIM_EXT_QUEUED_WAKEUP,
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
		if (!strcmp(shim_scheduler->operations, setups[i].operations))
			return &setups[i];
	return NULL;
}

extern char __start_scx_rodata[] __weak, __stop_scx_rodata[] __weak;

/* Versions of a scheduler differ: what this one does not have is not set. */
void kern_scx_set_up(void)
{
	const struct setup *setup = setup_of();
	unsigned int i, cpu;

	/* Of one that is below another they are set when that one is loaded. */
	hw_make_writable(__start_scx_rodata, __stop_scx_rodata - __start_scx_rodata);
	if (!setup)
		return;
	if (setup->refused)
		hw_refuse("sched_ext: %s is not simulated: %s", shim_scheduler->source, setup->refused);
	if (setup->more)
		setup->more();
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
			  shim_scheduler->source, setup->pinned_by, value, nr_cpu_ids - 1);
	return cpu;
}

void (*shim_scx_on_switch)(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state);

/* A program of sched_switch: one by itself, or another where the setup names it and the tree has what it calls. */
static bool attach(const char *named)
{
	unsigned int i;

	for (i = 0; i < shim_scheduler->nr_programs; i++) {
		const struct shim_program *program = &shim_scheduler->programs[i];

		if (!strstr(program->section, "tp_btf/sched_switch"))
			continue;
		if (program->section[0] == '?' && (!named || strcmp(program->name, named) || !shim_ext_reenqueues_anywhere()))
			continue;
		if (shim_scx_on_switch)
			hw_refuse("sched_ext: %s runs at each switch, as another scheduler does already: one can", shim_scheduler->source);
		shim_scx_on_switch = program->run;
		return true;
	}
	return false;
}

static void leave_out(const char *operation)
{
	unsigned int i;

	for (i = 0; operation && i < shim_scheduler->nr_ops; i++)
		if (!strcmp(shim_scheduler->op_table[i].signature->name, operation))
			*(void **)(shim_scheduler->ops + shim_scheduler->op_table[i].offset) = NULL;
}

int shim_scx_attach(void)
{
	static const struct setup unknown;
	const struct setup *setup = setup_of() ?: &unknown;
	int pinned = pinned_to(setup), cpu, ret;

	if (pinned >= 0)
		set_cpus_allowed_ptr(current, cpumask_of(pinned));
	if (setup->primary_is_all || setup->primary_is_pinned)
		run_for_cpu("enable_primary_cpu", -1, 0);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		if (setup->primary_is_all || (setup->primary_is_pinned && cpu == pinned))
			run_for_cpu("enable_primary_cpu", cpu, 0);
		if (setup->siblings && hw_machine.has_smt)
			run_for_cpu("enable_sibling_cpu", cpu, sibling_of(cpu));
	}
	if (setup->prepare)
		setup->prepare();
	if (attach(setup->attached))
		leave_out(setup->without);
	shim_scx_trace_operations();
	ret = shim_ext_load(shim_ext_flags(setup->flags, has_nodes()));
	if (!ret && setup->starts_timer)
		run_for_cpu("start_timer", pinned, 0);
	if (pinned >= 0)
		set_cpus_allowed_ptr(current, cpu_possible_mask);
	return ret;
}
