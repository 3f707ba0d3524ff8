// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler's lines that many CPUs write, beside those of task groups (cgroup.c). */
#include "shim.h"

/* All fields that are known by name: a patch may lay one on a line of its own. */
static void register_shared(struct sched_domain_shared *sds)
{
	if (!sds)
		return;
	hw_hot_register(sds, &sds->nr_busy_cpus);
	hw_hot_register(sds, &sds->has_idle_cores);
	hw_hot_register(sds, &sds->nr_idle_scan);
#if defined(TREE_HAS_SCHED_CACHE) && defined(CONFIG_SCHED_CACHE)
	hw_hot_register(sds, &sds->util_avg);
	hw_hot_register(sds, &sds->capacity);
#endif
}

void shim_register_hot_mask(const void *object, const struct cpumask *mask)
{
	int word;

	for (word = 0; word < BITS_TO_LONGS(nr_cpu_ids); word++)
		hw_hot_register(object, cpumask_bits(mask) + word);
}

/* Of a root domain; the mask is memory of its own, or (CPUMASK_OFFSTACK=n) part of it. */
static void register_mask(struct root_domain *rd, const struct cpumask *mask)
{
	const char *from = (const char *)rd, *at = (const char *)mask;

	shim_register_hot_mask(at >= from && at < from + sizeof(*rd) ? from : at, mask);
}

/* Every CPU that gets or loses a real-time task writes the counts and masks of two priorities. */
static void register_priorities(struct root_domain *rd)
{
	int idx;

	for (idx = 0; idx < CPUPRI_NR_PRIORITIES; idx++) {
		struct cpupri_vec *vec = &rd->cpupri.pri_to_cpu[idx];

		hw_hot_register(rd, &vec->count);
		register_mask(rd, vec->mask);
	}
	hw_hot_register(rd, &rd->rto_count);
	register_mask(rd, rd->rto_mask);
}

/* After boot and whenever domains were built anew; registered ones stay as they are. */
void shim_register_hot_lines(void)
{
	struct root_domain *last = NULL;
	int cpu;

	shim_register_nohz_lines();
	for_each_online_cpu(cpu) {
		struct root_domain *rd = raw_cpu_rq(cpu)->rd;
		struct sched_domain_shared *sds =
			rcu_dereference_raw(*raw_per_cpu_ptr(&sd_llc_shared, cpu));
#ifdef TREE_HAS_BALANCE_SHARED
		/* Where capacities differ, wakeups look at another one's (has_idle_cores). */
		struct sched_domain_shared *balance =
			rcu_dereference_raw(*raw_per_cpu_ptr(&sd_balance_shared, cpu));

		register_shared(balance);
#endif

		hw_hot_register(rd, &SHIM_RD_OVERLOADED(rd));
		hw_hot_register(rd, &rd->overutilized);
		if (rd != last)
			register_priorities(rd);
		last = rd;
		register_shared(sds);
	}
}
