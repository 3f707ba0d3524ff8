// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event queue.  A CPU waits for one thing at a time, so the queue is a winner
 * tree with one slot a CPU: moving an event is one pass from its leaf upwards, until
 * a node does not change, and nothing in the tree is ever stale.  The slot of the
 * running CPU keeps its old time; event_others() looks past it.
 * The order is total: time and slot are one number, compared as such.
 */
#include "event.h"
#include "sim.h"

#define SLOT_BITS	11
#define MAX_LEAVES	(1UL << SLOT_BITS)
#define NEVER		(SIM_NEVER >> SLOT_BITS)	/* 104 days */

static unsigned long long node[2 * MAX_LEAVES];
static unsigned long leaves;

static unsigned long long key(unsigned long slot, simtime t)
{
	return (t < NEVER ? t : NEVER) << SLOT_BITS | slot;
}

static simtime time_of(unsigned long long k)
{
	return k >> SLOT_BITS == NEVER ? SIM_NEVER : k >> SLOT_BITS;
}

void event_init(int slots)
{
	for (leaves = 2; leaves < (unsigned long)slots; leaves *= 2)
		;
	for (unsigned long i = 0; i < leaves; i++)
		node[leaves + i] = key(i, SIM_NEVER);
	for (unsigned long i = leaves - 1; i > 0; i--)
		node[i] = node[2 * i];
}

void event_set(int slot, simtime t)
{
	unsigned long i = leaves + slot;
	unsigned long long first = key(slot, t);

	node[i] = first;
	while (i > 1) {
		unsigned long long other = node[i ^ 1];

		first = other < first ? other : first;
		i /= 2;
		if (node[i] == first)
			return;
		node[i] = first;
	}
}

int event_first(void)
{
	return node[1] & (MAX_LEAVES - 1);
}

simtime event_first_time(void)
{
	return time_of(node[1]);
}

simtime event_time(int slot)
{
	return time_of(node[leaves + slot]);
}

simtime event_others(int slot)
{
	unsigned long long first = ~0ULL;

	for (unsigned long i = leaves + slot; i > 1; i /= 2)
		first = node[i ^ 1] < first ? node[i ^ 1] : first;
	return time_of(first);
}
