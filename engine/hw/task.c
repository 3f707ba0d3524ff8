// SPDX-License-Identifier: GPL-2.0-only
/* The tasks that programs run in, in the order in which they were started. */
#include "inside.h"

struct hw_task *hw_first_task;
static struct hw_task *last_task;

void hw_add_task(struct hw_task *task)
{
	task->previous = last_task;
	if (last_task)
		last_task->next = task;
	else
		hw_first_task = task;
	last_task = task;
}

void hw_remove_task(struct hw_task *task)
{
	if (task->previous)
		task->previous->next = task->next;
	else
		hw_first_task = task->next;
	if (task->next)
		task->next->previous = task->previous;
	else
		last_task = task->previous;
}
