// SPDX-License-Identifier: GPL-2.0-only
/* The allocators' names in 6.1. */
#include <linux/slab.h>
#include <linux/percpu.h>
#include "../../sim.h"

void *__kmalloc(size_t size, gfp_t flags) { return sim_kmalloc(size); }
void *__kmalloc_node(size_t size, gfp_t flags, int node) { return sim_kmalloc(size); }
void *kmalloc_trace(struct kmem_cache *s, gfp_t flags, size_t size) { return sim_kmalloc(size); }
void *kmalloc_node_trace(struct kmem_cache *s, gfp_t flags, int node, size_t size) { return sim_kmalloc(size); }
void *kmalloc_large(size_t size, gfp_t flags) { return sim_kmalloc(size); }
void *kvmalloc_node(size_t size, gfp_t flags, int node) { return sim_kmalloc(size); }

struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align,
				     slab_flags_t flags, void (*ctor)(void *))
{
	return sim_cache_create(size);
}

void *kmem_cache_alloc(struct kmem_cache *s, gfp_t flags) { return sim_cache_alloc(s); }
void *kmem_cache_alloc_node(struct kmem_cache *s, gfp_t flags, int node) { return sim_cache_alloc(s); }

void __percpu *__alloc_percpu(size_t size, size_t align) { return sim_alloc_percpu(size, align); }
void __percpu *__alloc_percpu_gfp(size_t size, size_t align, gfp_t gfp) { return sim_alloc_percpu(size, align); }

/* In 6.1 the function pointer carries the offset of the head in its object. */
void kvfree_call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	sim_kfree_rcu(head, (void *)head - (unsigned long)func);
}
