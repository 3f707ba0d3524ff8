// SPDX-License-Identifier: GPL-2.0-only
/*
 * What schedulers tell their programs: ring buffers, as kernel/bpf/ringbuf.c has them, whose reader
 * takes a message as soon as it and all before it are submitted or discarded. And performance
 * counters, which no program has opened here.
 */
#include <linux/bpf.h>
#include <linux/list.h>
#include "scx.h"

struct message {
	struct list_head list;		/* of its buffer, the oldest first */
	struct shim_map	*ring;
	unsigned int	length;		/* with its header */
	bool		is_done;
	struct list_head held;		/* by the scheduler, until then */
	void		*data;
};
static LIST_HEAD(held);

static struct shim_map *ring_of(void *map)
{
	struct shim_map *ring = shim_scx_map(map);

	if (ring->type != BPF_MAP_TYPE_RINGBUF)
		hw_end_in_scheduler("the scheduler uses as a ring buffer a map of another type");
	return ring;
}

void shim_scx_make_ring(struct shim_map *ring)
{
	INIT_LIST_HEAD(&ring->messages);
}

/* Behind all that its reader does not have yet; one byte of it is never used. */
static struct message *reserve(struct shim_map *ring, u64 size)
{
	u64 length = round_up(size + BPF_RINGBUF_HDR_SZ, 8);
	struct message *m = NULL;
	unsigned long flags;

	if (size > UINT_MAX / 4 || length > ring->max_entries)
		return NULL;
	raw_spin_lock_irqsave(&ring->lock, flags);
	hw_counts.bpf_ns += hw_costs.lock;	/* taking it has charged that */
	if (ring->used + length < ring->max_entries) {
		m = hw_zalloc(sizeof(*m), 8);
		m->ring = ring;
		m->length = length;
		ring->used += length;
		list_add_tail(&m->list, &ring->messages);
	}
	raw_spin_unlock_irqrestore(&ring->lock, flags);
	return m;
}

static void read(struct shim_map *ring)
{
	struct message *m, *next;

	list_for_each_entry_safe(m, next, &ring->messages, list) {
		if (!m->is_done)
			return;
		ring->head += m->length;
		ring->used -= m->length;
		list_del(&m->list);
		hw_free(m);
	}
}

void *native_bpf_ringbuf_reserve(void *map, u64 size, u64 flags)
{
	struct message *m = flags ? NULL : reserve(ring_of(map), size);

	if (!m)
		return NULL;
	m->data = shim_scx_alloc("a message of a ring buffer", size);
	list_add(&m->held, &held);
	shim_scx_holds(SHIM_SCX_MESSAGES, 1);
	return m->data;
}

static void finish(void *data)
{
	struct message *m;

	list_for_each_entry(m, &held, held)
		if (m->data == data)
			break;
	if (list_entry_is_head(m, &held, held))
		hw_end_in_scheduler("the scheduler submits or discards a message that it has not reserved");
	list_del(&m->held);
	shim_scx_free(data);
	shim_scx_holds(SHIM_SCX_MESSAGES, -1);
	shim_scx_charge(hw_costs.lock);		/* its length is written by xchg() */
	m->is_done = true;
	read(m->ring);
}

void native_bpf_ringbuf_submit(void *message, u64 flags)
{
	finish(message);
}

void native_bpf_ringbuf_discard(void *message, u64 flags)
{
	finish(message);
}

long native_bpf_ringbuf_output(void *map, void *message, u64 size, u64 flags)
{
	struct shim_map *ring = ring_of(map);
	struct message *m;

	if (flags & ~(BPF_RB_NO_WAKEUP | BPF_RB_FORCE_WAKEUP))
		return -EINVAL;
	shim_scx_check(message, size, false);
	m = reserve(ring, size);
	if (!m)
		return -EAGAIN;
	m->is_done = true;
	shim_scx_charge(hw_costs.lock);
	read(ring);
	return 0;
}

u64 native_bpf_ringbuf_query(void *map, u64 flags)
{
	const struct shim_map *ring = ring_of(map);

	switch (flags) {
	case BPF_RB_AVAIL_DATA:
		return ring->used;
	case BPF_RB_RING_SIZE:
		return ring->max_entries;
	case BPF_RB_CONS_POS:
		return ring->head;
	case BPF_RB_PROD_POS:
		return ring->head + ring->used;
	default:
		return 0;
	}
}

long native_bpf_perf_event_read_value(void *map, u64 flags, void *value, u32 size)
{
	shim_scx_check(value, size, true);
	memset(value, 0, size);
	return -ENOENT;
}
