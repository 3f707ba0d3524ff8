// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "cpus.h"

#define CPU	"/devices/system/cpu"

/* Tests put a recorded tree in the place of /sys. */
static const char *sys_root(void)
{
	const char *root = getenv("CPUIDLE_SMT_SYSFS");

	return root ? root : "/sys";
}

bool read_sys(char *text, size_t size, const char *fmt, ...)
{
	char path[500];
	va_list args;
	FILE *file;
	bool read;
	int length;

	length = snprintf(path, sizeof(path), "%s", sys_root());
	if (length >= (int)sizeof(path))
		return false;
	va_start(args, fmt);
	vsnprintf(path + length, sizeof(path) - length, fmt, args);
	va_end(args);
	file = fopen(path, "r");
	if (!file)
		return false;
	read = fgets(text, size, file);
	fclose(file);
	if (read)
		text[strcspn(text, "\n")] = '\0';
	return read;
}

bool in_cpulist(const char *list, int cpu)
{
	char *at = (char *)list;

	while (*at) {
		long first = strtol(at, &at, 10), last = first;

		if (*at == '-')
			last = strtol(at + 1, &at, 10);
		if (first <= cpu && cpu <= last)
			return true;
		if (*at != ',')
			break;
		at++;
	}
	return false;
}

bool siblings_of(int cpu, char *list, size_t size)
{
	return read_sys(list, size, CPU "/cpu%d/topology/core_cpus_list", cpu) ||
	       read_sys(list, size, CPU "/cpu%d/topology/thread_siblings_list", cpu);
}

bool is_online(int cpu)
{
	char list[4096];

	/* Where sysfs cannot be seen, the kernel refuses when a thread is to run there. */
	return !read_sys(list, sizeof(list), CPU "/online") || in_cpulist(list, cpu);
}

/* ------------------------------------------------------------------ affinity */

#define SET_BYTES	CPU_ALLOC_SIZE(MAX_CPUS)

static cpu_set_t *new_set(void)
{
	cpu_set_t *set = CPU_ALLOC(MAX_CPUS);

	if (set)
		CPU_ZERO_S(SET_BYTES, set);
	return set;
}

static int set_affinity(const cpu_set_t *set)
{
	return sched_setaffinity(0, SET_BYTES, set) ? errno : 0;
}

int run_on(int cpu)
{
	cpu_set_t *set = new_set();
	int error;

	if (!set)
		return ENOMEM;
	CPU_SET_S(cpu, SET_BYTES, set);
	error = set_affinity(set);
	CPU_FREE(set);
	return error;
}

bool run_beside(const bool taken[MAX_CPUS])
{
	cpu_set_t *set = new_set();
	bool moved = false;

	if (!set)
		return false;
	/* Whatever is not allowed the kernel takes out of the set; an empty one it refuses. */
	for (int cpu = 0; cpu < MAX_CPUS; cpu++)
		if (!taken[cpu])
			CPU_SET_S(cpu, SET_BYTES, set);
	moved = !set_affinity(set);
	CPU_FREE(set);
	return moved;
}
