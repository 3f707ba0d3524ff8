// SPDX-License-Identifier: GPL-2.0-only
/* The allocators by the names that the tree's headers call them. */
#include <linux/slab.h>
#include <linux/percpu.h>
#include "shim.h"

#ifdef TREE_HAS_KMALLOC_NOPROF
void *__kmalloc_noprof(size_t size, gfp_t flags) { return shim_kmalloc(size); }
#ifdef TREE_HAS_KMALLOC_BUCKETS
void *__kmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node) { return shim_kmalloc(size); }
void *__kmalloc_large_noprof(size_t size, gfp_t flags) { return shim_kmalloc(size); }
#ifdef TREE_HAS_KVMALLOC_TOKEN
void *__kvmalloc_node_noprof(DECL_KMALLOC_PARAMS(size, b, token), unsigned long align, gfp_t flags, int node)
#elif defined(TREE_HAS_KVMALLOC_ALIGN)
void *__kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), unsigned long align, gfp_t flags, int node)
#else
void *__kvmalloc_node_noprof(DECL_BUCKET_PARAMS(size, b), gfp_t flags, int node)
#endif
{
	return size > INT_MAX ? NULL : shim_kmalloc(size);
}
void *__kmalloc_cache_noprof(struct kmem_cache *s, gfp_t flags, size_t size) { return shim_kmalloc(size); }
void *__kmalloc_cache_node_noprof(struct kmem_cache *s, gfp_t flags, int node, size_t size) { return shim_kmalloc(size); }
#else
void *__kmalloc_node_noprof(size_t size, gfp_t flags, int node) { return shim_kmalloc(size); }
void *kmalloc_large_noprof(size_t size, gfp_t flags) { return shim_kmalloc(size); }
void *kvmalloc_node_noprof(size_t size, gfp_t flags, int node) { return shim_kmalloc(size); }
void *kmalloc_trace_noprof(struct kmem_cache *s, gfp_t flags, size_t size) { return shim_kmalloc(size); }
void *kmalloc_node_trace_noprof(struct kmem_cache *s, gfp_t flags, int node, size_t size) { return shim_kmalloc(size); }
#endif
void *kmem_cache_alloc_noprof(struct kmem_cache *s, gfp_t flags) { return shim_cache_alloc(s); }
void *kmem_cache_alloc_node_noprof(struct kmem_cache *s, gfp_t flags, int node) { return shim_cache_alloc(s); }
void *kmemdup_noprof(const void *from, size_t size, gfp_t flags) { return memcpy(shim_kmalloc(size), from, size); }
#else
void *__kmalloc(size_t size, gfp_t flags) { return shim_kmalloc(size); }
void *kmemdup(const void *from, size_t size, gfp_t flags) { return memcpy(shim_kmalloc(size), from, size); }
void *__kmalloc_node(size_t size, gfp_t flags, int node) { return shim_kmalloc(size); }
void *kmalloc_trace(struct kmem_cache *s, gfp_t flags, size_t size) { return shim_kmalloc(size); }
void *kmalloc_node_trace(struct kmem_cache *s, gfp_t flags, int node, size_t size) { return shim_kmalloc(size); }
void *kmalloc_large(size_t size, gfp_t flags) { return shim_kmalloc(size); }
void *kvmalloc_node(size_t size, gfp_t flags, int node) { return shim_kmalloc(size); }
void *kmem_cache_alloc(struct kmem_cache *s, gfp_t flags) { return shim_cache_alloc(s); }
void *kmem_cache_alloc_node(struct kmem_cache *s, gfp_t flags, int node) { return shim_cache_alloc(s); }
#endif

#ifdef TREE_HAS_KMEM_CACHE_ARGS
struct kmem_cache *__kmem_cache_create_args(const char *name, unsigned int size,
					    struct kmem_cache_args *args, slab_flags_t flags)
#else
struct kmem_cache *kmem_cache_create(const char *name, unsigned int size, unsigned int align,
				     slab_flags_t flags, void (*ctor)(void *))
#endif
{
	return shim_cache_create(size);
}

#ifdef TREE_HAS_PERCPU_NOPROF
void __percpu *pcpu_alloc_noprof(size_t size, size_t align, bool reserved, gfp_t gfp)
{
	return shim_alloc_percpu(size, align);
}
#else
void __percpu *__alloc_percpu(size_t size, size_t align) { return shim_alloc_percpu(size, align); }
void __percpu *__alloc_percpu_gfp(size_t size, size_t align, gfp_t gfp) { return shim_alloc_percpu(size, align); }
#endif

#ifdef TREE_HAS_KFREE_HEAD
void kvfree_call_rcu(struct kvfree_rcu_head *head, void *ptr)
{
	shim_kfree_rcu((struct rcu_head *)head, ptr);
}
#elif defined(TREE_HAS_KFREE_POINTER)
void kvfree_call_rcu(struct rcu_head *head, void *ptr)
{
	shim_kfree_rcu(head, ptr);
}
#else
/* The function pointer carries the offset of the head in its object. */
void kvfree_call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	shim_kfree_rcu(head, (void *)head - (unsigned long)func);
}
#endif
