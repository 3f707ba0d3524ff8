/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Without CONFIG_CPUSETS the kernel rebuilds the domains while a CPU may be on its way off-line:
 * after a change of the cpufreq governor.  Here it waits for that CPU, as it does with
 * CONFIG_CPUSETS.
 */
#ifndef SHIM_CPUSET_H
#define SHIM_CPUSET_H

#ifdef CONFIG_CPUSETS
#include_next <linux/cpuset.h>
#else
#define rebuild_sched_domains rebuild_sched_domains_cpuslocked
#include_next <linux/cpuset.h>
#undef rebuild_sched_domains

void rebuild_sched_domains(void);
#endif

#endif
