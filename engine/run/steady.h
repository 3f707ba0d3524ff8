/* SPDX-License-Identifier: GPL-2.0-only */
/* The watch for a settled state, and the warm-up that waits for it. */
#ifndef RUN_STEADY_H
#define RUN_STEADY_H

#include "run.h"

simtime steady_due(void);		/* when it looks next */
void steady_look(void);			/* from the load's beginning on, whenever it is due */
int steady_warm(void);			/* all that must settle has settled, or the wait is over */
int steady_counts(simtime from); /* a measured part from there to now is one of the settled state */
json_t *steady_json(simtime measured_from);

#endif
