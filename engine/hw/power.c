// SPDX-License-Identifier: GPL-2.0-only
/*
 * Where the time of CPUs and frequency domains goes, by what they take: operating points and idle
 * states.  Counted where either changes; times the machine's figures it is the energy.
 *
 * The clocks of CPUs differ by up to a catch-up, so a change by one may lie before what is counted
 * of another already: amounts are signed, and their sums are exact all the same.
 */
#include <string.h>
#include "inside.h"

static struct {
	struct hw_residency	total;
	long long		busy, idle;		/* of the CPU's account, counted so far */
	simtime			*idle_to;		/* where its idle time belongs at present */
	int			level;			/* idle state, or one of the below */
} of_cpu[HW_MAX_CPUS];

enum { LEVEL_BUSY = -1, LEVEL_OFF = HW_MAX_IDLE_STATES, NR_LEVELS = HW_MAX_IDLE_STATES + 2 };

static struct {
	struct hw_domain_residency	total;
	simtime				counted;	/* up to here */
	int				opp;		/* at present */
	int				cpus[NR_LEVELS];	/* how many are at each level */
} of_domain[HW_MAX_CPUS];

static int top_opp(int domain)
{
	return hw_freq_domains[domain].nr_opps - 1;
}

void power_init(void)
{
	for (int i = 0; i < hw_nr_freq_domains; i++)
		of_domain[i].opp = top_opp(i);
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		of_cpu[cpu].idle_to = &of_cpu[cpu].total.idle[0];
		of_cpu[cpu].level = LEVEL_OFF;
		if (hw_cpu_topo[cpu].domain >= 0)
			of_domain[hw_cpu_topo[cpu].domain].cpus[LEVEL_OFF - LEVEL_BUSY]++;
	}
}

/* Of one in the kernel, which its account does not have yet. */
static long long in_kernel(int cpu)
{
	simtime now = cpu == hw.cpu ? hw.clk : cpus[cpu].clk;

	return cpus[cpu].state == CPU_KERNEL && now > cpus[cpu].mark ? now - cpus[cpu].mark : 0;
}

/* The accounts of CPUs in user mode are settled. */
static void count_busy(int cpu)
{
	long long busy = cpus[cpu].user_ns + cpus[cpu].kernel_ns + in_kernel(cpu);

	of_cpu[cpu].total.opp[of_domain[hw_cpu_topo[cpu].domain].opp] += busy - of_cpu[cpu].busy;
	of_cpu[cpu].busy = busy;
}

static void count_idle(int cpu)
{
	long long idle = cpus[cpu].idle_ns;

	*of_cpu[cpu].idle_to += idle - of_cpu[cpu].idle;
	of_cpu[cpu].idle = idle;
}

/* The part that its CPUs share is as awake as the most awake of them. */
static void count_domain(int domain)
{
	struct hw_domain_residency *total = &of_domain[domain].total;
	int level = LEVEL_BUSY, opp = of_domain[domain].opp;
	long long ns = hw.clk - of_domain[domain].counted;

	while (level < LEVEL_OFF && !of_domain[domain].cpus[level - LEVEL_BUSY])
		level++;
	total->opp[opp] += ns;
	if (level == LEVEL_BUSY)
		total->awake[opp] += ns;
	else if (level < LEVEL_OFF)
		total->idle[level] += ns;
	of_domain[domain].counted = hw.clk;
}

static void set_level(int cpu, int level)
{
	int domain = hw_cpu_topo[cpu].domain;

	if (level == of_cpu[cpu].level)
		return;
	count_domain(domain);
	of_domain[domain].cpus[of_cpu[cpu].level - LEVEL_BUSY]--;
	of_domain[domain].cpus[level - LEVEL_BUSY]++;
	of_cpu[cpu].level = level;
}

static int is_counted(int cpu)
{
	return hw_cpu_topo[cpu].domain >= 0;
}

void power_cpu_idle(int cpu, int state)
{
	if (!is_counted(cpu))
		return;
	count_idle(cpu);
	of_cpu[cpu].idle_to = &of_cpu[cpu].total.idle[state];
	set_level(cpu, state);
}

/* The part that it shares with others is still on, or on again. */
void power_cpu_changes(int cpu, int state)
{
	if (!is_counted(cpu))
		return;
	count_idle(cpu);
	of_cpu[cpu].idle_to = &of_cpu[cpu].total.change[state];
	set_level(cpu, 0);
}

void power_cpu_busy(int cpu)
{
	if (is_counted(cpu))
		set_level(cpu, LEVEL_BUSY);
}

void power_cpu_off(int cpu)
{
	if (is_counted(cpu))
		set_level(cpu, LEVEL_OFF);
}

/* The domain's frequency is about to change. */
void power_frequency(int domain, unsigned int khz)
{
	const struct hw_freq_domain *d = &hw_freq_domains[domain];

	hw_settle_power();
	for (of_domain[domain].opp = 0; d->opp[of_domain[domain].opp].khz < khz; )
		of_domain[domain].opp++;
	of_domain[domain].total.changes++;
}

void hw_settle_power(void)
{
	hw_settle_accounts();
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		if (is_counted(cpu)) {
			count_busy(cpu);
			count_idle(cpu);
		}
	for (int i = 0; i < hw_nr_freq_domains; i++)
		count_domain(i);
}

const struct hw_residency *hw_cpu_residency(int cpu)
{
	return &of_cpu[cpu].total;
}

const struct hw_domain_residency *hw_domain_residency(int domain)
{
	return &of_domain[domain].total;
}
