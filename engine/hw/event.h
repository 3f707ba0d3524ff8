/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The event queue.  A CPU waits for one thing at a time, so it has one slot, and nothing in the
 * queue is ever stale.  Eight slots are a group and eight groups a block; each knows its first
 * event.  An event that is added or becomes earlier is compared with these three; only who takes
 * one away looks through a group, a block, and the blocks.
 * The order is total: time and slot are one number, compared as such.  Nothing branches by it:
 * the host would guess wrong every time.
 */
#ifndef HW_EVENT_H
#define HW_EVENT_H

#include "hw.h"

#define EVENT_SLOT_BITS	10
#define EVENT_SLOTS	(1UL << EVENT_SLOT_BITS)
#define EVENT_NEVER	(HW_NEVER >> EVENT_SLOT_BITS)	/* 208 days */

typedef unsigned long long event_key;

struct event_queue {
	event_key	first;				/* of all */
	int		blocks;				/* that are in use */
	event_key	block[EVENT_SLOTS / 64], group[EVENT_SLOTS / 8], slot[EVENT_SLOTS];
} __attribute__((aligned(64)));
extern struct event_queue event_queue;

void event_init(int slots);

static inline event_key event_key_of(unsigned int slot, simtime t)
{
	return (t < EVENT_NEVER ? t : EVENT_NEVER) << EVENT_SLOT_BITS | slot;
}

/* EVENT_NEVER: there is none. */
static inline simtime event_key_time(event_key key)
{
	return key >> EVENT_SLOT_BITS;
}

static inline event_key event_earlier(event_key a, event_key b)
{
	return a < b ? a : b;
}

static inline event_key event_first_of_8(const event_key *k)
{
	event_key a = event_earlier(k[0], k[1]), b = event_earlier(k[2], k[3]);
	event_key c = event_earlier(k[4], k[5]), d = event_earlier(k[6], k[7]);

	return event_earlier(event_earlier(a, b), event_earlier(c, d));
}

/* Of a slot whose event was later, or never. */
static inline void event_add(unsigned int slot, simtime t)
{
	struct event_queue *q = &event_queue;
	event_key key = event_key_of(slot, t);

	q->slot[slot] = key;
	q->group[slot / 8] = event_earlier(key, q->group[slot / 8]);
	q->block[slot / 64] = event_earlier(key, q->block[slot / 64]);
	q->first = event_earlier(key, q->first);
}

static inline void event_set_key(unsigned int slot, event_key key)
{
	struct event_queue *q = &event_queue;
	event_key first;

	q->slot[slot] = key;
	q->group[slot / 8] = event_first_of_8(&q->slot[slot / 8 * 8]);
	q->block[slot / 64] = event_first_of_8(&q->group[slot / 64 * 8]);
	first = q->block[0];
	for (int i = 1; i < q->blocks; i++)
		first = event_earlier(q->block[i], first);
	q->first = first;
}

/* To any time. */
static inline void event_set(unsigned int slot, simtime t)
{
	event_set_key(slot, event_key_of(slot, t));
}

static inline void event_take(unsigned int slot)
{
	event_set_key(slot, EVENT_NEVER << EVENT_SLOT_BITS | slot);
}

static inline unsigned int event_key_slot(event_key key)
{
	return key % EVENT_SLOTS;
}

/* The earliest event; ties: of the lowest slot. */
static inline event_key event_first(void)
{
	return event_queue.first;
}

static inline simtime event_time(unsigned int slot)
{
	return event_key_time(event_queue.slot[slot]);
}

#endif
