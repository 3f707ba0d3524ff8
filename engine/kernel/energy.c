// SPDX-License-Identifier: GPL-2.0-only
/* The energy model of a frequency domain, and what a limit on frequency takes from capacity. */
#include <linux/cpufreq.h>
#include <linux/energy_model.h>
#include <linux/sched/topology.h>
#include <linux/workqueue.h>
#include "shim.h"

/*
 * Where cpufreq's core notifies schedutil; elsewhere schedutil itself rebuilds the scheduler's
 * domains.
 */
void shim_governor_changed(struct cpufreq_policy *policy, struct cpufreq_governor *old)
{
#ifdef TREE_HAS_GOVERNOR_CHANGE
	sched_cpufreq_governor_change(policy, old);
#endif
}

static void rebuild_domains(struct work_struct *work)
{
	rebuild_sched_domains_energy();
}

/*
 * Where schedutil asks the energy model for it, as it comes and goes: not under the caller's locks.
 */
void em_rebuild_sched_domains(void);
void em_rebuild_sched_domains(void)
{
	static DECLARE_WORK(rebuild, rebuild_domains);

	schedule_work(&rebuild);
}

#ifdef TREE_HAS_CPUFREQ_PRESSURE
DEFINE_PER_CPU(unsigned long, cpufreq_pressure);

void shim_frequency_pressure(unsigned int cpu, unsigned long capacity)
{
	*raw_per_cpu_ptr(&cpufreq_pressure, cpu) = capacity;
}
#else
unsigned long shim_thermal_pressure[NR_CPUS];

void shim_frequency_pressure(unsigned int cpu, unsigned long capacity)
{
	shim_thermal_pressure[cpu] = capacity;
}
#endif

#ifdef TREE_HAS_EM_TABLE
/* Performance beside frequency, cost per unit of performance. */
static struct em_perf_state *add_table(struct em_perf_domain *pd, int nr)
{
	struct em_perf_table *table = hw_zalloc(sizeof(*table) + nr * sizeof(table->state[0]), 64);

	RCU_INIT_POINTER(pd->em_table, table);
	return table->state;
}

static void set_cost(struct em_perf_state *ps, unsigned long capacity, unsigned long highest)
{
	ps->performance = capacity * ps->frequency / highest;
	ps->cost = ps->power * 10 / ps->performance;
}
#else
/* Cost at the highest frequency. */
static struct em_perf_state *add_table(struct em_perf_domain *pd, int nr)
{
	pd->table = hw_zalloc(nr * sizeof(*pd->table), 64);
	return pd->table;
}

static void set_cost(struct em_perf_state *ps, unsigned long capacity, unsigned long highest)
{
	ps->cost = (u64)highest * ps->power / ps->frequency;
}
#endif

struct em_perf_domain *shim_energy_domain(const struct hw_freq_domain *d, const struct cpumask *span)
{
	struct em_perf_domain *pd = hw_zalloc(sizeof(*pd) + sizeof(*span), 64);
	struct em_perf_state *states = add_table(pd, d->nr_opps);
	unsigned long best = ULONG_MAX;
	int i;

	for (i = d->nr_opps - 1; i >= 0; i--) {
		struct em_perf_state *ps = &states[i];

		ps->frequency = d->opp[i].khz;
		ps->power = d->opp[i].power_mw * 1000UL;
		set_cost(ps, arch_scale_cpu_capacity(cpumask_first(span)), d->opp[d->nr_opps - 1].khz);
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
