// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event queue.  A CPU waits for one thing at a time, so the queue is a winner
 * tree with one slot a CPU: moving an event is one pass from leaf to root, and
 * nothing in it is ever stale.  The order is total: (time, slot).
 */
#include <stdlib.h>
#include "event.h"
#include "sim.h"

#define MAX_LEAVES 2048

static simtime times[MAX_LEAVES];
static unsigned short winner[2 * MAX_LEAVES];
static int leaves;

int event_first;
simtime event_first_time;

void event_init(int slots)
{
	for (leaves = 1; leaves < slots; leaves *= 2)
		;
	for (int i = 0; i < leaves; i++) {
		times[i] = SIM_NEVER;
		winner[leaves + i] = i;
	}
	for (int i = leaves - 1; i > 0; i--)
		winner[i] = winner[2 * i];
	event_first = 0;
	event_first_time = SIM_NEVER;
}

void event_set(int slot, simtime t)
{
	times[slot] = t;
	for (int i = (leaves + slot) / 2; i; i /= 2) {
		int left = winner[2 * i], right = winner[2 * i + 1];

		winner[i] = times[right] < times[left] ? right : left;
	}
	event_first = winner[1];
	event_first_time = times[event_first];
}

simtime event_time(int slot)
{
	return times[slot];
}
