// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU memory: one copy of the static area for each CPU, with room for dynamic allocations. */
#include <linux/percpu.h>
#include "sim.h"

extern char __per_cpu_start[], __per_cpu_end[];

#define DYNAMIC_BYTES	(64UL << 10)

unsigned long __per_cpu_offset[NR_CPUS];
static unsigned long dynamic_used;	/* offset of the first free byte in each copy */
static unsigned long unit_bytes;

void sim_setup_percpu(void)
{
	unsigned long size = __per_cpu_end - __per_cpu_start;
	char *area;
	int cpu;

	/* An odd number of lines: the CPUs' runqueues must not share cache sets of the host. */
	unit_bytes = ALIGN(size + DYNAMIC_BYTES, PAGE_SIZE) + 5 * L1_CACHE_BYTES;
	area = sim_zalloc_huge(unit_bytes * sim_nr_cpus);
	for (cpu = 0; cpu < sim_nr_cpus; cpu++) {
		memcpy(area + cpu * unit_bytes, __per_cpu_start, size);
		__per_cpu_offset[cpu] = (unsigned long)(area + cpu * unit_bytes) -
					(unsigned long)__per_cpu_start;
	}
	dynamic_used = ALIGN(size, L1_CACHE_BYTES);
}

void __percpu *sim_alloc_percpu(size_t size, size_t align)
{
	unsigned long offset = ALIGN(dynamic_used, max_t(size_t, align, 8));

	if (offset + size > unit_bytes)
		sim_die("per-CPU space used up", __FILE__, __LINE__);
	dynamic_used = offset + size;
	return (void __percpu *)(__per_cpu_start + offset);
}

/* Domains are rebuilt a few times in a run at most; their few bytes stay. */
void free_percpu(void __percpu *ptr)
{
}
