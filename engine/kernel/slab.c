// SPDX-License-Identifier: GPL-2.0-only
/* Kernel memory comes from the C library, zeroed, so that a run never depends on old contents. */
#include <linux/slab.h>
#include "sim.h"

struct kmem_cache {
	unsigned int size;
};

typeof(kmalloc_caches) kmalloc_caches;

void *sim_kmalloc(size_t size)
{
	return sim_zalloc(size, L1_CACHE_BYTES);
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
	sim_free((void *)object);
}

void kvfree(const void *object)
{
	sim_free((void *)object);
}
