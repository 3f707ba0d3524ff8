// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/sched/build_utility.c: with PSI each cgroup above a task costs, so a deep one costs more;
 * real-time tasks look for a CPU in lines that many write.
 * The functions below it reach what is static there: the table of domain levels, for the flags that
 * x86 gives some of them; the cookies of core scheduling, as tasks here have no struct pid for
 * sched_core_share_pid(); and the parsers of isolcpus= and psi=.
 */
#include "shim.h"
#include <trace/events/schedlab.h>
#include "hook.h"

#define PSI_CHANGE(name, group, cpu, more...)				\
({									\
	struct psi_group *shim_group = (group);				\
	int shim_cpu = (cpu);						\
									\
	hw_psi_change(raw_per_cpu_ptr(shim_group->pcpu, shim_cpu));	\
	(name)(shim_group, shim_cpu, ##more);				\
})
#define psi_group_change(args...)	SHIM_HOOK(PSI_CHANGE, psi_group_change, args)

#define NEXT_FREQ(name, sg_policy, util, max, more...)			\
({									\
	__auto_type shim_of = (sg_policy);				\
	unsigned long shim_util = (util), shim_max = (max);		\
	__auto_type shim_khz = (name)(shim_of, shim_util, shim_max, ##more); \
									\
	trace_next_freq(shim_of->policy->cpu, shim_util, shim_max, shim_of->policy->cur, shim_khz); \
	shim_khz;							\
})
#define get_next_freq(args...)		SHIM_HOOK(NEXT_FREQ, get_next_freq, args)

/* A search for a CPU of low priority reads each count, and who is there where somebody is. */
static inline void shim_look_for_priority(struct cpupri *cp, int idx)
{
	struct cpupri_vec *vec = &cp->pri_to_cpu[idx];
	int word;

	shim_hot_touch(&vec->count, 0);
	for (word = 0; atomic_read(&vec->count) && word < BITS_TO_LONGS(nr_cpu_ids); word++)
		shim_hot_touch(cpumask_bits(vec->mask) + word, 0);
}

#define FIND_PRIORITY(name, cp, task, mask, idx)			\
({									\
	struct cpupri *shim_of = (cp);					\
	int shim_idx = (idx);						\
									\
	shim_look_for_priority(shim_of, shim_idx);			\
	(name)(shim_of, (task), (mask), shim_idx);			\
})
#define __cpupri_find(args...)		SHIM_HOOK(FIND_PRIORITY, __cpupri_find, args)

#include <kernel/sched/build_utility.c>

#ifdef TREE_HAS_ITMT_OF_SIBLINGS
static int smt_flags(void)
{
	return cpu_smt_flags() | shim_itmt_flags();
}
#else
#define smt_flags cpu_smt_flags
#endif

#ifdef CONFIG_SCHED_CLUSTER
static int cluster_flags(void)
{
	return cpu_cluster_flags() | shim_itmt_flags();
}
#else
/* No level of the table has these flags. */
static int cpu_cluster_flags(void)
{
	return 0;
}
#define cluster_flags cpu_cluster_flags
#endif

static int core_flags(void)
{
	return cpu_core_flags() | shim_itmt_flags();
}

/* Does the package's domain look at priorities? */
static bool package_prefers(bool hybrid)
{
#ifdef TREE_HAS_ITMT_DEBUGFS
	return true;
#elif defined(TREE_HAS_ITMT_OF_SIBLINGS)
	return false;
#else
	return hybrid;
#endif
}

/* As arch/x86/kernel/smpboot.c's table differs from the kernel's own. */
void shim_prefer_cores(bool hybrid)
{
	struct sched_domain_topology_level *from = default_topology, *to = default_topology;

	for (; from->mask; from++) {
#ifndef TREE_HAS_GROUP_SMT_BALANCE
		/* x86_hybrid_topology has none. */
		if (hybrid && from->sd_flags == cpu_cluster_flags)
			continue;
#endif
		*to = *from;
		if (to->sd_flags == cpu_smt_flags)
			to->sd_flags = smt_flags;
		else if (to->sd_flags == cpu_cluster_flags)
			to->sd_flags = cluster_flags;
		else if (to->sd_flags == cpu_core_flags)
			to->sd_flags = core_flags;
		else if (package_prefers(hybrid))
			to->sd_flags = shim_itmt_flags;
		to++;
	}
	*to = *from;
}

/* A cookie that stays: nobody puts its first reference. */
unsigned long shim_core_cookie(void)
{
	return sched_core_alloc_cookie();
}

/* As PR_SCHED_CORE_SHARE_FROM and PR_SCHED_CORE_CREATE (0) give it to the caller. */
void shim_core_sched(unsigned long cookie)
{
	unsigned long own = cookie ? 0 : sched_core_alloc_cookie();

	__sched_core_set(current, cookie ?: own);
	sched_core_put_cookie(own);
}

void shim_isolate(char *cpus)
{
	housekeeping_isolcpus_setup(cpus);
}

void shim_leave_tickless(char *cpus)
{
	housekeeping_nohz_full_setup(cpus);
}

#ifdef CONFIG_PSI
int kern_psi_option(const char *value)
{
	char text[16];

	return strscpy(text, value, sizeof(text)) < 0 || !setup_psi(text) ? -EINVAL : 0;
}

int kern_has_psi(void)
{
	return !static_branch_likely(&psi_disabled);
}
#else
int kern_psi_option(const char *value)
{
	return -EOPNOTSUPP;
}

int kern_has_psi(void)
{
	return 0;
}
#endif
