// SPDX-License-Identifier: GPL-2.0-only
/*
 * isolcpus= and nohz_full=, as on the kernel's command line, and the memory it takes before there
 * are allocators.
 */
#include <linux/memblock.h>
#include <linux/tick.h>
#include <linux/sched/isolation.h>
#include "shim.h"

void tick_nohz_init(void);			/* of kernel/time/tick-internal.h */

static const char *isolcpus, *nohz_full;

void kern_isolate(const char *isolated, const char *tickless)
{
	isolcpus = isolated;
	nohz_full = tickless;
}

/* Parameters are parsed before sched_init(). */
void shim_setup_isolation(void)
{
	char cpus[KERN_ISOLCPUS];

	if (isolcpus && strscpy(cpus, isolcpus, sizeof(cpus)) > 0)
		shim_isolate(cpus);
	if (nohz_full && strscpy(cpus, nohz_full, sizeof(cpus)) > 0)
		shim_leave_tickless(cpus);
}

void kern_isolated(char *buf, unsigned long size)
{
	cpumask_t mask;

	cpumask_andnot(&mask, cpu_possible_mask, housekeeping_cpumask(HK_TYPE_DOMAIN));
	scnprintf(buf, size, "%*pbl", cpumask_pr_args(&mask));
}

void shim_setup_tickless(void)
{
#ifdef CONFIG_NO_HZ_FULL
	tick_nohz_init();
#endif
}

int kern_has_nohz_full(void)
{
	return IS_ENABLED(CONFIG_NO_HZ_FULL);
}

void kern_tickless(char *buf, unsigned long size)
{
#ifdef CONFIG_NO_HZ_FULL
	scnprintf(buf, size, "%*pbl", cpumask_pr_args(tick_nohz_full_mask));
#endif
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
