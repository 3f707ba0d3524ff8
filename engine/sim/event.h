/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event queue.  A CPU waits for one thing at a time, so the queue is a winner
 * tree with one slot a CPU: moving an event is one pass from its leaf to the root, and
 * nothing in the tree is ever stale.  The slot of the running CPU keeps its old time;
 * event_others() looks past it.
 * The order is total: time and slot are one number, compared as such.  The passes have
 * no branch that depends on it: the host would guess wrong every time.
 */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "engine_if.h"

#define EVENT_SLOT_BITS	10
#define EVENT_LEAVES	(1UL << EVENT_SLOT_BITS)
#define EVENT_NEVER	(SIM_NEVER >> EVENT_SLOT_BITS)	/* 208 days */

struct event_tree {
	unsigned long		leaves;			/* a power of two */
	unsigned long long	node[2 * EVENT_LEAVES];	/* from 1, the root; leaves last */
};
extern struct event_tree event_tree;

void event_init(int slots);

static inline simtime event_key_time(unsigned long long key)
{
	return key >> EVENT_SLOT_BITS == EVENT_NEVER ? SIM_NEVER : key >> EVENT_SLOT_BITS;
}

static inline unsigned long long event_earlier(unsigned long long a, unsigned long long b)
{
	return a < b ? a : b;
}

static inline void event_set(int slot, simtime t)
{
	unsigned long long *node = event_tree.node, first;
	unsigned long i = event_tree.leaves + slot;

	first = (t < EVENT_NEVER ? t : EVENT_NEVER) << EVENT_SLOT_BITS | slot;
	for (node[i] = first; i > 1; node[i] = first) {
		first = event_earlier(node[i ^ 1], first);
		i /= 2;
	}
}

/* Slot of the earliest event; ties: the lowest slot. */
static inline int event_first(void)
{
	return event_tree.node[1] & (EVENT_LEAVES - 1);
}

static inline simtime event_first_time(void)
{
	return event_key_time(event_tree.node[1]);
}

static inline simtime event_time(int slot)
{
	return event_key_time(event_tree.node[event_tree.leaves + slot]);
}

/* The earliest event of all slots but this one. */
static inline simtime event_others(int slot)
{
	unsigned long long first = ~0ULL;

	for (unsigned long i = event_tree.leaves + slot; i > 1; i /= 2)
		first = event_earlier(event_tree.node[i ^ 1], first);
	return event_key_time(first);
}

#endif
