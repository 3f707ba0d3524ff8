// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency domains of the machine under the kernel's own schedutil governor, or always as high as
 * allowed.
 */
#include <linux/cpufreq.h>
#include <linux/device.h>
#include <linux/energy_model.h>
#include <trace/events/power.h>
#include "shim.h"

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
	int domain = hw_cpu_topo[cpu].domain;

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
	policy->fast_switch_enabled = policy->fast_switch_possible;
}

void cpufreq_disable_fast_switch(struct cpufreq_policy *policy)
{
	policy->fast_switch_enabled = false;
}

/* The lowest operating point that is fast enough, within the policy's limits. */
unsigned int cpufreq_driver_resolve_freq(struct cpufreq_policy *policy, unsigned int target)
{
	const struct hw_freq_domain *d = policy->driver_data;
	int i = 0;

	target = clamp_val(target, policy->min, policy->max);
	while (i < d->nr_opps - 1 && d->opp[i].khz < target)
		i++;
	return d->opp[i].khz;
}

static void change_frequency(struct cpufreq_policy *policy, unsigned int khz)
{
	const struct hw_freq_domain *d = policy->driver_data;
	int cpu;

	if (khz == policy->cur)
		return;
	policy->cur = khz;
	hw_set_frequency(d - hw_freq_domains, khz);
	for_each_cpu(cpu, policy->cpus)
		trace_cpu_frequency(khz, cpu);
}

unsigned int cpufreq_driver_fast_switch(struct cpufreq_policy *policy, unsigned int target)
{
	unsigned int khz = cpufreq_driver_resolve_freq(policy, target);

	change_frequency(policy, khz);
	return khz;
}

/*
 * A driver that asks firmware over a mailbox: the caller waits for the answer, which comes when
 * the clock and its voltage have changed.
 */
int __cpufreq_driver_target(struct cpufreq_policy *policy, unsigned int target, unsigned int relation)
{
	const struct hw_freq_domain *d = policy->driver_data;
	unsigned int khz = cpufreq_driver_resolve_freq(policy, target);
	ktime_t wait = ns_to_ktime(d->transition_ns);

	if (khz == policy->cur)
		return 0;
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&wait, HRTIMER_MODE_REL);
	change_frequency(policy, khz);
	return 0;
}

bool cpufreq_driver_has_adjust_perf(void)
{
	return false;
}

bool cpufreq_driver_test_flags(u16 flags)
{
	return false;
}

/*
 * drivers/cpufreq/cpufreq.c: schedutil's rate limit follows from how long a change takes.  Trees
 * with LATENCY_MULTIPLIER (until 6.11) take a thousand times that, 10 ms at most; later ones once
 * and a half.  No driver of a described machine sets policy->transition_delay_us, which would go
 * before.
 */
unsigned int cpufreq_policy_transition_delay_us(struct cpufreq_policy *policy)
{
	unsigned int latency = policy->cpuinfo.transition_latency / NSEC_PER_USEC;

	if (!latency)
		return USEC_PER_MSEC;
#ifdef LATENCY_MULTIPLIER
	return min(latency * LATENCY_MULTIPLIER, (unsigned int)(10 * USEC_PER_MSEC));
#else
	return latency + latency / 2;
#endif
}

bool have_governor_per_policy(void)
{
	return true;
}

/* drivers/cpufreq/cpufreq_governor_attr_set.c: a governor's tunables, of one policy each */
static ssize_t show_tunable(struct kobject *kobj, struct attribute *attr, char *buf)
{
	return container_of(attr, struct governor_attr, attr)->show(to_gov_attr_set(kobj), buf);
}

static ssize_t store_tunable(struct kobject *kobj, struct attribute *attr, const char *buf,
			     size_t count)
{
	struct gov_attr_set *set = to_gov_attr_set(kobj);
	ssize_t ret;

	mutex_lock(&set->update_lock);
	ret = container_of(attr, struct governor_attr, attr)->store(set, buf, count);
	mutex_unlock(&set->update_lock);
	return ret;
}

const struct sysfs_ops governor_sysfs_ops = { .show = show_tunable, .store = store_tunable };

struct kobject *get_governor_parent_kobj(struct cpufreq_policy *policy)
{
	return &policy->kobj;
}

