// SPDX-License-Identifier: GPL-2.0-only
/* The machine and its idle states, and keeping tasks on parts of it. */
#include <string.h>
#include "world.h"

struct cpu_set {
	unsigned long bits[MAX_CPUS / 64];
};

static void set_cpu(int cpu, void *set)
{
	((struct cpu_set *)set)->bits[cpu / 64] |= 1UL << cpu % 64;
}

static int is_set(int cpu, const struct cpu_set *set)
{
	return set->bits[cpu / 64] >> cpu % 64 & 1;
}

#ifdef SIMULATED

int wl_cpus(void)
{
	return hw_nr_cpus;
}

int wl_llcs(void)
{
	return hw_nr_llcs;
}

int wl_nodes(void)
{
	return hw_nr_nodes;
}

int wl_cpu(void)
{
	return hw.cpu;
}

int wl_capacity(int cpu)
{
	return hw_cpu_topo[cpu].capacity;
}

int wl_speed(int cpu)
{
	return hw_cpu_speed(cpu);
}

int wl_idle_states(void)
{
	return hw_nr_idle_states;
}

const char *wl_idle_name(int state)
{
	return hw_idle_states[state].name;
}

void wl_idle_read(int cpu, int state, struct wl_idle *idle)
{
	struct kern_idle now;

	kern_idle_stats(cpu, state, &now);
	idle->usage = now.usage;
	idle->time = now.time_ns;
}

static int llc_of(int cpu)
{
	return hw_cpu_topo[cpu].llc;
}

static void pin(const struct cpu_set *set)
{
	int err = kern_setaffinity(&self()->kern, set->bits, hw_nr_cpus);

	if (err)
		wl_refuse("%s cannot be pinned: %s", self()->comm, strerror(-err));
}

static void read_list(const char *list, struct cpu_set *set)
{
	json_t *text = json_string(list);

	json_cpu_list(text, AT(NULL, self()->instance->label), hw_nr_cpus - 1, set_cpu, set);
	json_decref(text);
}

void wl_pin_list(const char *list)
{
	struct cpu_set set = { };

	read_list(list, &set);
	pin(&set);
}

static void allowed(struct cpu_set *set)
{
	static struct kern_setup s;	/* too large for a task's stack */

	if (!kern_get_setup(&self()->kern, &s))
		read_list(s.cpus, set);
}

#else /* on this host */

#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* One line of a file, or "" */
static void read_line(const char *path, char *line, size_t size)
{
	FILE *f = fopen(path, "r");

	line[0] = 0;
	if (!f)
		return;
	if (fgets(line, size, f))
		line[strcspn(line, "\n")] = 0;
	fclose(f);
}

/* "0-3,8" into a set; 0, or -1: not a list of CPUs */
static int parse_list(const char *list, struct cpu_set *set)
{
	*set = (struct cpu_set) { };
	do {
		char *end;
		long first = strtol(list, &end, 10), last = first;

		if (end == list)
			return -1;
		if (*end == '-')
			last = strtol(end + 1, &end, 10);
		if (first < 0 || last < first || last >= MAX_CPUS)
			return -1;
		for (long cpu = first; cpu <= last; cpu++)
			set_cpu(cpu, set);
		list = end;
	} while (*list++ == ',');
	return list[-1] ? -1 : 0;
}

/* The CPUs that share the largest cache of this one. */
static void list_llc(int cpu, char *list, size_t size)
{
	char path[100], line[200];

	snprintf(list, size, "%d", cpu);
	for (int index = 0; ; index++) {
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cache/index%d/shared_cpu_list",
			 cpu, index);
		read_line(path, line, sizeof(line));
		if (!line[0])
			return;
		snprintf(list, size, "%s", line);
	}
}

