// SPDX-License-Identifier: GPL-2.0-only
/* 6.12 names its allocators *_noprof. */
#include <linux/slab.h>
#include <linux/percpu.h>
#include "../../sim.h"

void *__kmalloc_noprof(size_t size, gfp_t flags) { return sim_kmalloc(size); }
void *__kmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node) { return sim_kmalloc(size); }
void *__kmalloc_large_noprof(size_t size, gfp_t flags) { return sim_kmalloc(size); }
void *__kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node) { return sim_kmalloc(size); }
void *__kmalloc_cache_noprof(struct kmem_cache *s, gfp_t flags, size_t size) { return sim_kmalloc(size); }
void *__kmalloc_cache_node_noprof(struct kmem_cache *s, gfp_t flags, int node, size_t size) { return sim_kmalloc(size); }

struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int size,
					    struct kmem_cache_args *args, slab_flags_t flags)
{
	return sim_cache_create(size);
}

void *kmem_cache_alloc_noprof(struct kmem_cache *s, gfp_t flags) { return sim_cache_alloc(s); }
void *kmem_cache_alloc_node_noprof(struct kmem_cache *s, gfp_t flags, int node) { return sim_cache_alloc(s); }

void __percpu *pcpu_alloc_noprof(size_t size, size_t align, bool reserved, gfp_t gfp)
{
	return sim_alloc_percpu(size, align);
}

void kvfree_call_rcu(struct rcu_head *head, void *ptr)
{
	sim_kfree_rcu(head, ptr);
}
