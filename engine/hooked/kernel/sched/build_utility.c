// SPDX-License-Identifier: GPL-2.0-only
/* kernel/sched/build_utility.c: with PSI each cgroup above a task costs, so a deep one costs more. */
#include "sim.h"
#include "hook.h"

#define PSI_CHANGE(name, group, cpu, more...)				\
({									\
	struct psi_group *__group = (group);				\
	int __cpu = (cpu);						\
									\
	sim_psi_change(raw_per_cpu_ptr(__group->pcpu, __cpu));		\
	(name)(__group, __cpu, ##more);					\
})
#define psi_group_change(args...)	SIM_HOOK(PSI_CHANGE, psi_group_change, args)

#include <kernel/sched/build_utility.c>
