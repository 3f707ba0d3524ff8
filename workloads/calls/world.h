/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the calls are made of.  The engine compiles them with SIMULATED: on the simulated
 * kernel (kern.h) and hardware (hw.h).  schedlab-load compiles them on the C library.
 */
#ifndef CALLS_WORLD_H
#define CALLS_WORLD_H

#include "backend.h"

#ifdef SIMULATED
#include "json.h"
#include "scenario.h"
#include "instance.h"

#define MAX_CPUS	HW_MAX_CPUS

struct wl_task {
	struct task;
};
#else
#include "../posix/arena.h"
#endif

#endif