void gov_attr_set_init(struct gov_attr_set *attr_set, struct list_head *list_node)
{
	INIT_LIST_HEAD(&attr_set->policy_list);
	mutex_init(&attr_set->update_lock);
	attr_set->usage_count = 1;
	list_add(list_node, &attr_set->policy_list);
}

unsigned int gov_attr_set_put(struct gov_attr_set *attr_set, struct list_head *list_node)
{
	list_del(list_node);
	kobject_put(&attr_set->kobj);
	return 0;
}

/* drivers/cpufreq/cpufreq_performance.c */
static void performance_limits(struct cpufreq_policy *policy)
{
	change_frequency(policy, policy->max);
}

static int nothing_to_do(struct cpufreq_policy *policy)
{
	return 0;
}

static void nothing_to_stop(struct cpufreq_policy *policy)
{
}

static struct cpufreq_governor performance = {
	.name	= "performance",
	.init	= nothing_to_do,
	.exit	= nothing_to_stop,
	.start	= nothing_to_do,
	.stop	= nothing_to_stop,
	.limits	= performance_limits,
};

/* The highest operating point there may be from now on: the scheduler sees the rest as pressure. */
void shim_cap_frequency(int domain, int highest)
{
	struct cpufreq_policy *policy = policies[domain];
	int cpu;

	policy->max = hw_freq_domains[domain].opp[highest].khz;
	policy->governor->limits(policy);
	for_each_cpu(cpu, policy->cpus) {
		unsigned long capacity = arch_scale_cpu_capacity(cpu);

		shim_frequency_pressure(cpu, capacity - capacity * policy->max / policy->cpuinfo.max_freq);
	}
}

/* As cpufreq_set_policy() does it: the old one out, the new one in, EAS comes or goes. */
static int set_governor(struct cpufreq_policy *policy, struct cpufreq_governor *governor)
{
	struct cpufreq_governor *old = policy->governor;
	int ret;

	if (old == governor)
		return 0;
	if (old) {
		old->stop(policy);
		old->exit(policy);
	}
	policy->governor = governor;
	ret = governor->init(policy);
	if (!ret)
		ret = governor->start(policy);
	if (ret)
		return ret;
	governor->limits(policy);
	shim_governor_changed(policy, old);
	return 0;
}

/* ------------------------------------------------------------------ files */

static struct cpufreq_governor *find_governor(const char *name)
{
	return sysfs_streq(name, schedutil->name) ? schedutil :
	       sysfs_streq(name, performance.name) ? &performance : NULL;
}

static ssize_t show_scaling_governor(struct cpufreq_policy *policy, char *buf)
{
	return sprintf(buf, "%s\n", policy->governor->name);
}

static ssize_t store_scaling_governor(struct cpufreq_policy *policy, const char *buf, size_t count)
{
	struct cpufreq_governor *governor = find_governor(buf);
	int ret = governor ? set_governor(policy, governor) : -EINVAL;

	return ret ? ret : count;
}

static ssize_t show_scaling_available_governors(struct cpufreq_policy *policy, char *buf)
{
	return sprintf(buf, "%s %s\n", performance.name, schedutil->name);
}

static ssize_t show_scaling_cur_freq(struct cpufreq_policy *policy, char *buf)
{
	return sprintf(buf, "%u\n", policy->cur);
}

cpufreq_freq_attr_rw(scaling_governor);
cpufreq_freq_attr_ro(scaling_available_governors);
cpufreq_freq_attr_ro(scaling_cur_freq);

static struct attribute *policy_attrs[] = {
	&scaling_governor.attr, &scaling_available_governors.attr, &scaling_cur_freq.attr, NULL
};
ATTRIBUTE_GROUPS(policy);

/* cpuN/cpufreq is a link to its policy */
struct link {
	struct kobject kobj;
	struct cpufreq_policy *policy;
};

static ssize_t show_policy(struct kobject *kobj, struct attribute *attr, char *buf)
{
	return container_of(attr, struct freq_attr, attr)->show(container_of(kobj, struct link, kobj)->policy, buf);
}

static ssize_t store_policy(struct kobject *kobj, struct attribute *attr, const char *buf,
			    size_t count)
{
	const struct freq_attr *of = container_of(attr, struct freq_attr, attr);

	return of->store ? of->store(container_of(kobj, struct link, kobj)->policy, buf, count) : -EACCES;
}

