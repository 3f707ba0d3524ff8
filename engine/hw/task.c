// SPDX-License-Identifier: GPL-2.0-only
/* The tasks that programs run in, in the order in which they were started. */
#include "inside.h"

struct sim_task *sim_first_task;
static struct sim_task *last_task;

void sim_add_task(struct sim_task *task)
{
	task->previous = last_task;
	if (last_task)
		last_task->next = task;
	else
		sim_first_task = task;
	last_task = task;
}

void sim_remove_task(struct sim_task *task)
{
	if (task->previous)
		task->previous->next = task->next;
	else
		sim_first_task = task->next;
	if (task->next)
		task->next->previous = task->previous;
	else
		last_task = task->previous;
}
