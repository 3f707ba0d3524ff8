// SPDX-License-Identifier: GPL-2.0-only
/* Tables of sysctls as the linked sources register them. */
#include <linux/sysctl.h>
#include <linux/sched/sysctl.h>
#include "shim.h"

#ifdef TREE_HAS_SYSCTL_SIZE
void __register_sysctl_init(const char *path, SHIM_SYSCTL *table, const char *table_name,
			    size_t table_size)
{
	size_t i;

	/* Before 6.11 the empty entry that ends a table is counted. */
	for (i = 0; i < table_size && table[i].procname; i++)
		shim_add_sysctl(path, &table[i]);
}

struct ctl_table_header *register_sysctl_sz(const char *path, SHIM_SYSCTL *table,
					    size_t table_size)
{
	__register_sysctl_init(path, table, NULL, table_size);
	return NULL;
}
#else
/* Tables end with an empty entry. */
void __register_sysctl_init(const char *path, SHIM_SYSCTL *table, const char *table_name)
{
	for (; table->procname; table++)
		shim_add_sysctl(path, table);
}

struct ctl_table_header *register_sysctl(const char *path, SHIM_SYSCTL *table)
{
	__register_sysctl_init(path, table, NULL);
	return NULL;
}
#endif

#ifdef TREE_HAS_SYSCTL_NUMA_APART
/* This knob's entry stands in kernel/sysctl.c's big table. */
static struct ctl_table numa_balancing_table[] = {
	{ .procname = "numa_balancing", .mode = 0644, .maxlen = sizeof(int),
	  .proc_handler = sysctl_numa_balancing, .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_FOUR },
	{ }
};

void shim_sysctl_apart(void)
{
	shim_add_sysctl("kernel", &numa_balancing_table[0]);
}
#else
/* All knobs of the scheduler are registered by itself. */
void shim_sysctl_apart(void)
{
}
#endif
