// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel memory, zeroed, so that a run never depends on old contents.  What kmalloc() gives has the
 * same place in an arena on every host: task_numa_group() breaks ties by the groups' addresses.
 * Large objects come from the C library, and what caches have of it they keep: whether a new task has
 * the address of one that is gone, which record_wakee() may still know, follows from the run alone.
 */
#include <linux/slab.h>
#include "shim.h"

#define ARENA		(512UL << 20)		/* of addresses: it takes what is used of it */
#define CHUNK_SHIFT	16			/* a chunk's objects have one size */

/* The kernel's own on x86: small objects share cache lines. */
static const unsigned short sizes[] = { 8, 16, 32, 64, 96, 128, 192, 256, 512, 1024, 2048, 4096, 8192 };

static char *arena, *unused;			/* its chunks from here on */
static unsigned char class_of[ARENA >> CHUNK_SHIFT];
static void *freed[ARRAY_SIZE(sizes)];		/* each object's first word is the next one */

struct kmem_cache {
	unsigned int size;
	void **freed;				/* the last one first */
};

typeof(kmalloc_caches) kmalloc_caches;

static void add_chunk(unsigned int class)
{
	unsigned long size = sizes[class], nr = (1UL << CHUNK_SHIFT) / size;

	class_of[(unused - arena) >> CHUNK_SHIFT] = class;
	/* in the order of addresses */
	while (nr--) {
		void **object = (void **)(unused + nr * size);

		*object = freed[class];
		freed[class] = object;
	}
	unused += 1UL << CHUNK_SHIFT;
}

void *shim_kmalloc(size_t size)
{
	unsigned int class = 0;
	void **object;

	if (!arena)
		arena = unused = hw_zalloc_huge(ARENA);
	while (class < ARRAY_SIZE(sizes) && sizes[class] < size)
		class++;
	if (class == ARRAY_SIZE(sizes) || (!freed[class] && unused == arena + ARENA))
		return hw_zalloc(size, L1_CACHE_BYTES);
	if (!freed[class])
		add_chunk(class);
	object = freed[class];
	freed[class] = *object;
	return memset(object, 0, sizes[class]);
}

void shim_kfree(void *object)
{
	unsigned long at = (char *)object - arena;

	if (!object || !arena || at >= ARENA) {
		hw_free(object);
		return;
	}
	*(void **)object = freed[class_of[at >> CHUNK_SHIFT]];
	freed[class_of[at >> CHUNK_SHIFT]] = object;
}

struct kmem_cache *shim_cache_create(unsigned int size)
{
	struct kmem_cache *cache = hw_zalloc(sizeof(*cache), 8);

	cache->size = size;
	return cache;
}

void *shim_cache_alloc(struct kmem_cache *cache)
{
	void **object = cache->freed;

	if (!object)
		return hw_zalloc(cache->size, L1_CACHE_BYTES);
	hw_unpoison(object, cache->size);
	cache->freed = *object;
	return memset(object, 0, cache->size);
}

void kmem_cache_free(struct kmem_cache *cache, void *object)
{
	*(void **)object = cache->freed;
	cache->freed = object;
	hw_poison(object, cache->size);
}

void kfree(const void *object)
{
	hw_hot_forget(object);
	shim_kfree((void *)object);
}

void kvfree(const void *object)
{
	shim_kfree((void *)object);
}
