// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU memory: one copy of the static area for each CPU, with room for dynamic allocations. */
#include <linux/bitmap.h>
#include <linux/percpu.h>
#include "shim.h"

extern char __per_cpu_start[], __per_cpu_end[];

/* With PSI each group takes three lines. */
#define DYNAMIC_BYTES	(IS_ENABLED(CONFIG_PSI) ? 4UL << 20 : 64UL << 10)
#define SLOT_BYTES	8UL
#define NR_SLOTS	(DYNAMIC_BYTES / SLOT_BYTES)

unsigned long __per_cpu_offset[NR_CPUS];
static char *dynamic;				/* as a per-CPU address; aligned to a line in each copy */
static DECLARE_BITMAP(used, NR_SLOTS);
static DECLARE_BITMAP(last, NR_SLOTS);		/* the last slot of each allocation */

void shim_setup_percpu(void)
{
	unsigned long size = __per_cpu_end - __per_cpu_start;
	unsigned long dynamic_at = ALIGN(size, L1_CACHE_BYTES), unit_bytes;
	char *area;
	int cpu;

	/* An odd number of lines: the CPUs' runqueues must not share cache sets of the host. */
	unit_bytes = ALIGN(dynamic_at + DYNAMIC_BYTES, PAGE_SIZE) + 5 * L1_CACHE_BYTES;
	area = hw_zalloc_huge(unit_bytes * hw_nr_cpus);
	for (cpu = 0; cpu < hw_nr_cpus; cpu++) {
		memcpy(area + cpu * unit_bytes, __per_cpu_start, size);
		__per_cpu_offset[cpu] = (unsigned long)(area + cpu * unit_bytes) -
					(unsigned long)__per_cpu_start;
	}
	dynamic = __per_cpu_start + dynamic_at;
}

void __percpu *shim_alloc_percpu(size_t size, size_t align)
{
	unsigned long slots = DIV_ROUND_UP(size, SLOT_BYTES), first;
	unsigned long align_mask = max(align, SLOT_BYTES) / SLOT_BYTES - 1;
	char *area;
	int cpu;

	if (align > L1_CACHE_BYTES)
		hw_die("per-CPU memory is aligned to a cache line at most", __FILE__, __LINE__);
	first = bitmap_find_next_zero_area(used, NR_SLOTS, 0, slots, align_mask);
	if (!slots || first >= NR_SLOTS)
		hw_die("per-CPU space used up", __FILE__, __LINE__);
	bitmap_set(used, first, slots);
	__set_bit(first + slots - 1, last);
	area = dynamic + first * SLOT_BYTES;
	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		memset(raw_per_cpu_ptr(area, cpu), 0, slots * SLOT_BYTES);
	return (void __percpu *)area;
}

void free_percpu(void __percpu *ptr)
{
	unsigned long first = ((char *)ptr - dynamic) / SLOT_BYTES, end;

	if (!ptr)
		return;
	end = find_next_bit(last, NR_SLOTS, first);
	__clear_bit(end, last);
	bitmap_clear(used, first, end - first + 1);
}
