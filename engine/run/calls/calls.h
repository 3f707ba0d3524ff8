/* SPDX-License-Identifier: GPL-2.0-only */
/* Calls that may wait for ever say for what: shown when all tasks of a workload do. */
#ifndef RUN_CALLS_H
#define RUN_CALLS_H

#include "instance.h"

static inline void waits_for(const char *what, struct task *of)
{
	struct task *task = self();

	task->waits_for = what;
	task->waits_for_task = of;
}

static inline void goes_on(void)
{
	waits_for(NULL, NULL);
}

#endif
