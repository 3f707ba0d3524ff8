/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the allocators (slab.c, percpu.c, rcu.c) and their names per series. */
#ifndef SHIM_MEMORY_H
#define SHIM_MEMORY_H

#include <linux/types.h>

struct kmem_cache;
struct rcu_head;

void *shim_kmalloc(size_t size);
void shim_kfree(void *object);
struct kmem_cache *shim_cache_create(unsigned int size);
void *shim_cache_alloc(struct kmem_cache *cache);
void __percpu *shim_alloc_percpu(size_t size, size_t align);
void shim_kfree_rcu(struct rcu_head *head, void *object);

#endif
