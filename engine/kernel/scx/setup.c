// SPDX-License-Identifier: GPL-2.0-only
/* What the programs of known schedulers set before they load them, where nobody asks for another value. */
#include "scx.h"

static u64 cpus(void)
{
	return nr_cpu_ids;
}

static u64 slice(void)
{
	return shim_ext_slice_ns;
}

static const struct {
	const char	*source, *tunable;
	u64		(*value)(void);
} setups[] = {
	{ "scx_central.bpf.c", "nr_cpu_ids", cpus }, { "scx_central.bpf.c", "slice_ns", slice },
	{ "scx_flatcg.bpf.c", "nr_cpus", cpus }, { "scx_flatcg.bpf.c", "cgrp_slice_ns", slice },
};

/* Of these a part that schedules, or fills maps, is the program itself. */
static const struct {
	const char	*source, *why;
} refused[] = {
	{ "scx_pair.bpf.c", "its program pairs the CPUs and makes a map for each pair" },
	{ "scx_userland.bpf.c", "its program decides which task runs" },
};

/* Their programs load them on the CPU that a tunable names. */
static const struct {
	const char	*source, *tunable;
} loaded_on[] = {
	{ "scx_central.bpf.c", "central_cpu" },
};

const struct cpumask *shim_scx_loaded_on(void)
{
	unsigned int i, cpu;
	char value[24];

	for (i = 0; i < ARRAY_SIZE(loaded_on); i++) {
		if (strcmp(shim_scheduler.source, loaded_on[i].source))
			continue;
		kern_scx_get(loaded_on[i].tunable, value, sizeof(value));
		if (kstrtouint(value, 0, &cpu) || cpu >= nr_cpu_ids)
			hw_refuse("sched_ext: %s: its tunable %s is %s; the machine has CPUs 0 to %u",
				  shim_scheduler.source, loaded_on[i].tunable, value, nr_cpu_ids - 1);
		return cpumask_of(cpu);
	}
	return NULL;
}

void kern_scx_set_up(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		if (!strcmp(shim_scheduler.source, refused[i].source))
			hw_refuse("sched_ext: %s is not simulated: %s", refused[i].source, refused[i].why);
	for (i = 0; i < ARRAY_SIZE(setups); i++) {
		char value[24];

		snprintf(value, sizeof(value), "%llu", setups[i].value());
		if (!strcmp(shim_scheduler.source, setups[i].source))
			kern_scx_set(setups[i].tunable, value);
	}
}
