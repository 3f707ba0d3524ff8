// SPDX-License-Identifier: GPL-2.0-only
/*
 * A scheduler's arena: pages that it takes from a range of addresses of its own, and what the
 * kernel takes from it. The kernel knows a byte of an arena by the lower 32 bits of its address,
 * counted from the arena's beginning: natively both have the same pointers, so the arena lies in
 * the program's first 4 GiB, and counts from address 0.
 */
#include <linux/bitmap.h>
#include <linux/bpf.h>
#include "scx.h"

#define MOST_PAGES	(1UL << 18)	/* 1 GiB */

struct shim_arena {
	struct shim_map	*map;
	char		*begin;
	unsigned long	nr_pages;
#ifdef TREE_HAS_EXT_CID
	struct bpf_map	kernel_side;
#endif
	DECLARE_BITMAP(taken, MOST_PAGES);
};

void shim_scx_make_arena(struct shim_map *m)
{
	struct shim_arena *arena = shim_scheduler->arena;

	if (arena)
		hw_refuse("sched_ext: %s: its map %s is a second arena; a scheduler has one", shim_scheduler->source, m->name);
	arena = shim_scheduler->arena = hw_zalloc(sizeof(*arena), 64);
	arena->map = m;
	arena->nr_pages = min_t(unsigned long, m->max_entries, MOST_PAGES);
	arena->begin = hw_reserve_low(arena->nr_pages << PAGE_SHIFT);
}

/* Of the map that the scheduler names. */
static struct shim_arena *arena_of(void *declared)
{
	const struct shim_map *m = shim_scx_map(declared);
	struct shim_scheduler *const *at;

	shim_for_each_scheduler(at)
		if ((*at)->arena && (*at)->arena->map == m)
			return (*at)->arena;
	hw_end_in_scheduler("the scheduler takes pages from a map that is not its arena");
}

/* Its lines are shared by CPUs, as a map's values are. */
static void *take_pages(struct shim_arena *arena, const char *wanted, u32 nr)
{
	unsigned long first = (wanted - arena->begin) >> PAGE_SHIFT, at;
	char *pages;

	if (!wanted)
		first = bitmap_find_next_zero_area(arena->taken, arena->nr_pages, 0, nr, 0);
	else if (first >= arena->nr_pages || find_next_bit(arena->taken, arena->nr_pages, first) < first + nr)
		return NULL;
	if (!nr || first + nr > arena->nr_pages)
		return NULL;
	bitmap_set(arena->taken, first, nr);
	pages = arena->begin + (first << PAGE_SHIFT);
	for (at = 0; at < min((unsigned long)nr << PAGE_SHIFT, SHIM_SCX_MOST_LINES); at += L1_CACHE_BYTES)
		hw_hot_register(pages + at, pages + at);
	return pages;
}

static void give_back(struct shim_arena *arena, char *pages, u32 nr)
{
	unsigned long first = (pages - arena->begin) >> PAGE_SHIFT, at;

	if (first >= arena->nr_pages || nr > arena->nr_pages - first)
		return;
	for (at = 0; at < (unsigned long)nr << PAGE_SHIFT; at += L1_CACHE_BYTES)
		hw_hot_forget(pages + at);
	memset(pages, 0, (unsigned long)nr << PAGE_SHIFT);
	bitmap_clear(arena->taken, first, nr);
}

void *native_bpf_arena_alloc_pages(void *map, void *wanted, u32 nr, int node, u64 flags)
{
	struct shim_arena *arena = arena_of(map);

	return flags ? NULL : take_pages(arena, wanted, nr);
}

void native_bpf_arena_free_pages(void *map, void *pages, u32 nr)
{
	give_back(arena_of(map), pages, nr);
}

/*
 * Whether it lies in an arena.  A page that nobody took: BPF would read zeros there, and tell the
 * scheduler's author of a fault.
 */
bool shim_scx_check_arena(const char *at, unsigned int size, bool write)
{
	static char text[120];
	struct shim_scheduler *const *s;
	struct shim_arena *arena = NULL;
	unsigned long first = 0, last;

	shim_for_each_scheduler(s) {
		arena = (*s)->arena;
		first = arena ? (at - arena->begin) >> PAGE_SHIFT : 0;
		if (arena && first < arena->nr_pages)
			break;
		arena = NULL;
	}
	if (!arena)
		return false;
	last = (at + size - 1 - arena->begin) >> PAGE_SHIFT;
	if (test_bit(first, arena->taken) && last < arena->nr_pages && test_bit(last, arena->taken))
		return true;
	snprintf(text, sizeof(text), "the scheduler %s %u bytes at offset %ld of its arena, of a page that it did not take",
		 write ? "writes" : "reads", size, (long)(at - arena->begin));
	hw_end_in_scheduler(text);
}

#ifdef TREE_HAS_EXT_CID
/* ------------------------------------------------------------------ the kernel's part in it */

/* One stands for all programs of a scheduler. */
static struct bpf_prog all_programs;

int bpf_struct_ops_for_each_prog(const void *ops, int (*visit)(struct bpf_prog *prog, void *data), void *data)
{
	return visit(&all_programs, data);
}

/* Asked for while a scheduler is registered. */
struct bpf_map *bpf_prog_arena(struct bpf_prog *prog)
{
	return shim_scheduler->arena ? &shim_scheduler->arena->kernel_side : NULL;
}

u64 bpf_arena_map_kern_vm_start(struct bpf_map *map)
{
	return 0;
}

/* There is one, for the whole run. */
void bpf_map_inc(struct bpf_map *map)
{
}

void bpf_map_put(struct bpf_map *map)
{
}

void *bpf_arena_alloc_pages_sleepable(void *map, void *wanted, u32 nr, int node, u64 flags)
{
	return take_pages(container_of(map, struct shim_arena, kernel_side), wanted, nr);
}

void bpf_arena_free_pages_non_sleepable(void *map, void *pages, u32 nr)
{
	give_back(container_of(map, struct shim_arena, kernel_side), pages, nr);
}
#endif
