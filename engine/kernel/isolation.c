// SPDX-License-Identifier: GPL-2.0-only
/*
 * isolcpus=, as on the kernel's command line, and the memory it takes before there are allocators.
 */
#include <linux/memblock.h>
#include <linux/sched/isolation.h>
#include "shim.h"

static const char *isolcpus;

void kern_isolate(const char *cpus)
{
	isolcpus = cpus;
}

/* Parameters are parsed before sched_init(). */
void shim_setup_isolation(void)
{
	char cpus[KERN_ISOLCPUS];

	if (isolcpus && strscpy(cpus, isolcpus, sizeof(cpus)) > 0)
		shim_isolate(cpus);
}

void kern_isolated(char *buf, unsigned long size)
{
	cpumask_t mask;

	cpumask_andnot(&mask, cpu_possible_mask, housekeeping_cpumask(HK_TYPE_DOMAIN));
	scnprintf(buf, size, "%*pbl", cpumask_pr_args(&mask));
}

#ifdef memblock_alloc_or_panic
void *__memblock_alloc_or_panic(phys_addr_t size, phys_addr_t align, const char *func)
{
	return hw_zalloc(size, align);
}

void memblock_free(void *ptr, size_t size)
{
	hw_free(ptr);
}
#endif
