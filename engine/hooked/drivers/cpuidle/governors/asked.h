/* SPDX-License-Identifier: GPL-2.0-only */
/* What a cpuidle governor asks before it chooses, noted for the tracepoint at its answer. */
#ifndef SHIM_ASKED_H
#define SHIM_ASKED_H

#include <linux/cpuidle.h>
#include <linux/tick.h>
#include "hook.h"
#include "idle_choice.h"

#define NOTE_LATENCY(name, args...)	(shim_idle_asked[hw.cpu].latency_limit = (name)(args))
#define NOTE_TIMER(name, args...)	(shim_idle_asked[hw.cpu].next_timer = (name)(args))
#define cpuidle_governor_latency_req(args...) \
	SHIM_CALL(NOTE_LATENCY, cpuidle_governor_latency_req, args)
#define tick_nohz_get_sleep_length(args...) \
	SHIM_CALL(NOTE_TIMER, tick_nohz_get_sleep_length, args)

#endif
