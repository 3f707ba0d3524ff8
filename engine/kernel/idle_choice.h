/* SPDX-License-Identifier: GPL-2.0-only */
/* What each CPU's cpuidle governor has asked for its present choice: -1 for what it did not ask. */
#ifndef IDLE_CHOICE_H
#define IDLE_CHOICE_H

#include "shim.h"

struct shim_idle_inputs {
	s64 latency_limit, next_timer;	/* ns */
	s64 typical;			/* menu's, us */
};

extern struct shim_idle_inputs shim_idle_asked[HW_MAX_CPUS];

#endif
