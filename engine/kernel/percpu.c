// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU memory: one copy of the static area for each CPU, with room for dynamic allocations
 * behind it.  As in mm/percpu.c, more comes in chunks once that is full: what waits for RCU to be
 * freed can be much.
 */
#include <linux/bitmap.h>
#include <linux/percpu.h>
#include "shim.h"

extern char __per_cpu_start[], __per_cpu_end[];

/* With PSI each group takes three lines. */
#define DYNAMIC_BYTES	(IS_ENABLED(CONFIG_PSI) ? 4UL << 20 : 64UL << 10)
#define SLOT_BYTES	8UL
#define NR_SLOTS	(DYNAMIC_BYTES / SLOT_BYTES)

#define MOST_CHUNKS	64

unsigned long __per_cpu_offset[NR_CPUS];
static unsigned long unit_bytes; /* from one CPU's copy to the next one's, in every chunk */

static struct chunk {
	char *area; /* as a per-CPU address; aligned to a line in each copy */
	DECLARE_BITMAP(used, NR_SLOTS);
	DECLARE_BITMAP(last, NR_SLOTS);		/* the last slot of each allocation */
} chunks[MOST_CHUNKS];
static unsigned int nr_chunks;

void shim_setup_percpu(void)
{
	unsigned long size = __per_cpu_end - __per_cpu_start;
	unsigned long dynamic_at = ALIGN(size, L1_CACHE_BYTES);
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
	chunks[nr_chunks++].area = __per_cpu_start + dynamic_at;
}

bool shim_is_percpu(const void *at)
{
	return (unsigned long)at - (unsigned long)__per_cpu_start - __per_cpu_offset[0] < unit_bytes * hw_nr_cpus;
}

/* One whose copies lie as far apart as the first one's, so that the same offsets lead to them. */
static struct chunk *new_chunk(void)
{
	char *area;

	if (nr_chunks == MOST_CHUNKS)
		hw_die("per-CPU space used up", __FILE__, __LINE__);
	area = (char *)ALIGN((unsigned long)hw_reserve(unit_bytes * hw_nr_cpus + L1_CACHE_BYTES), L1_CACHE_BYTES);
	chunks[nr_chunks].area = area - __per_cpu_offset[0];
	return &chunks[nr_chunks++];
}

static char *take(struct chunk *c, unsigned long slots, unsigned long align_mask)
{
	unsigned long first = bitmap_find_next_zero_area(c->used, NR_SLOTS, 0, slots, align_mask);

	if (first >= NR_SLOTS)
		return NULL;
	bitmap_set(c->used, first, slots);
	__set_bit(first + slots - 1, c->last);
	return c->area + first * SLOT_BYTES;
}

void __percpu *shim_alloc_percpu(size_t size, size_t align)
{
	unsigned long slots = DIV_ROUND_UP(size, SLOT_BYTES);
	unsigned long align_mask = max(align, SLOT_BYTES) / SLOT_BYTES - 1;
	char *area = NULL;
	unsigned int i;
	int cpu;

	if (align > L1_CACHE_BYTES)
		hw_die("per-CPU memory is aligned to a cache line at most", __FILE__, __LINE__);
	if (!slots || slots > NR_SLOTS)
		hw_die("per-CPU memory of no size, or larger than all there is", __FILE__, __LINE__);
	for (i = 0; i < nr_chunks && !area; i++)
		area = take(&chunks[i], slots, align_mask);
	if (!area)
		area = take(new_chunk(), slots, align_mask);
	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		memset(raw_per_cpu_ptr(area, cpu), 0, slots * SLOT_BYTES);
	return (void __percpu *)area;
}

static struct chunk *chunk_of(const char *ptr)
{
	unsigned int i;

	for (i = 0; i < nr_chunks; i++)
		if ((unsigned long)(ptr - chunks[i].area) < DYNAMIC_BYTES)
			return &chunks[i];
	hw_die("free_percpu() of what was not allocated", __FILE__, __LINE__);
}

void free_percpu(void __percpu *ptr)
{
	unsigned long first, end;
	struct chunk *c;

	if (!ptr)
		return;
	c = chunk_of((char *)ptr);
	first = ((char *)ptr - c->area) / SLOT_BYTES;
	end = find_next_bit(c->last, NR_SLOTS, first);
	__clear_bit(end, c->last);
	bitmap_clear(c->used, first, end - first + 1);
}
