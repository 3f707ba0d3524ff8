// SPDX-License-Identifier: GPL-2.0-only
/* 6.1's tables end with an empty entry. */
#include <linux/sysctl.h>
#include <linux/sched/sysctl.h>
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

/* In 6.1 this knob's entry stands in kernel/sysctl.c's big table. */
static struct ctl_table numa_balancing_table[] = {
	{ .procname = "numa_balancing", .mode = 0644, .maxlen = sizeof(int),
	  .proc_handler = sysctl_numa_balancing, .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_FOUR },
	{ }
};

void sim_sysctl_series(void)
{
	__register_sysctl_init("kernel", numa_balancing_table, NULL);
}

void arch_smp_send_reschedule(int cpu);

void smp_send_reschedule(int cpu)
{
	arch_smp_send_reschedule(cpu);
}
