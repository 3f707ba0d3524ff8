// SPDX-License-Identifier: GPL-2.0-only
/* The tasks of the run: started as children of who asks, listed until nobody needs them. */
#include <string.h>
#include "instance.h"

unsigned long tasks_started;

static int next_pid = 2;

static void set_working_set(struct hw_task *t)
{
	const struct wl_working_set *set = &t->instance->values.workload->working_set;

	t->working_set = (struct hw_working_set) {
		.process = set->process, .child = set->child, .thread = set->thread,
		.stack = set->stack,
	};
}

void task_belongs(struct hw_task *task, struct instance *instance)
{
	task->instance = instance;
	task->of_workload = instance != NULL;
}

/* Runs on the caller's time, as fork() does. */
struct hw_task *task_launch(const char *comm, int number, void (*main)(struct hw_task *), void *arg)
{
	struct hw_task *t = hw_zalloc(sizeof(*t), 64), *parent = self();
	char name[32] = "";

	tasks_started++;
	t->pid = next_pid++;
	if (number > 0)
		snprintf(name, sizeof(name), "%.9s%d", comm, number);
	else
		snprintf(name, sizeof(name), "%.15s", comm);
	memcpy(t->comm, name, sizeof(t->comm) - 1);
	t->main = main;
	t->arg = arg;
	t->mem_node = -1;
	task_belongs(t, parent ? parent->instance : NULL);
	if (t->instance)
		set_working_set(t);
	t->is_thread = number == -2;
	t->chance = hw_random();
	hw_add_task(t);
	kern_fork(t, t->is_thread ? KERN_THREAD : 0);
	return t;
}

/* Its results are of no interest and nobody holds it any more. */
void task_free(struct hw_task *task)
{
	if (task->measured)
		return;
	hw_remove_task(task);
	kern_futex_forget(&task->thread);
	hw_free(task);
}

/* Nobody asks for it any more: when the kernel has let go too, it can go. */
void task_forget(struct hw_task *task)
{
	task->joined = 1;
	if (task->released)
		task_free(task);
}

void task_released(struct hw_task *task)
{
	task->released = 1;
	if (task->joined)
		task_free(task);
}
