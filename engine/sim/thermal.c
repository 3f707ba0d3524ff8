// SPDX-License-Identifier: GPL-2.0-only
/*
 * How warm the CPUs are: one resistance to the surroundings, one heat capacity.  What a busy
 * CPU takes is the power of its operating point; an idle one takes nothing.  All integer.
 */
#include "sim.h"

struct sim_thermal sim_thermal;

static long long uk;			/* microkelvin above 0 Celsius */
static simtime counted;			/* energy is counted up to here */
static simtime busy[SIM_MAX_CPUS];	/* of each CPU up to there */

static unsigned int power_now(const struct sim_freq_domain *d)
{
	int i = 0;

	while (d->opp[i].khz < d->now_khz)
		i++;
	return d->opp[i].power_mw;
}

/* Of all CPUs since then, in mW * ns. */
static unsigned long long energy(void)
{
	unsigned long long sum = 0;

	cpu_settle_accounts();
	for (int i = 0; i < sim_nr_cpus; i++) {
		simtime now = sim_cpu_busy_ns(i);

		if (sim_cpu_topo[i].domain >= 0)
			sum += (now - busy[i]) * power_now(&sim_freq_domains[sim_cpu_topo[i].domain]);
		busy[i] = now;
	}
	return sum;
}

/* Where the temperature would end: K/W * mW is mK. */
static long long target(unsigned long long mw)
{
	return sim_thermal.ambient * 1000LL + sim_thermal.resistance * (long long)(sim_thermal.base_mw + mw);
}

void thermal_start(void)
{
	uk = target(0);
}

/* The exponential in steps of half the time constant, each by its first Pade approximant: good to 1 %. */
static void approach(long long end, long long us)
{
	long long constant = sim_thermal.resistance * (long long)sim_thermal.heat_capacity, step;

	for (; us > 0; us -= step) {
		step = us < constant / 2 + 1 ? us : constant / 2 + 1;
		uk += (end - uk) * step / (constant + step / 2);
	}
}

void thermal_count(void)
{
	simtime passed;

	if (!sim_thermal.resistance || sim.clk < counted + 1000)
		return;
	passed = sim.clk - counted;
	approach(target(energy() / passed), passed / 1000);
	counted = sim.clk;
}

int sim_temperature(void)
{
	thermal_count();
	return uk / 1000;
}
