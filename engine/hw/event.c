// SPDX-License-Identifier: GPL-2.0-only
#include "event.h"

struct event_queue event_queue;

void event_init(int slots)
{
	struct event_queue *q = &event_queue;

	q->blocks = (slots + 63) / 64;
	for (unsigned int i = 0; i < EVENT_SLOTS; i++)
		q->slot[i] = event_key_of(i, HW_NEVER);
	for (unsigned int i = 0; i < EVENT_SLOTS; i += 8)
		q->group[i / 8] = q->slot[i];
	for (unsigned int i = 0; i < EVENT_SLOTS; i += 64)
		q->block[i / 64] = q->slot[i];
	q->first = q->slot[0];
}
