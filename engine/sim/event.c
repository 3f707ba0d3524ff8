// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event queue.  A CPU waits for one thing at a time, so the queue is a winner
 * tree with one slot a CPU: moving an event is one pass from its leaf upwards, until
 * a node does not change, and nothing in the tree is ever stale.  The slot of the
 * running CPU keeps its old time; event_others() looks past it.
 * The order is total: (time, slot).
 */
#include "event.h"
#include "sim.h"

#define MAX_LEAVES 2048

static struct node {
	simtime t;
	unsigned long slot;
} node[2 * MAX_LEAVES];
static unsigned long leaves;

void event_init(int slots)
{
	for (leaves = 2; leaves < (unsigned long)slots; leaves *= 2)
		;
	for (unsigned long i = 0; i < leaves; i++)
		node[leaves + i] = (struct node) { SIM_NEVER, i };
	for (unsigned long i = leaves - 1; i > 0; i--)
		node[i] = node[2 * i];
}

void event_set(int slot, simtime t)
{
	unsigned long i = leaves + slot;

	node[i].t = t;
	while (i > 1) {
		unsigned long left = i & ~1UL;
		struct node w = node[left + (node[left + 1].t < node[left].t)];

		i /= 2;
		if (node[i].t == w.t && node[i].slot == w.slot)
			return;
		node[i] = w;
	}
}

int event_first(void)
{
	return node[1].slot;
}

simtime event_first_time(void)
{
	return node[1].t;
}

simtime event_time(int slot)
{
	return node[leaves + slot].t;
}

simtime event_others(int slot)
{
	simtime t = SIM_NEVER;

	for (unsigned long i = leaves + slot; i > 1; i /= 2)
		t = node[i ^ 1].t < t ? node[i ^ 1].t : t;
	return t;
}
