// SPDX-License-Identifier: GPL-2.0-only
/* 6.12's energy model: performance beside frequency, cost per unit of performance. */
#include <linux/energy_model.h>
#include "../../sim.h"

/* schedutil itself has the scheduler's domains follow. */
void sim_governor_changed(struct cpufreq_policy *policy, struct cpufreq_governor *old)
{
}

DEFINE_PER_CPU(unsigned long, cpufreq_pressure);

void sim_frequency_pressure(unsigned int cpu, unsigned long capacity)
{
	*raw_per_cpu_ptr(&cpufreq_pressure, cpu) = capacity;
}

struct em_perf_domain *sim_energy_domain(const struct sim_freq_domain *d, const struct cpumask *span)
{
	struct em_perf_domain *pd = sim_zalloc(sizeof(*pd) + sizeof(*span), 64);
	struct em_perf_table *table = sim_zalloc(sizeof(*table) + d->nr_opps * sizeof(table->state[0]), 64);
	unsigned long best = ULONG_MAX;
	int i;

	for (i = d->nr_opps - 1; i >= 0; i--) {
		struct em_perf_state *ps = &table->state[i];

		ps->frequency = d->opp[i].khz;
		ps->power = d->opp[i].power_mw * 1000UL;
		ps->performance = arch_scale_cpu_capacity(cpumask_first(span)) * ps->frequency /
				  d->opp[d->nr_opps - 1].khz;
		ps->cost = ps->power * 10 / ps->performance;
		if (ps->cost >= best)
			ps->flags = EM_PERF_STATE_INEFFICIENT;
		else
			best = ps->cost;
	}
	pd->nr_perf_states = d->nr_opps;
	pd->flags = EM_PERF_DOMAIN_MICROWATTS | EM_PERF_DOMAIN_SKIP_INEFFICIENCIES;
	cpumask_copy(to_cpumask(pd->cpus), span);
	RCU_INIT_POINTER(pd->em_table, table);
	return pd;
}
