// SPDX-License-Identifier: GPL-2.0-only
/* 6.1's energy model: cost at the highest frequency. */
#include <linux/cpufreq.h>
#include <linux/energy_model.h>
#include "../../sim.h"

/* cpufreq's core tells schedutil; the scheduler's domains follow. */
void sim_governor_changed(struct cpufreq_policy *policy, struct cpufreq_governor *old)
{
	sched_cpufreq_governor_change(policy, old);
}

unsigned long sim_thermal_pressure[NR_CPUS];

void sim_frequency_pressure(unsigned int cpu, unsigned long capacity)
{
	sim_thermal_pressure[cpu] = capacity;
}

struct em_perf_domain *sim_energy_domain(const struct sim_freq_domain *d, const struct cpumask *span)
{
	struct em_perf_domain *pd = sim_zalloc(sizeof(*pd) + sizeof(*span), 64);
	unsigned long best = ULONG_MAX;
	int i;

	pd->table = sim_zalloc(d->nr_opps * sizeof(*pd->table), 64);
	for (i = d->nr_opps - 1; i >= 0; i--) {
		struct em_perf_state *ps = &pd->table[i];

		ps->frequency = d->opp[i].khz;
		ps->power = d->opp[i].power_mw * 1000UL;
		ps->cost = (u64)d->opp[d->nr_opps - 1].khz * ps->power / ps->frequency;
		if (ps->cost >= best)
			ps->flags = EM_PERF_STATE_INEFFICIENT;
		else
			best = ps->cost;
	}
	pd->nr_perf_states = d->nr_opps;
	pd->flags = EM_PERF_DOMAIN_MICROWATTS | EM_PERF_DOMAIN_SKIP_INEFFICIENCIES;
	cpumask_copy(to_cpumask(pd->cpus), span);
	return pd;
}
