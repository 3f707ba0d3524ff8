// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/cgroup/cpuset.c: the lines of the domains that it has made anew are many CPUs'.  Without
 * hw.h: 6.1's linux/sched/deadline.h, which both include, may be read once.
 */
#include <linux/cpuset.h>

void shim_register_hot_lines(void);

#define partition_sched_domains(args...)		\
({							\
	(partition_sched_domains)(args);		\
	shim_register_hot_lines();			\
})
#define partition_sched_domains_locked(args...)		\
({							\
	(partition_sched_domains_locked)(args);		\
	shim_register_hot_lines();			\
})

#include <kernel/cgroup/cpuset.c>
