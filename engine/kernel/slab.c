// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel memory, zeroed, so that a run never depends on old contents.  What kmalloc() gives has the
 * same place in an arena on every host: task_numa_group() breaks ties by the groups' addresses.
 * Large objects and caches come from the C library.
 */
#include <linux/log2.h>
#include <linux/slab.h>
#include "sim.h"

#define ARENA		(512UL << 20)		/* of addresses: it takes what is used of it */
#define CHUNK_SHIFT	16			/* a chunk's objects have one size */
#define SMALLEST_ORDER	6
#define LARGEST_ORDER	13

static char *arena, *unused;			/* its chunks from here on */
static unsigned char order_of[ARENA >> CHUNK_SHIFT];
static void *freed[LARGEST_ORDER + 1];		/* each object's first word is the next one */

struct kmem_cache {
	unsigned int size;
};

typeof(kmalloc_caches) kmalloc_caches;

static void add_chunk(unsigned int order)
{
	unsigned long size = 1UL << order, at;

	order_of[(unused - arena) >> CHUNK_SHIFT] = order;
	/* in the order of addresses */
	for (at = 1UL << CHUNK_SHIFT; at; at -= size) {
		void **object = (void **)(unused + at - size);

		*object = freed[order];
		freed[order] = object;
	}
	unused += 1UL << CHUNK_SHIFT;
}

void *sim_kmalloc(size_t size)
{
	unsigned int order = max_t(unsigned int, SMALLEST_ORDER, order_base_2(size));
	void **object;

	if (!arena)
		arena = unused = sim_zalloc_huge(ARENA);
	if (order > LARGEST_ORDER || (!freed[order] && unused == arena + ARENA))
		return sim_zalloc(size, L1_CACHE_BYTES);
	if (!freed[order])
		add_chunk(order);
	object = freed[order];
	freed[order] = *object;
	return memset(object, 0, 1UL << order);
}

void sim_kfree(void *object)
{
	unsigned long at = (char *)object - arena;

	if (!object || !arena || at >= ARENA) {
		sim_free(object);
		return;
	}
	*(void **)object = freed[order_of[at >> CHUNK_SHIFT]];
	freed[order_of[at >> CHUNK_SHIFT]] = object;
}

struct kmem_cache *sim_cache_create(unsigned int size)
{
	struct kmem_cache *cache = sim_zalloc(sizeof(*cache), 8);

	cache->size = size;
	return cache;
}

void *sim_cache_alloc(struct kmem_cache *cache)
{
	return sim_zalloc(cache->size, L1_CACHE_BYTES);
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	sim_free(object);
}

void kfree(const void *object)
{
	sim_hot_forget(object);
	sim_kfree((void *)object);
}

void kvfree(const void *object)
{
	sim_kfree((void *)object);
}
