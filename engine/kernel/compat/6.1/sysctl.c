// SPDX-License-Identifier: GPL-2.0-only
/* 6.1's tables end with an empty entry. */
#include <linux/sysctl.h>
#include "../../sim.h"

void __register_sysctl_init(const char *path, struct ctl_table *table, const char *table_name)
{
	for (; table->procname; table++)
		sim_add_sysctl(path, table);
}

struct ctl_table_header *register_sysctl(const char *path, struct ctl_table *table)
{
	__register_sysctl_init(path, table, NULL);
	return NULL;
}

void arch_smp_send_reschedule(int cpu);

void smp_send_reschedule(int cpu)
{
	arch_smp_send_reschedule(cpu);
}