void arena_read_machine(void)
{
	char list[200], path[100];
	struct cpu_set set;

	arena->cpus = sysconf(_SC_NPROCESSORS_ONLN);
	if (arena->cpus > MAX_CPUS)
		fail("more than %d CPUs", MAX_CPUS);
	for (int cpu = 0; cpu < arena->cpus; cpu++) {
		list_llc(cpu, list, sizeof(list));
		arena->llc_of[cpu] = -1;
		if (!parse_list(list, &set))
			for (int other = 0; other < cpu; other++)
				if (is_set(other, &set))
					arena->llc_of[cpu] = arena->llc_of[other];
		if (arena->llc_of[cpu] < 0)
			arena->llc_of[cpu] = arena->llcs++;
		snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpu_capacity", cpu);
		read_line(path, list, sizeof(list));
		arena->capacity[cpu] = list[0] ? atoi(list) : 1024;
	}
	do {
		snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", ++arena->nodes);
		read_line(path, list, sizeof(list));
	} while (!parse_list(list, &set));
}

int wl_cpus(void)
{
	return arena->cpus;
}

int wl_llcs(void)
{
	return arena->llcs;
}

int wl_nodes(void)
{
	return arena->nodes;
}

int wl_cpu(void)
{
	return sched_getcpu();
}

int wl_capacity(int cpu)
{
	return arena->capacity[cpu];
}

/* Nothing but the kernel's own figure is known. */
int wl_speed(int cpu)
{
	return arena->capacity[cpu];
}

/* ------------------------------------------------------------------ idle states */

#define IDLE_FILE	"/sys/devices/system/cpu/cpu%d/cpuidle/state%d/%s"

static const char *idle_file(int cpu, int state, const char *name)
{
	static __thread char line[80];
	char path[100];

	snprintf(path, sizeof(path), IDLE_FILE, cpu, state, name);
	read_line(path, line, sizeof(line));
	return line;
}

int wl_idle_states(void)
{
	int state = 0;

	while (*idle_file(0, state, "name"))
		state++;
	return state;
}

const char *wl_idle_name(int state)
{
	return idle_file(0, state, "name");
}

void wl_idle_read(int cpu, int state, struct wl_idle *idle)
{
	idle->usage = strtoull(idle_file(cpu, state, "usage"), NULL, 10);
	idle->time = strtoull(idle_file(cpu, state, "time"), NULL, 10) * WL_USEC;
}

/* ------------------------------------------------------------------ keeping tasks on CPUs */

static int llc_of(int cpu)
{
	return arena->llc_of[cpu];
}

static void pin(const struct cpu_set *set)
{
	if (sched_setaffinity(0, sizeof(*set), (const cpu_set_t *)set))
		fail("%s cannot be pinned: %s", wl_self()->name, strerror(errno));
}

void wl_pin_list(const char *list)
{
	struct cpu_set set;

	if (parse_list(list, &set))
		fail("\"%s\" is not a list of CPUs such as 0-3,8", list);
	pin(&set);
}

static void allowed(struct cpu_set *set)
{
	if (sched_getaffinity(0, sizeof(*set), (cpu_set_t *)set))
		fail("the CPUs of %s cannot be read: %s", wl_self()->name, strerror(errno));
}
#endif

/* ------------------------------------------------------------------ the same in both worlds */

void wl_pin_cpus(int first, int count)
{
	struct cpu_set set = { };

	for (int cpu = first; cpu < first + count && cpu < wl_cpus(); cpu++)
		set_cpu(cpu, &set);
	pin(&set);
}

void wl_pin_llcs(int first, int count)
{
	struct cpu_set set = { };

	for (int cpu = 0; cpu < wl_cpus(); cpu++)
		if (llc_of(cpu) >= first && llc_of(cpu) < first + count)
			set_cpu(cpu, &set);
	pin(&set);
}

void wl_move_to(int cpu)
{
	struct cpu_set may = { }, there = { };

	allowed(&may);
	if (cpu >= wl_cpus() || !is_set(cpu, &may))
		return;
	set_cpu(cpu, &there);
	pin(&there);
	pin(&may);
}
