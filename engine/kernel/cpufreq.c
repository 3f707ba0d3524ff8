// SPDX-License-Identifier: GPL-2.0-only
/* Frequency domains of the machine under the kernel's own schedutil governor, or always as high as allowed. */
#include <linux/cpufreq.h>
#include <linux/energy_model.h>
#include <trace/events/power.h>
#include "sim.h"

static struct cpufreq_policy *policies[NR_CPUS];	/* by frequency domain */
static struct cpufreq_governor *schedutil;
static struct em_perf_domain *energy[NR_CPUS];		/* by frequency domain */

int cpufreq_register_governor(struct cpufreq_governor *governor)
{
	schedutil = governor;
	return 0;
}

static struct cpufreq_policy *policy_of(unsigned int cpu)
{
	int domain = sim_cpu_topo[cpu].domain;

	return domain < 0 ? NULL : policies[domain];
}

struct cpufreq_policy *cpufreq_cpu_get(unsigned int cpu)
{
	return policy_of(cpu);
}

void cpufreq_cpu_put(struct cpufreq_policy *policy)
{
}

void cpufreq_enable_fast_switch(struct cpufreq_policy *policy)
{
	policy->fast_switch_enabled = true;
}

void cpufreq_disable_fast_switch(struct cpufreq_policy *policy)
{
	policy->fast_switch_enabled = false;
}

/* The lowest operating point that is fast enough, within the policy's limits. */
unsigned int cpufreq_driver_resolve_freq(struct cpufreq_policy *policy, unsigned int target)
{
	const struct sim_freq_domain *d = policy->driver_data;
	int i = 0;

	target = clamp_val(target, policy->min, policy->max);
	while (i < d->nr_opps - 1 && d->opp[i].khz < target)
		i++;
	return d->opp[i].khz;
}

static void change_frequency(struct cpufreq_policy *policy, unsigned int khz)
{
	const struct sim_freq_domain *d = policy->driver_data;
	int cpu;

	if (khz == policy->cur)
		return;
	policy->cur = khz;
	sim_set_frequency(d - sim_freq_domains, khz);
	for_each_cpu(cpu, policy->cpus)
		trace_cpu_frequency(khz, cpu);
}

unsigned int cpufreq_driver_fast_switch(struct cpufreq_policy *policy, unsigned int target)
{
	unsigned int khz = cpufreq_driver_resolve_freq(policy, target);

	change_frequency(policy, khz);
	return khz;
}

bool cpufreq_driver_has_adjust_perf(void)
{
	return false;
}

bool cpufreq_driver_test_flags(u16 flags)
{
	return false;
}

unsigned int cpufreq_policy_transition_delay_us(struct cpufreq_policy *policy)
{
	const struct sim_freq_domain *d = policy->driver_data;

	return max_t(unsigned int, 1, d->transition_ns / NSEC_PER_USEC);
}

bool have_governor_per_policy(void)
{
	return true;
}

/* schedutil's tunables: nobody looks for them below this. */
const struct sysfs_ops governor_sysfs_ops;

struct kobject *get_governor_parent_kobj(struct cpufreq_policy *policy)
{
	return NULL;
}

void gov_attr_set_init(struct gov_attr_set *attr_set, struct list_head *list_node)
{
	INIT_LIST_HEAD(&attr_set->policy_list);
	mutex_init(&attr_set->update_lock);
	attr_set->usage_count = 1;
	list_add(list_node, &attr_set->policy_list);
}

/* drivers/cpufreq/cpufreq_performance.c */
static void performance_limits(struct cpufreq_policy *policy)
{
	change_frequency(policy, policy->max);
}

static struct cpufreq_governor performance = {
	.name	= "performance",
	.limits	= performance_limits,
};

/* The highest operating point there may be from now on: the scheduler sees the rest as pressure. */
void sim_cap_frequency(int domain, int highest)
{
	struct cpufreq_policy *policy = policies[domain];
	int cpu;

	policy->max = sim_freq_domains[domain].opp[highest].khz;
	policy->governor->limits(policy);
	for_each_cpu(cpu, policy->cpus) {
		unsigned long capacity = arch_scale_cpu_capacity(cpu);

		sim_frequency_pressure(cpu, capacity - capacity * policy->max / policy->cpuinfo.max_freq);
	}
}

static void start_schedutil(struct cpufreq_policy *policy)
{
	policy->governor = schedutil;
	if (schedutil->init(policy) || schedutil->start(policy))
		sim_die("schedutil does not start", "cpufreq policy", policy->cpu);
	schedutil->limits(policy);
}

static void setup_policy(int domain)
{
	struct sim_freq_domain *d = &sim_freq_domains[domain];
	struct cpufreq_policy *policy = sim_zalloc(sizeof(*policy), 64);
	int cpu;

	zalloc_cpumask_var(&policy->cpus, GFP_KERNEL);
	zalloc_cpumask_var(&policy->related_cpus, GFP_KERNEL);
	for (cpu = 0; cpu < sim_nr_cpus; cpu++)
		if (sim_cpu_topo[cpu].domain == domain)
			cpumask_set_cpu(cpu, policy->cpus);
	cpumask_copy(policy->related_cpus, policy->cpus);
	policy->cpu = cpumask_first(policy->cpus);
	policy->driver_data = d;
	policy->min = policy->cpuinfo.min_freq = d->opp[0].khz;
	policy->max = policy->cpuinfo.max_freq = policy->cur = d->opp[d->nr_opps - 1].khz;
	policy->cpuinfo.transition_latency = d->transition_ns;
	init_rwsem(&policy->rwsem);
	policies[domain] = policy;
	if (d->performance)
		policy->governor = &performance;
	else
		start_schedutil(policy);
}

void sim_setup_cpufreq(void)
{
	int domain;

	for (domain = 0; domain < sim_nr_freq_domains; domain++)
		setup_policy(domain);
}

/* ------------------------------------------------------------------ energy model */

struct em_perf_domain *em_cpu_get(int cpu)
{
	int domain = sim_cpu_topo[cpu].domain;

	return domain < 0 ? NULL : energy[domain];
}

void sim_setup_energy_model(void)
{
	int domain, cpu;

	for (domain = 0; domain < sim_nr_freq_domains; domain++) {
		struct cpumask span = { };

		if (!sim_freq_domains[domain].opp[0].power_mw)
			continue;
		for (cpu = 0; cpu < sim_nr_cpus; cpu++)
			if (sim_cpu_topo[cpu].domain == domain)
				cpumask_set_cpu(cpu, &span);
		energy[domain] = sim_energy_domain(&sim_freq_domains[domain], &span);
	}
}
