// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory with a place, as workloads see it: the kernel side knows on which node a
 * page is, cache.c what of it the LLC holds, and speed.c how fast the rest comes.
 */
#include "instance.h"

#define LINE		64UL
#define GRAIN		(64UL << 10)	/* what caches are accounted in */
#define STEP		(256UL << 10)	/* of loops over several regions: so much of each in turn */
#define PASS		(2UL << 20)	/* of loops over one: between two, pages may be marked or move */

struct wl_region {
	struct kern_region *kernel;
	struct hw_grain grain[];
};

static struct wl_region *create(unsigned long bytes, int shared)
{
	unsigned long nr = (bytes + GRAIN - 1) / GRAIN;
	struct wl_region *region = hw_zalloc(sizeof(*region) + nr * sizeof(struct hw_grain), 64);

	region->kernel = kern_region_create(bytes, shared);
	return region;
}

struct wl_region *wl_region(unsigned long bytes)
{
	return create(bytes, 0);
}

struct wl_region *wl_shared_region(unsigned long bytes)
{
	return create(bytes, 1);
}

void wl_bind(struct wl_region *region, int node)
{
	if (node >= hw_nr_nodes)
		wl_refuse("there is no node %d", node);
	kern_region_bind(region->kernel, node);
}

void wl_working_set(struct wl_region *region, unsigned long offset, unsigned long bytes)
{
	kern_working_set(region->kernel, offset, bytes);
}

void refuse_memory(int node)
{
	const struct task *task = self();
	const char *who = task && task->instance ? task->instance->label : "the scenario";

	if (node < 0)
		hw_refuse("%s: its memory does not fit the machine's nodes", who);
	hw_refuse("%s: its memory does not fit node %d, which it is bound to", who, node);
}

/* What the LLC has not of these bytes; now it has them. */
static unsigned long fill(struct wl_region *region, unsigned long offset, unsigned long bytes,
			  enum wl_access access)
{
	unsigned long end = offset + bytes, next, missed = 0;

	for (; offset < end; offset = next) {
		unsigned long start = offset / GRAIN * GRAIN;

		next = start + GRAIN < end ? start + GRAIN : end;
		missed += hw_cache_fill(&region->grain[offset / GRAIN], offset - start, next - start,
				     access == WL_WRITE);
	}
	return missed;
}

static void take(struct task *task, unsigned long bytes, unsigned int mbs, unsigned int memory_share)
{
	if (!bytes)
		return;
	task->memory_share = memory_share;
	kern_run(bytes * 1000 / mbs);
}

/* Goes over memory; a byte that is not in the LLC is traffic so many times. */
static void stream(struct wl_region *region, unsigned long offset, unsigned long bytes,
		   enum wl_access access, unsigned int traffic)
{
	struct task *task = self();
	unsigned int share = task->memory_share;

	if (!hw_machine.thread_bandwidth_mbs)
		wl_refuse("it moves memory, and the machine's description has no memory table");
	while (bytes) {
		unsigned long part = kern_touch(region->kernel, offset, bytes < PASS ? bytes : PASS,
						&task->mem_node);
		unsigned long missed = fill(region, offset, part, access);

		take(task, part - missed, hw_machine.cache_bandwidth_mbs, 0);
		take(task, missed * traffic, hw_machine.thread_bandwidth_mbs, 1024);
		offset += part;
		bytes -= part;
	}
	task->memory_share = share;
}

/* As memset() does, whole lines are written without being read before: both are traffic once. */
void wl_touch(struct wl_region *region, unsigned long offset, unsigned long bytes, enum wl_access access)
{
	if (bytes <= LINE)
		kern_touch_line(region->kernel, offset);
	else
		stream(region, offset, bytes, access, 1);
}

/* A store to part of a line reads it before; a copy is a memcpy() and spares that. */
void wl_stream(enum wl_kernel kernel, struct wl_region *to, struct wl_region *from,
	       struct wl_region *from2, unsigned long offset, unsigned long bytes)
{
	unsigned long end = offset + bytes, next;

	for (; offset < end; offset = next) {
		next = offset + STEP < end ? offset + STEP : end;
		stream(from, offset, next - offset, WL_READ, 1);
		if (kernel == WL_SUM || kernel == WL_TRIAD)
			stream(from2, offset, next - offset, WL_READ, 1);
		stream(to, offset, next - offset, WL_WRITE, kernel == WL_COPY ? 1 : 2);
	}
}
