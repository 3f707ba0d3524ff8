// SPDX-License-Identifier: GPL-2.0-only
/*
 * How warm the CPUs are: one resistance to the surroundings, one heat capacity.  What a busy
 * CPU takes is the power of its operating point; an idle one takes nothing.  All integer.
 */
#include "inside.h"
#include "json.h"

struct hw_thermal hw_thermal;

static long long uk;			/* microkelvin above 0 Celsius */
static simtime counted;			/* energy is counted up to here */
static unsigned long long taken;	/* by then */

/* Of all busy CPUs since boot, in mW * ns. */
static unsigned long long energy(void)
{
	unsigned long long sum = 0;

	hw_settle_power();
	for (int i = 0; i < hw_nr_cpus; i++) {
		int domain = hw_cpu_topo[i].domain;

		for (int opp = 0; domain >= 0 && opp < hw_freq_domains[domain].nr_opps; opp++)
			sum += hw_cpu_residency(i)->opp[opp] * hw_freq_domains[domain].opp[opp].power_mw;
	}
	return sum;
}

/* Where the temperature would end: K/W * mW is mK. */
static long long target(unsigned long long mw)
{
	return hw_thermal.ambient * 1000LL + hw_thermal.resistance * (long long)(hw_thermal.base_mw + mw);
}

static int degrees(json_t *obj, const struct path *at, const char *key, double min)
{
	return json_num(json_need(obj, at, key), AT(at, key), min, 200) * 1000;
}

static void check_powers(void)
{
	int known = 0;

	for (int i = 0; i < hw_nr_freq_domains; i++)
		known += hw_freq_domains[i].opp[0].power_mw != 0;
	if (!known || known < hw_nr_freq_domains)
		json_error_at(AT(NULL, "thermal"), "the power of the CPUs' operating points is missing");
}

void thermal_read(json_t *obj)
{
	const struct path *at = AT(NULL, "thermal");

	json_only(obj, at, "ambient", "base_mw", "resistance", "heat_capacity", "trip", "hysteresis",
		  "polling", "passive_polling", NULL);
	check_powers();
	hw_thermal.ambient = degrees(obj, at, "ambient", -50);
	hw_thermal.trip = degrees(obj, at, "trip", -50);
	hw_thermal.hysteresis = degrees(obj, at, "hysteresis", 0);
	hw_thermal.resistance = json_num(json_need(obj, at, "resistance"), AT(at, "resistance"), 0.001, 1000) * 1000;
	hw_thermal.heat_capacity =
		json_num(json_need(obj, at, "heat_capacity"), AT(at, "heat_capacity"), 0.001, 10000) * 1000;
	hw_thermal.base_mw = json_num(json_need(obj, at, "base_mw"), AT(at, "base_mw"), 0, 1000000);
	hw_thermal.polling_ms = json_time_up_to(json_need(obj, at, "polling"), AT(at, "polling"),
						3600 * SEC) / MSEC;
	hw_thermal.passive_ms = json_time_up_to(json_need(obj, at, "passive_polling"),
						AT(at, "passive_polling"), 3600 * SEC) / MSEC;
	if (!hw_thermal.polling_ms || !hw_thermal.passive_ms)
		json_error_at(at, "polling and passive_polling are 1 ms or more");
	uk = target(0);
}

/*
 * The exponential in steps of half the time constant, each by its first Pade approximant: good to 1
 * %.
 */
static void approach(long long end, long long us)
{
	long long constant = hw_thermal.resistance * (long long)hw_thermal.heat_capacity, step;

	for (; us > 0; us -= step) {
		step = us < constant / 2 + 1 ? us : constant / 2 + 1;
		uk += (end - uk) * step / (constant + step / 2);
	}
}

void thermal_count(void)
{
	unsigned long long now;
	simtime passed;

	if (!hw_thermal.resistance || hw.clk < counted + 1000)
		return;
	passed = hw.clk - counted;
	now = energy();
	approach(target((now - taken) / passed), passed / 1000);
	taken = now;
	counted = hw.clk;
}

int hw_temperature(void)
{
	thermal_count();
	return uk / 1000;
}