static const struct sysfs_ops policy_ops = { .show = show_policy, .store = store_policy };
static const struct kobj_type policy_type = { .sysfs_ops = &policy_ops, .default_groups = policy_groups };
static const struct kobj_type folder_type = { };

static int add_files(struct cpufreq_policy *policy)
{
	static struct kobject folder;
	int cpu, ret = 0;

	if (!folder.name)
		ret = kobject_init_and_add(&folder, &folder_type, &shim_cpu_root.kobj, "cpufreq");
	if (!ret)
		ret = kobject_init_and_add(&policy->kobj, &folder_type, &folder, "policy%u", policy->cpu);
	for_each_cpu(cpu, policy->cpus) {
		struct link *link = hw_zalloc(sizeof(*link), 64);

		link->policy = policy;
		if (!ret)
			ret = kobject_init_and_add(&link->kobj, &policy_type, &get_cpu_device(cpu)->kobj, "cpufreq");
	}
	return ret;
}

/* ------------------------------------------------------------------ policies */

static void setup_policy(int domain)
{
	struct hw_freq_domain *d = &hw_freq_domains[domain];
	struct cpufreq_policy *policy = hw_zalloc(sizeof(*policy), 64);
	int cpu;

	zalloc_cpumask_var(&policy->cpus, GFP_KERNEL);
	zalloc_cpumask_var(&policy->related_cpus, GFP_KERNEL);
	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		if (hw_cpu_topo[cpu].domain == domain)
			cpumask_set_cpu(cpu, policy->cpus);
	cpumask_copy(policy->related_cpus, policy->cpus);
	policy->cpu = cpumask_first(policy->cpus);
	policy->driver_data = d;
	policy->min = policy->cpuinfo.min_freq = d->opp[0].khz;
	policy->max = policy->cpuinfo.max_freq = policy->cur = d->opp[d->nr_opps - 1].khz;
	policy->cpuinfo.transition_latency = d->transition_ns;
	policy->fast_switch_possible = d->fast_switch;
	policy->dvfs_possible_from_any_cpu = !d->fast_switch;
	init_rwsem(&policy->rwsem);
	policies[domain] = policy;
	if (add_files(policy) || set_governor(policy, d->performance ? &performance : schedutil))
		hw_die("the policy does not start", "cpufreq policy", policy->cpu);
}

void shim_setup_cpufreq(void)
{
	int domain;

	for (domain = 0; domain < hw_nr_freq_domains; domain++)
		setup_policy(domain);
}

/* ------------------------------------------------------------------ energy model */

struct em_perf_domain *em_cpu_get(int cpu)
{
	int domain = hw_cpu_topo[cpu].domain;

	return domain < 0 ? NULL : energy[domain];
}

/* The conditions of EAS, as 6.12's sched_is_eas_possible() has them. */
bool cpufreq_ready_for_eas(const struct cpumask *mask);
bool cpufreq_ready_for_eas(const struct cpumask *mask)
{
	int cpu;

	for_each_cpu(cpu, mask)
		if (!policy_of(cpu) || policy_of(cpu)->governor != schedutil)
			return false;
	return true;
}

bool shim_energy_aware_possible(void)
{
	bool asymmetric = false;
	int cpu;

	for_each_online_cpu(cpu) {
		struct cpufreq_policy *policy = policy_of(cpu);

		if (!policy || policy->governor != schedutil || !em_cpu_get(cpu))
			return false;
		asymmetric |= !!rcu_access_pointer(*raw_per_cpu_ptr(&sd_asym_cpucapacity, cpu));
	}
	return asymmetric && !sched_smt_active();
}

void shim_setup_energy_model(void)
{
	int domain, cpu;

	for (domain = 0; domain < hw_nr_freq_domains; domain++) {
		struct cpumask span = { };

		if (!hw_freq_domains[domain].opp[0].power_mw)
			continue;
		for (cpu = 0; cpu < hw_nr_cpus; cpu++)
			if (hw_cpu_topo[cpu].domain == domain)
				cpumask_set_cpu(cpu, &span);
		energy[domain] = shim_energy_domain(&hw_freq_domains[domain], &span);
	}
}
