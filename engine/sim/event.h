/* SPDX-License-Identifier: GPL-2.0-only */
/* The event queue: a winner tree with one slot for each CPU and one for the engine itself. */
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include "engine_if.h"

void event_init(int slots);
void event_set(int slot, simtime t);
int event_first(void);			/* slot of the earliest event; ties: the lowest slot */
simtime event_first_time(void);
simtime event_time(int slot);
simtime event_others(int slot);		/* earliest event of all slots but this one */

#endif
