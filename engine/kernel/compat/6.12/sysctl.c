// SPDX-License-Identifier: GPL-2.0-only
/* 6.12 passes the number of entries of a table. */
#include <linux/sysctl.h>
#include "../../sim.h"

void __register_sysctl_init(const char *path, struct ctl_table *table, const char *table_name,
			    size_t table_size)
{
	size_t i;

	for (i = 0; i < table_size; i++)
		sim_add_sysctl(path, &table[i]);
}

struct ctl_table_header *register_sysctl_sz(const char *path, struct ctl_table *table,
					    size_t table_size)
{
	__register_sysctl_init(path, table, NULL, table_size);
	return NULL;
}

/* All knobs of the scheduler are registered by itself. */
void sim_sysctl_series(void)
{
}
