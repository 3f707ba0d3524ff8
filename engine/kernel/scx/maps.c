// SPDX-License-Identifier: GPL-2.0-only
/* Maps: arrays, hashes, queues, stacks and what is stored with tasks and cgroups. */
#include <linux/bpf.h>
#include <linux/cgroup.h>
#include <linux/jhash.h>
#include "scx.h"

#define MOST_BYTES	(4UL << 30)	/* of one map, with the room around its values */

long native_bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags);

struct element {			/* of a hash, or stored with a task or cgroup */
	struct element	*next;
	struct list_head used;		/* of an LRU hash: the longest ago first */
	const void	*owner;
	void		*value;
	char		key[];
};

static bool is_per_cpu(const struct shim_map *m)
{
	return m->type == BPF_MAP_TYPE_PERCPU_ARRAY || m->type == BPF_MAP_TYPE_PERCPU_HASH ||
	       m->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static bool is_array(const struct shim_map *m)
{
	return m->type == BPF_MAP_TYPE_ARRAY || m->type == BPF_MAP_TYPE_PERCPU_ARRAY ||
	       m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS;
}

static bool is_hash(const struct shim_map *m)
{
	return m->type == BPF_MAP_TYPE_HASH || m->type == BPF_MAP_TYPE_PERCPU_HASH ||
	       m->type == BPF_MAP_TYPE_LRU_HASH || m->type == BPF_MAP_TYPE_LRU_PERCPU_HASH ||
	       m->type == BPF_MAP_TYPE_HASH_OF_MAPS;
}

static bool is_queue(const struct shim_map *m)
{
	return m->type == BPF_MAP_TYPE_QUEUE || m->type == BPF_MAP_TYPE_STACK;
}

static bool is_storage(const struct shim_map *m)
{
	return m->type == BPF_MAP_TYPE_TASK_STORAGE || m->type == BPF_MAP_TYPE_CGRP_STORAGE;
}

/* Without values that a scheduler could look up: messages.c. */
static bool is_channel(const struct shim_map *m)
{
	return m->type == BPF_MAP_TYPE_RINGBUF || m->type == BPF_MAP_TYPE_PERF_EVENT_ARRAY;
}

static unsigned int nr_slots(const struct shim_map *m)
{
	return is_hash(m) || is_storage(m) ? roundup_pow_of_two(max(m->max_entries, 1024u)) : m->max_entries;
}

/* Of its own or of all CPUs: what the simulator takes for it when it is made. */
static u64 bytes_of(const struct shim_map *m)
{
	u64 value = is_per_cpu(m) ? nr_cpu_ids * (u64)shim_scx_room(m->value_size) : shim_scx_room(m->value_size);

	if (is_channel(m) || is_storage(m) || m->type == BPF_MAP_TYPE_ARENA)
		return 0;
	return m->max_entries * (sizeof(*m->slots) + (is_hash(m) || m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ? 0 : value));
}

static const char *value_name(const struct shim_map *m)
{
	char text[100];

	snprintf(text, sizeof(text), "a value of map %s", m->name);
	return strcpy(hw_zalloc(strlen(text) + 1, 8), text);
}

/* A value, or one for each CPU behind each other; the array of them is ours. */
static void *new_value(struct shim_map *m)
{
	void **values;
	int cpu;

	if (!is_per_cpu(m))
		return shim_scx_alloc(m->value_name, m->value_size);
	values = hw_zalloc(nr_cpu_ids * sizeof(*values), 8);
	for_each_possible_cpu(cpu)
		values[cpu] = shim_scx_alloc(m->value_name, m->value_size);
	return values;
}

/* With its timers; a lock of it may get another value's. */
static void free_value(struct shim_map *m, void *value)
{
	unsigned int i;
	int cpu;

	if (is_per_cpu(m)) {
		for_each_possible_cpu(cpu)
			shim_scx_retire(((void **)value)[cpu]);
		hw_free(value);
		return;
	}
	for (i = 0; i < m->nr_specials; i++) {
		const struct shim_special *special = &m->specials[i];

		if (special->kind == SHIM_TIMER)
			shim_scx_timer_gone(value + special->offset);
		else if (special->kind == SHIM_LOCK)
			shim_scx_lock_gone(value + special->offset);
	}
	shim_scx_retire(value);
}

/* copy_map_value(): locks, timers and the like stay as they are. */
static void copy_value(const struct shim_map *m, void *to, const void *from)
{
	unsigned int i, at = 0;

	for (i = 0; i < m->nr_specials; i++) {
		memcpy(to + at, from + at, m->specials[i].offset - at);
		at = m->specials[i].offset + m->specials[i].size;
	}
	memcpy(to + at, from + at, m->value_size - at);
}

static bool is_lru(const struct shim_map *m)
{
	return m->type == BPF_MAP_TYPE_LRU_HASH || m->type == BPF_MAP_TYPE_LRU_PERCPU_HASH;
}

static void *of_cpu(const struct shim_map *m, void *value, int cpu)
{
	return value && is_per_cpu(m) ? ((void **)value)[cpu] : value;
}

/* All values of an array or a queue, behind each other; for each CPU if it is one by CPU. */
static void make_row(struct shim_map *m)
{
	unsigned int step = round_up(m->value_size, 8), i;
	unsigned long size = (unsigned long)step * m->max_entries;
	const char *row;
	int cpu;

	if (!is_per_cpu(m)) {
		row = shim_scx_row(size);
		for (i = 0; i < m->max_entries; i++)
			m->slots[i] = shim_scx_alloc_in_row(m->value_name, m->value_size, row + (unsigned long)i * step);
		return;
	}
	for (i = 0; i < m->max_entries; i++)
		m->slots[i] = hw_zalloc(nr_cpu_ids * sizeof(void *), 8);
	for_each_possible_cpu(cpu) {
		row = shim_scx_row(size);
		for (i = 0; i < m->max_entries; i++)
			((void **)m->slots[i])[cpu] =
				shim_scx_alloc_in_row(m->value_name, m->value_size, row + (unsigned long)i * step);
	}
}

/* For which of its figures the kernel does not make a map of its type; NULL: it does. */
static const char *wrong_in(const struct shim_map *m)
{
	if (is_storage(m)) {
		if (!(m->flags & BPF_F_NO_PREALLOC))
			return "map_flags: BPF_F_NO_PREALLOC is missing";
		return m->max_entries ? "max_entries: it has none" : m->key_size != 4 ? "key: of 4 bytes" : NULL;
	}
	if (m->type == BPF_MAP_TYPE_RINGBUF && (m->key_size || m->value_size))
		return "key, value: a ring buffer has none";
	if (m->type == BPF_MAP_TYPE_RINGBUF && (!is_power_of_2(m->max_entries) || m->max_entries % PAGE_SIZE))
		return "max_entries: bytes, a power of two of at least 4096";
	if (is_channel(m) || m->type == BPF_MAP_TYPE_ARENA)
		return NULL;
	if (!m->max_entries)
		return "max_entries: 0";
	if (is_array(m) && m->key_size != 4)
		return "key: of 4 bytes";
	if (is_queue(m) && m->key_size)
		return "key: a queue or stack has none";
	if (is_hash(m) && !m->key_size)
		return "key: missing";
	if (!m->value_size && !m->values && !m->inner && m->type != BPF_MAP_TYPE_ARRAY_OF_MAPS &&
	    m->type != BPF_MAP_TYPE_HASH_OF_MAPS)
		return "value: missing";
	return NULL;
}

static void make(struct shim_map *m)
{
	const char *name = m->name;
	unsigned int i;

	if (!is_array(m) && !is_hash(m) && !is_queue(m) && !is_storage(m) && !is_channel(m) && m->type != BPF_MAP_TYPE_ARENA)
		hw_refuse("sched_ext: %s: map %s: maps of type %u (enum bpf_map_type) are not simulated", shim_scheduler->source, name, m->type);
	if (wrong_in(m))
		hw_refuse("sched_ext: %s: map %s: the kernel does not make it: %s", shim_scheduler->source, name, wrong_in(m));
	if (bytes_of(m) > MOST_BYTES)
		hw_refuse("sched_ext: %s: map %s: too large to be simulated: %u entries of %u bytes", shim_scheduler->source, name,
			  m->max_entries, m->value_size);
	*(struct shim_map **)m->declared = m;
	raw_spin_lock_init(&m->lock);
	INIT_LIST_HEAD(&m->by_use);
	m->value_name = value_name(m);
	if (m->type == BPF_MAP_TYPE_ARENA) {
		shim_scx_make_arena(m);
		return;
	}
	if (m->type == BPF_MAP_TYPE_RINGBUF)
		shim_scx_make_ring(m);
	if (is_channel(m))
		return;
	m->slots = hw_zalloc(max(nr_slots(m), 1u) * sizeof(*m->slots), 64);
	if (m->type == BPF_MAP_TYPE_ARRAY || m->type == BPF_MAP_TYPE_PERCPU_ARRAY || is_queue(m))
		make_row(m);
	for (i = 0; i < m->nr_values && i < m->max_entries; i++)
		m->slots[i] = m->values[i];
}

static struct shim_map *find_map(const char *name)
{
	unsigned int i;

	for (i = 0; i < shim_scheduler->nr_maps; i++)
		if (!strcmp(shim_scheduler->maps[i].name, name))
			return &shim_scheduler->maps[i];
	return NULL;
}

void shim_scx_resize(const char *name, unsigned int entries)
{
	struct shim_map *m = find_map(name);

	if (m)
		m->max_entries = entries;
}

/* Each of these is made when it is first looked up. */
void shim_scx_fill(const char *name, unsigned int type, unsigned int value_size, unsigned int entries)
{
	struct shim_map *m = find_map(name);

	if (!m)
		return;
	m->inner = hw_zalloc(sizeof(*m->inner), 8);
	*m->inner = (struct shim_map) { .name = name, .type = type, .value_size = value_size, .max_entries = entries };
}

void shim_scx_update(const char *name, const void *key, const void *value)
{
	struct shim_map *m = find_map(name);

	if (m)
		native_bpf_map_update_elem(m->declared, key, value, 0);
}

void shim_scx_make_maps(void)
{
	unsigned int i;

	for (i = 0; i < shim_scheduler->nr_maps; i++)
		make(&shim_scheduler->maps[i]);
}

struct shim_map *shim_scx_map(void *declared)
{
	struct shim_map *m;

	if (!declared)
		hw_end_in_scheduler("the scheduler uses a NULL pointer as a map");
	m = *(struct shim_map **)declared;
	if ((unsigned long)m < PAGE_SIZE || m->declared != declared)
		hw_end_in_scheduler("the scheduler uses as a map what is none");
	return m;
}

/* The value that something lies in, and its number in an array or its key in a hash. */
void *shim_scx_value(const struct shim_map *m, const void *inside, u64 *index)
{
	unsigned int i;

	for (i = 0; (is_array(m) || is_hash(m)) && i < nr_slots(m); i++) {
		struct element *e = is_hash(m) ? m->slots[i] : NULL;
		void *value = is_hash(m) ? NULL : m->slots[i];

		if (value && inside >= value && inside < value + m->value_size) {
			*index = i;
			return value;
		}
		for (; e; e = e->next)
			if (inside >= e->value && inside < e->value + m->value_size) {
				*index = 0;
				memcpy(index, e->key, min_t(unsigned int, m->key_size, sizeof(*index)));
				return e->value;
			}
	}
	return NULL;
}

static void *new_inner(const struct shim_map *m)
{
	struct shim_map *made = hw_zalloc(sizeof(*made), 8), **declared = hw_zalloc(sizeof(*declared), 8);

	*made = *m->inner;
	made->declared = declared;
	make(made);
	return declared;
}

/* ----------------------------------------------------- hashes, and what is stored with an owner */

static struct element **find(struct shim_map *m, const void *key, const void *owner)
{
	u32 hash = owner ? 0 : jhash(key, m->key_size, 0);
	struct element **at;

	/* pids and ids of cgroups do not depend on where objects lie */
	if (m->type == BPF_MAP_TYPE_TASK_STORAGE)
		hash = ((const struct task_struct *)owner)->pid;
	else if (m->type == BPF_MAP_TYPE_CGRP_STORAGE)
		hash = cgroup_id((struct cgroup *)owner);
	at = (struct element **)&m->slots[hash & (nr_slots(m) - 1)];
	while (*at && (owner ? (*at)->owner != owner : !!memcmp((*at)->key, key, m->key_size)))
		at = &(*at)->next;
	return at;
}

static struct element *insert(struct shim_map *m, struct element **at, const void *key, const void *owner)
{
	struct element *e = hw_zalloc(sizeof(*e) + (owner ? 0 : m->key_size), 8);

	shim_scx_charge(hw_costs.lock); /* of the list of free ones, or of the owner's storage */
	e->owner = owner;
	if (!owner)
		memcpy(e->key, key, m->key_size);
	e->value = new_value(m);
	m->used++;
	if (is_lru(m))
		list_add_tail(&e->used, &m->by_use);
	*at = e;
	return e;
}

static void drop(struct shim_map *m, struct element **at)
{
	struct element *e = *at;

	*at = e->next;
	m->used--;
	if (is_lru(m))
		list_del(&e->used);
	if (m->type != BPF_MAP_TYPE_HASH_OF_MAPS)
		free_value(m, e->value);
	hw_free(e);
}

static void *look_up(struct shim_map *m, const void *key, int cpu)
{
	struct element *e;
	u32 index;

	shim_scx_check(key, m->key_size, false);
	if (is_array(m)) {
		memcpy(&index, key, sizeof(index));
		if (m->inner && index < m->max_entries && !m->slots[index])
			m->slots[index] = new_inner(m);
		return index < m->max_entries ? of_cpu(m, m->slots[index], cpu) : NULL;
	}
	if (!is_hash(m))
		return NULL;
	shim_scx_charge(hw_costs.bpf_hash);
	e = *find(m, key, NULL);
	if (e && is_lru(m))
		list_move_tail(&e->used, &m->by_use);
	return e ? of_cpu(m, e->value, cpu) : NULL;
}

/* The verifier makes a few instructions of a lookup in an array, so that nothing is called. */
void *native_bpf_map_lookup_elem(void *map, const void *key)
{
	struct shim_map *m = shim_scx_map(map);

	if (!is_array(m))
		shim_scx_charge(hw_costs.bpf_call);
	return look_up(m, key, smp_processor_id());
}

void *native_bpf_map_lookup_percpu_elem(void *map, const void *key, u32 cpu)
{
	return cpu < nr_cpu_ids ? look_up(shim_scx_map(map), key, cpu) : NULL;
}

/* A hash gets another element, without the timer of the one before, which its readers still have. */
static bool is_replaced(const struct shim_map *m, u64 flags)
{
	return is_hash(m) && !is_per_cpu(m) && m->type != BPF_MAP_TYPE_HASH_OF_MAPS && !(flags & BPF_F_LOCK);
}

long native_bpf_map_update_elem(void *map, const void *key, const void *value, u64 flags)
{
	struct shim_map *m = shim_scx_map(map);
	void *there = look_up(m, key, smp_processor_id());
	struct element **at;

	shim_scx_check(value, m->value_size, false);
	if ((flags & ~BPF_F_LOCK) > BPF_EXIST)
		return -EINVAL;
	if (is_hash(m))
		shim_scx_charge(hw_costs.lock);		/* its bucket's */
	if (there && (flags & BPF_NOEXIST))
		return -EEXIST;
	if (!there && (is_array(m) || (flags & BPF_EXIST)))
		return is_array(m) ? -E2BIG : -ENOENT;
	if (there && is_replaced(m, flags)) {
		drop(m, find(m, key, NULL));
		there = NULL;
	}
	if (!there) {
		if (!is_hash(m))
			return -EINVAL;
		if (m->used >= m->max_entries) {
			if (!is_lru(m))
				return -E2BIG;
			drop(m, find(m, list_first_entry(&m->by_use, struct element, used)->key, NULL));
		}
		at = find(m, key, NULL);
		there = of_cpu(m, insert(m, at, key, NULL)->value, smp_processor_id());
	}
	shim_scx_access(there, m->value_size, true);
	copy_value(m, there, value);
	return 0;
}

long native_bpf_map_delete_elem(void *map, const void *key)
{
	struct shim_map *m = shim_scx_map(map);
	struct element **at;

	if (!is_hash(m))
		return -EINVAL;
	shim_scx_check(key, m->key_size, false);
	shim_scx_charge(hw_costs.bpf_hash + hw_costs.lock);
	at = find(m, key, NULL);
	if (!*at)
		return -ENOENT;
	drop(m, at);
	return 0;
}

static void *stored(struct shim_map *m, const void *owner, const void *value, u64 flags)
{
	struct element **at;

	if (!owner)
		return NULL;
	shim_scx_charge(hw_costs.bpf_storage);
	at = find(m, NULL, owner);
	if (*at)
		return (*at)->value;
	if (!(flags & BPF_LOCAL_STORAGE_GET_F_CREATE))
		return NULL;
	insert(m, at, NULL, owner);
	if (value)
		copy_value(m, (*at)->value, value);
	return (*at)->value;
}

static long stored_no_more(struct shim_map *m, const void *owner)
{
	struct element **at;

	if (!owner)
		return -EINVAL;
	at = find(m, NULL, owner);
	if (!*at)
		return -ENOENT;
	drop(m, at);
	return 0;
}

void *native_bpf_task_storage_get(void *map, struct task_struct *p, void *value, u64 flags)
{
	return stored(shim_scx_map(map), p, value, flags);
}

long native_bpf_task_storage_delete(void *map, struct task_struct *p)
{
	return stored_no_more(shim_scx_map(map), p);
}

void *native_bpf_cgrp_storage_get(void *map, struct cgroup *cgrp, void *value, u64 flags)
{
	return stored(shim_scx_map(map), cgrp, value, flags);
}

long native_bpf_cgrp_storage_delete(void *map, struct cgroup *cgrp)
{
	return stored_no_more(shim_scx_map(map), cgrp);
}

/* bpf_task_storage_free(): what is stored with a task goes with it. */
void shim_scx_task_gone(struct task_struct *p)
{
	struct shim_scheduler *const *at;
	struct shim_map *m;

	shim_for_each_scheduler(at)
		for (m = (*at)->maps; m < (*at)->maps + (*at)->nr_maps; m++)
			if (m->type == BPF_MAP_TYPE_TASK_STORAGE && m->slots)
				stored_no_more(m, p);
}

/* Each element until the callback answers 1; how many it was called for. */
long native_bpf_for_each_map_elem(void *map, long (*callback)(void *map, const void *key, void *value, void *context),
				  void *context, u64 flags)
{
	struct shim_map *m = shim_scx_map(map);
	long called = 0, ends = 0;
	unsigned int i;

	if (flags || (!is_array(m) && !is_hash(m)) || m->type == BPF_MAP_TYPE_ARRAY_OF_MAPS ||
	    m->type == BPF_MAP_TYPE_HASH_OF_MAPS)
		return -EINVAL;
	for (i = 0; i < nr_slots(m) && !ends; i++) {
		struct element *e = is_hash(m) ? m->slots[i] : NULL, *next;

		if (is_array(m)) {
			shim_scx_calls_back();
			ends = callback(map, &i, of_cpu(m, m->slots[i], smp_processor_id()), context);
			called++;
		}
		for (; e && !ends; e = next, called++) {
			next = e->next;	/* the callback may delete it */
			shim_scx_calls_back();
			ends = callback(map, e->key, of_cpu(m, e->value, smp_processor_id()), context);
		}
	}
	return called;
}

/* ------------------------------------------------------------------ queues and stacks */

long native_bpf_map_push_elem(void *map, const void *value, u64 flags)
{
	struct shim_map *m = shim_scx_map(map);
	unsigned long irq;
	long ret = -E2BIG;

	if (!is_queue(m) || (flags & BPF_NOEXIST) || flags > BPF_EXIST)
		return -EINVAL;
	raw_spin_lock_irqsave(&m->lock, irq);
	hw_counts.bpf_ns += hw_costs.lock;	/* taking it has charged that */
	if (m->used == m->max_entries && flags == BPF_EXIST) {	/* in place of the oldest */
		m->head = (m->head + 1) % m->max_entries;
		m->used--;
	}
	if (m->used < m->max_entries) {
		void *slot = m->slots[(m->head + m->used++) % m->max_entries];

		shim_scx_check(value, m->value_size, false);
		shim_scx_access(slot, m->value_size, true);
		memcpy(slot, value, m->value_size);
		ret = 0;
	}
	raw_spin_unlock_irqrestore(&m->lock, irq);
	return ret;
}

static long take(struct shim_map *m, void *value, bool goes)
{
	unsigned long irq;
	unsigned int at;
	long ret = -ENOENT;

	if (!is_queue(m))
		return -EINVAL;
	raw_spin_lock_irqsave(&m->lock, irq);
	hw_counts.bpf_ns += hw_costs.lock;
	at = m->type == BPF_MAP_TYPE_QUEUE ? m->head : m->head + m->used - 1;
	if (m->used) {
		shim_scx_check(value, m->value_size, true);
		shim_scx_access(m->slots[at % m->max_entries], m->value_size, false);
		memcpy(value, m->slots[at % m->max_entries], m->value_size);
		ret = 0;
	} else {
		memset(value, 0, m->value_size);
	}
	if (!ret && goes) {
		m->used--;
		if (m->type == BPF_MAP_TYPE_QUEUE)
			m->head = (m->head + 1) % m->max_entries;
	}
	raw_spin_unlock_irqrestore(&m->lock, irq);
	return ret;
}

long native_bpf_map_pop_elem(void *map, void *value)
{
	return take(shim_scx_map(map), value, true);
}

long native_bpf_map_peek_elem(void *map, void *value)
{
	return take(shim_scx_map(map), value, false);
}
