// SPDX-License-Identifier: GPL-2.0-only
#include "event.h"

struct event_tree event_tree;

void event_init(int slots)
{
	unsigned long leaves = 2;

	while (leaves < (unsigned long)slots)
		leaves *= 2;
	event_tree.leaves = leaves;
	for (unsigned long i = 0; i < leaves; i++)
		event_tree.node[leaves + i] = EVENT_NEVER << EVENT_SLOT_BITS | i;
	for (unsigned long i = leaves - 1; i > 0; i--)
		event_tree.node[i] = event_tree.node[2 * i];
}
