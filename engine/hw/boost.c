// SPDX-License-Identifier: GPL-2.0-only
/*
 * Frequency by the number of active cores of a package, as the hardware itself sets it, whatever
 * governor there is.  The package looks every millisecond at how many of its cores were active
 * since, on average; a core is active while one of its threads is not halted.
 */
#include "inside.h"
#include "json.h"

#define MAX_STEPS	16
#define INTERVAL	MSEC
#define STEP_KHZ	25000

static int nr_steps;			/* 0: the machine has one frequency */
static struct step {
	unsigned int cores, khz;	/* with so many active ones */
} steps[MAX_STEPS];
static unsigned int whole_khz;		/* at which the kernel counts utilisation in full */

static struct package {
	simtime from, since;		/* of the present interval; of the present count */
	uint64_t core_ns;
	unsigned int active, khz;
} packages[HW_MAX_CPUS];
static unsigned char active_threads[HW_MAX_CPUS];	/* by core */
static unsigned char is_active[HW_MAX_CPUS];		/* by CPU */

void boost_read(json_t *obj)
{
	const struct path *at = AT(NULL, "boost");
	json_t *cores = json_need(obj, at, "cores"), *mhz = json_need(obj, at, "mhz");

	json_only(obj, at, "cores", "mhz", "whole_mhz", NULL);
	if (!json_is_array(cores) || !json_array_size(cores) || json_array_size(cores) > MAX_STEPS)
		json_error_at(AT(at, "cores"), "a list of 1 to %d numbers of active cores is expected", MAX_STEPS);
	if (!json_is_array(mhz) || json_array_size(mhz) != json_array_size(cores))
		json_error_at(AT(at, "mhz"), "as many frequencies as cores are expected");
	nr_steps = json_array_size(cores);
	for (int i = 0; i < nr_steps; i++) {
		steps[i].cores = json_int(json_array_get(cores, i), AT_INDEX(AT(at, "cores"), i), 1, HW_MAX_CPUS);
		steps[i].khz = json_num(json_array_get(mhz, i), AT_INDEX(AT(at, "mhz"), i), 1, 10000) * 1000;
		if (i && steps[i].cores <= steps[i - 1].cores)
			json_error_at(AT_INDEX(AT(at, "cores"), i), "the numbers of cores must rise");
		if (i && steps[i].khz > steps[i - 1].khz)
			json_error_at(AT_INDEX(AT(at, "mhz"), i), "more active cores cannot be faster");
	}
	whole_khz = json_get_num(obj, at, "whole_mhz", 1, 10000, steps[0].khz / 1000) * 1000;
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		packages[hw_cpu_topo[cpu].package].khz = steps[0].khz;
		if (hw_cpu_topo[cpu].domain >= 0)
			json_error_at(at, "CPU %d has operating points: a governor sets its frequency", cpu);
	}
}

/* Between two steps in proportion, in the steps of the hardware. */
static unsigned int frequency(uint64_t core_ns, simtime ns)
{
	uint64_t thousandths = core_ns * 1000 / ns;
	int i = 0;

	while (i < nr_steps && thousandths > steps[i].cores * 1000ULL)
		i++;
	if (!i)
		return steps[0].khz;
	if (i == nr_steps)
		return steps[i - 1].khz;
	return (steps[i - 1].khz - (steps[i - 1].khz - steps[i].khz) * (thousandths - steps[i - 1].cores * 1000ULL) /
		((steps[i].cores - steps[i - 1].cores) * 1000ULL)) / STEP_KHZ * STEP_KHZ;
}

static void set_frequency(int package, unsigned int khz)
{
	unsigned int whole = (uint64_t)khz * 1024 / whole_khz;

	packages[package].khz = khz;
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		if (hw_cpu_topo[cpu].package != package)
			continue;
		hw_cpu_topo[cpu].freq_scale = whole < 1024 ? whole : 1024;
		machine.frequency[cpu] = (uint64_t)khz * 1024 / steps[0].khz;
		speed_cpu_changed(cpu);
	}
	if (hw_cpu_topo[hw.cpu].package == package)
		hw.slowdown = cpus[hw.cpu].slowdown;
}

static void count(int package, int change)
{
	struct package *p = &packages[package];
	unsigned int khz;

	if (hw.clk > p->since) {	/* clocks of CPUs differ a little */
		p->core_ns += p->active * (hw.clk - p->since);
		p->since = hw.clk;
	}
	p->active += change;
	if (!hw.live || p->since < p->from + INTERVAL)
		return;
	khz = frequency(p->core_ns, p->since - p->from);
	p->core_ns = 0;
	p->from = p->since;
	if (khz != p->khz)
		set_frequency(package, khz);
}

/* While nothing comes or goes: an interval may be over. */
void boost_look(int cpu)
{
	int package = hw_cpu_topo[cpu].package;

	if (nr_steps && hw.clk >= packages[package].from + INTERVAL)
		count(package, 0);
}

/* A thread halted, or goes on. */
void boost_thread(int cpu)
{
	enum cpu_state s = cpus[cpu].state;
	int active = s == CPU_USER || s == CPU_KERNEL || s == CPU_POLL, core = hw_cpu_topo[cpu].core;

	if (!nr_steps || active == is_active[cpu])
		return;
	is_active[cpu] = active;
	if (active)
		count(hw_cpu_topo[cpu].package, !active_threads[core]++);
	else
		count(hw_cpu_topo[cpu].package, -!--active_threads[core]);
}
