// SPDX-License-Identifier: GPL-2.0-only
/* The tasks of the run: started as children of the caller, listed until nobody needs them. */
#include <string.h>
#include "instance.h"
#include "scenario.h"

unsigned long tasks_started;

static int next_pid = 2;

static void set_working_set(struct task *t)
{
	const struct wl_working_set *set = &t->instance->values.workload->working_set;

	t->touched = (struct kern_touched) {
		.process = set->process, .child = set->child, .thread = set->thread,
		.stack = set->stack,
	};
}

void task_belongs(struct task *task, struct instance *instance)
{
	task->instance = instance;
	task->of_workload = instance != NULL;
}

/*
 * The tasks of workloads by their names, those of the scenario with what they fork: not shells and
 * daemons.
 */
static struct hw_account *account_of(const struct task *task, const struct task *parent, const char *name)
{
	if (task->instance || task->main == program_main)
		return hw_account(name);
	return parent ? parent->account : NULL;
}

/* Runs on the caller's time, as fork() does. */
struct task *task_launch(const char *comm, int number, void (*main)(struct kern_task *), void *arg)
{
	struct task *t = hw_zalloc(sizeof(*t), 64), *parent = self();
	char name[32] = "";

	tasks_started++;
	t->pid = next_pid++;
	if (number > 0)
		snprintf(name, sizeof(name), "%.9s%d", comm, number);
	else
		snprintf(name, sizeof(name), "%.15s", comm);
	memcpy(t->comm, name, sizeof(t->comm) - 1);
	t->group = parent && !strcmp(parent->comm, comm) ? parent->group : hw_picture_group(comm);
	t->main = main;
	t->arg = arg;
	t->mem_node = -1;
	task_belongs(t, parent ? parent->instance : NULL);
	if (t->instance)
		set_working_set(t);
	t->account = account_of(t, parent, comm);
	t->is_thread = number == -2;
	t->process = t->is_thread && parent ? parent->process : t->pid;
	t->chance = hw_random();
	hw_add_task(&t->hw);
	kern_fork(&t->kern, t->is_thread ? KERN_THREAD : 0);
	return t;
}

/* Its results are of no interest and nobody holds it any more. */
void task_free(struct task *task)
{
	if (task->measured)
		return;
	hw_remove_task(&task->hw);
	kern_futex_forget(&task->thread);
	hw_free(task);
}

/* Nobody asks for it any more: when the kernel has let go too, it can go. */
void task_forget(struct task *task)
{
	task->joined = 1;
	if (task->released)
		task_free(task);
}

void task_released(struct kern_task *kern)
{
	struct task *task = task_of(kern);

	task->released = 1;
	if (task->joined)
		task_free(task);
}

void task_no_memory(int node)
{
	const struct task *task = self();
	const char *who = task && task->instance ? task->instance->label : "the scenario";

	if (node < 0)
		hw_refuse("%s: its memory does not fit the machine's nodes", who);
	hw_refuse("%s: its memory does not fit node %d, which it is bound to", who, node);
}
