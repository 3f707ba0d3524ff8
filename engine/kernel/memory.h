/* SPDX-License-Identifier: GPL-2.0-only */
/* Between the allocators (slab.c, percpu.c, rcu.c) and their names per series. */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <linux/types.h>

struct kmem_cache;
struct rcu_head;

void *sim_kmalloc(size_t size);
void sim_kfree(void *object);
struct kmem_cache *sim_cache_create(unsigned int size);
void *sim_cache_alloc(struct kmem_cache *cache);
void __percpu *sim_alloc_percpu(size_t size, size_t align);
void sim_kfree_rcu(struct rcu_head *head, void *object);

#endif
