/* SPDX-License-Identifier: GPL-2.0-only */
/* Which CPUs there are, which share a core, and running on one of them. */
#ifndef CPUS_H
#define CPUS_H

#include <stdbool.h>
#include <stddef.h>

#define MAX_CPUS	8192

/* Reads /sys<path> up to its newline; false where that cannot be. */
bool read_sys(char *text, size_t size, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* Whether a list such as `0-3,8` names the CPU. */
bool in_cpulist(const char *list, int cpu);

/* The list of the CPUs of a CPU's core, itself included; false where sysfs does not tell. */
bool siblings_of(int cpu, char *list, size_t size);

bool is_online(int cpu);

/* 0, or the errno with which the kernel refuses to run this thread there. */
int run_on(int cpu);

/* Moves this thread to the CPUs it might use before, without those taken; false if none is left. */
bool run_beside(const bool taken[MAX_CPUS]);

#endif
