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
	{ "scx_flatcg.bpf.c", "nr_cpus", cpus }, { "scx_flatcg.bpf.c", "cgrp_slice_ns", slice },
};

/* Of these a part that schedules, or fills maps, is the program itself. */
static const struct {
	const char	*source, *why;
} refused[] = {
	{ "scx_central.bpf.c", "tasks wait for its central CPU for ever in the simulator, why is not understood" },
	{ "scx_pair.bpf.c", "its program pairs the CPUs and makes a map for each pair" },
	{ "scx_userland.bpf.c", "its program decides which task runs" },
};

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
