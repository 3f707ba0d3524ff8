// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequencies and energy of the measured window: how long each frequency domain was at each
 * operating point, what CPUs took there and in idle states, and who ran on CPUs of which capacity.
 */
#include <string.h>
#include "energy.h"

static struct hw_residency cpu_base[HW_MAX_CPUS];
static struct hw_domain_residency domain_base[HW_MAX_CPUS];

void energy_window_begin(void)
{
	hw_settle_power();
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		cpu_base[cpu] = *hw_cpu_residency(cpu);
	for (int i = 0; i < hw_nr_freq_domains; i++)
		domain_base[i] = *hw_domain_residency(i);
}

/* Since the window began; below 0 by a moment where a clock was ahead of the others. */
static double seconds(simtime now, simtime base)
{
	long long ns = now - base;

	return ns / 1e9;
}

/* In joules. */
struct energy {
	double busy, idle, cluster;
};

static double sum(const struct energy *e)
{
	return e->busy + e->idle + e->cluster;
}

static void add_cpu(struct energy *e, const struct hw_freq_domain *d, int cpu)
{
	const struct hw_residency *now = hw_cpu_residency(cpu), *base = &cpu_base[cpu];

	for (int i = 0; i < d->nr_opps; i++)
		e->busy += seconds(now->opp[i], base->opp[i]) * d->opp[i].power_mw / 1e3;
	for (int i = 0; i < hw_nr_idle_states; i++)
		e->idle += (seconds(now->idle[i], base->idle[i]) * d->idle_mw[i] +
			    seconds(now->change[i], base->change[i]) * d->change_mw[i]) / 1e3;
}

static struct energy energy_of(int domain)
{
	const struct hw_domain_residency *now = hw_domain_residency(domain), *base = &domain_base[domain];
	const struct hw_freq_domain *d = &hw_freq_domains[domain];
	struct energy e = { };

	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		if (hw_cpu_topo[cpu].domain == domain)
			add_cpu(&e, d, cpu);
	for (int i = 0; i < d->nr_opps; i++)
		e.cluster += seconds(now->awake[i], base->awake[i]) * d->opp[i].cluster_mw / 1e3;
	for (int i = 0; i < hw_nr_idle_states; i++)
		e.cluster += seconds(now->idle[i], base->idle[i]) * d->cluster_idle_mw[i] / 1e3;
	return e;
}

/* Every CPU's power is known: busy, and idle as well. */
static int knows_all(int idle)
{
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		int domain = hw_cpu_topo[cpu].domain;

		if (domain < 0 || !hw_freq_domains[domain].opp[0].power_mw ||
		    (idle && !hw_freq_domains[domain].knows_idle))
			return 0;
	}
	return 1;
}

/* ------------------------------------------------------------------ writing */

#define set_num(obj, key, value)	json_object_set_new(obj, key, json_real(value))

static json_t *seconds_json(int nr, const simtime now[], const simtime base[])
{
	json_t *list = json_array();

	for (int i = 0; i < nr; i++)
		json_array_append_new(list, json_real(seconds(now[i], base[i])));
	return list;
}

static json_t *cpus_json(int domain)
{
	json_t *list = json_array();

	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		const struct hw_residency *now = hw_cpu_residency(cpu), *base = &cpu_base[cpu];
		json_t *obj;

		if (hw_cpu_topo[cpu].domain != domain)
			continue;
		obj = json_pack("{s:i}", "cpu", cpu);
		json_object_set_new(obj, "busy_s", seconds_json(hw_freq_domains[domain].nr_opps, now->opp, base->opp));
		json_object_set_new(obj, "idle_s", seconds_json(hw_nr_idle_states, now->idle, base->idle));
		json_object_set_new(obj, "change_s", seconds_json(hw_nr_idle_states, now->change, base->change));
		json_array_append_new(list, obj);
	}
	return list;
}

json_t *energy_domains_json(void)
{
	json_t *list = json_array();
	int busy = knows_all(0), all = knows_all(1);

	hw_settle_power();
	for (int i = 0; i < hw_nr_freq_domains; i++) {
		const struct hw_domain_residency *now = hw_domain_residency(i), *base = &domain_base[i];
		const struct hw_freq_domain *d = &hw_freq_domains[i];
		struct energy e = energy_of(i);
		json_t *obj = json_object(), *mhz = json_array();

		for (int opp = 0; opp < d->nr_opps; opp++)
			json_array_append_new(mhz, json_real(d->opp[opp].khz / 1e3));
		json_object_set_new(obj, "mhz", mhz);
		json_object_set_new(obj, "seconds", seconds_json(d->nr_opps, now->opp, base->opp));
		json_object_set_new(obj, "awake_s", seconds_json(d->nr_opps, now->awake, base->awake));
		json_object_set_new(obj, "idle_s", seconds_json(hw_nr_idle_states, now->idle, base->idle));
		json_object_set_new(obj, "changes", json_integer(now->changes - base->changes));
		json_object_set_new(obj, "cpus", cpus_json(i));
		if (busy)
			set_num(obj, "busy_j", e.busy);
		if (all) {
			set_num(obj, "idle_j", e.idle);
			set_num(obj, "cluster_j", e.cluster);
			set_num(obj, "joules", sum(&e));
		}
		json_array_append_new(list, obj);
	}
	return list;
}

json_t *energy_kinds_json(void)
{
	json_t *list = json_array();

	hw_settle_accounts();
	for (const struct hw_account *a = hw_first_account; a; a = a->next)
		for (int kind = 0; a->tasks && kind < hw_nr_kinds; kind++)
			json_array_append_new(list, json_pack("{s:s,s:i,s:f}", "group", a->name, "capacity",
							      (int)hw_kind_capacity[kind], "seconds",
							      seconds(a->ran[kind], 0)));
	return list;
}
