// SPDX-License-Identifier: GPL-2.0-only
/* drivers/cpuidle/governors/menu.c with notes of what it decides from. */
#include "asked.h"

#define NOTE_TYPICAL(name, args...)	(shim_idle_asked[hw.cpu].typical = (name)(args))
#define get_typical_interval(args...)	SHIM_HOOK(NOTE_TYPICAL, get_typical_interval, args)

#include <drivers/cpuidle/governors/menu.c>
