// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory with a place.  Simulated, the kernel side knows on which node a page is, hw/cache.c
 * what of it the LLC holds, and hw/speed.c how fast the rest comes; on a host these are
 * mappings, mbind(), and loops over them.
 */
#include "world.h"

#ifdef SIMULATED

#define LINE		64UL
#define GRAIN		(64UL << 10)	/* what caches are accounted in */
#define STEP		(256UL << 10)	/* of loops over several regions: so much of each in turn */
/* Of loops over one: between two, pages may be marked or move. */
#define PASS		(2UL << 20)

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

#else /* on this host */

#include <errno.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct wl_region {
	char		*memory;
	unsigned long	bytes;
	pid_t		pid;		/* whose it is; 0: shared */
};

static struct wl_region *map(unsigned long bytes, int kind)
{
	struct wl_region *region = wl_new(struct wl_region, 1);

	region->memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, kind | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (region->memory == MAP_FAILED)
		fail("no memory for a region of %lu bytes: %s", bytes, strerror(errno));
	region->bytes = bytes;
	return region;
}

struct wl_region *wl_region(unsigned long bytes)
{
	struct wl_region *region = map(bytes, MAP_PRIVATE);

	madvise(region->memory, bytes, MADV_DONTFORK);
	region->pid = getpid();
	return region;
}

struct wl_region *wl_shared_region(unsigned long bytes)
{
	return map(bytes, MAP_SHARED);
}

void wl_bind(struct wl_region *region, int node)
{
	unsigned long mask = node < 0 ? ~0UL >> (64 - arena->nodes) : 1UL << node;

	if (node >= arena->nodes)
		fail("there is no node %d", node);
	if (arena->nodes == 1)		/* and perhaps no such system call */
		return;
	if (syscall(SYS_mbind, region->memory, region->bytes, node < 0 ? MPOL_INTERLEAVE : MPOL_BIND,
		    &mask, 8 * sizeof(mask) + 1, 0))
		fail("binding memory to node %d: %s", node, strerror(errno));
}

/* Tasks touch what they work on by themselves. */
void wl_working_set(struct wl_region *region, unsigned long offset, unsigned long bytes)
{
	(void)region;
	(void)offset;
	(void)bytes;
}

static int is_here(const struct wl_region *region)
{
	return region->pid ? region->pid == getpid() : !msync(region->memory, region->bytes, MS_ASYNC);
}

static char *part(struct wl_region *region, unsigned long offset, unsigned long bytes)
{
	if (!is_here(region))
		fail("%s touches a region its process does not have", wl_self()->name);
	if (offset + bytes > region->bytes)
		fail("%s touches memory behind the end of a region", wl_self()->name);
	return region->memory + offset;
}

/* The compiler has to assume that somebody reads the memory, or the value. */
#define used(value) __asm__ volatile("" : : "r" (value) : "memory")

static void read_all(const char *memory, unsigned long bytes)
{
	const unsigned long *word = (const unsigned long *)memory;
	unsigned long sum = 0, words = bytes / sizeof(*word);

	for (unsigned long i = 0; i < words; i++)
		sum += word[i];
	for (unsigned long i = words * sizeof(*word); i < bytes; i++)
		sum += memory[i];
	used(sum);
}

void wl_touch(struct wl_region *region, unsigned long offset, unsigned long bytes, enum wl_access access)
{
	char *memory = part(region, offset, bytes);

	if (access == WL_READ) {
		read_all(memory, bytes);
	} else {
		memset(memory, 1, bytes);
		used(memory);
	}
}

/* Also in place. */
static void scale(double *to, const double *from, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		to[i] = 3.0 * from[i];
}

static void sum(double *restrict to, const double *restrict from, const double *restrict from2, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		to[i] = from[i] + from2[i];
}

static void triad(double *restrict to, const double *restrict from, const double *restrict from2, unsigned long n)
{
	for (unsigned long i = 0; i < n; i++)
		to[i] = from[i] + 3.0 * from2[i];
}

void wl_stream(enum wl_kernel kernel, struct wl_region *to, struct wl_region *from,
	       struct wl_region *from2, unsigned long offset, unsigned long bytes)
{
	double *a = (double *)part(to, offset, bytes);
	const double *b = (const double *)part(from, offset, bytes), *c;
	unsigned long n = bytes / sizeof(double);

	if (kernel == WL_COPY) {
		memcpy(a, b, bytes);		/* what compilers make of the loop */
	} else if (kernel == WL_SCALE) {
		scale(a, b, n);
	} else {
		c = (const double *)part(from2, offset, bytes);
		if (kernel == WL_SUM)
			sum(a, b, c, n);
		else
			triad(a, b, c, n);
	}
	used(a);
}
#endif
