// SPDX-License-Identifier: GPL-2.0-only
/* The workloads of the scenario: what they are given and tell, their beginning and end. */
#include <stdlib.h>
#include <string.h>
#include "instance.h"
#include "scenario.h"
#include "steady.h"

static struct instance *outside; /* its hook runs on the host's stack, before or after the run */

struct instance *instance_running(void)
{
	return outside ? outside : self()->instance;
}

int instances_warm;

int instances_warmed_up(void)
{
	int under_way = 0;

	instances_warm = 1;
	for (int i = 0; i < scenario.nr_workloads; i++) {
		if (scenario.workloads[i].warms_up)
			scenario.workloads[i].began = hw.clk;
		else
			under_way |= scenario.workloads[i].in_window;
	}
	return under_way;
}

/* ------------------------------------------------------------------ waiting for ever */

static int alive(const struct task *task, const struct instance *instance)
{
	return task->instance == instance && task->kernel;
}

static void die_deadlocked(const struct instance *instance)
{
	fprintf(stderr, "schedsim: deadlock in workload %s at %.6f s: all its tasks wait\n",
		instance->label, (hw.clk - origin) / 1e9);
	for_each_task(t) {
		if (!alive(t, instance))
			continue;
		fprintf(stderr, "  %s/%d waits for %s", t->comm, t->pid, t->waits_for);
		if (t->waits_for_task)
			fprintf(stderr, " of %s/%d", t->waits_for_task->comm, t->waits_for_task->pid);
		fputc('\n', stderr);
	}
	exit(3);
}

void instances_check(void)
{
	for (int i = 0; i < scenario.nr_workloads; i++) {
		struct instance *instance = &scenario.workloads[i];
		int tasks = 0, stuck = 0;

		if (instance->done)
			continue;
		for_each_task(t)
			if (alive(t, instance)) {
				tasks++;
				stuck += t->waits_for && kern_is_blocked(&t->kern);
			}
		if (tasks && stuck == tasks)
			die_deadlocked(instance);
	}
}

/* ------------------------------------------------------------------ beginning and end */

void instances_prepare(void)
{
	for (int i = 0; i < scenario.nr_workloads; i++) {
		struct instance *instance = &scenario.workloads[i];

		outside = instance;
		if (instance->values.workload->prepare)
			instance->prepared = instance->values.workload->prepare();
	}
	outside = NULL;
}

void instances_finish(void)
{
	for (int i = 0; i < scenario.nr_workloads; i++) {
		struct instance *instance = &scenario.workloads[i];

		outside = instance;
		if (instance->done && instance->values.workload->finish)
			instance->values.workload->finish(instance->prepared);
	}
	outside = NULL;
}

int instances_running(void)
{
	int running = 0;

	for (int i = 0; i < scenario.nr_workloads; i++)
		running += !scenario.workloads[i].done;
	return running;
}

/*
 * One that does not warm up by itself is called again until its measured part is of a settled
 * state.
 */
static int counts(const struct instance *instance)
{
	return !scenario.until_settled || instance->warms_up || steady_counts(instance->began);
}

/* What its processes fork inherits a cookie, unless each has its own. */
int cookie_of_each_process(const struct instance *instance)
{
	return instance && instance->cookie && !instance->cookie->value;
}

static void __hw_noreturn refuse(const struct instance *instance, const char *what, const char *name, int err)
{
	hw_refuse("workload %s: %s %s: %s", instance->label, what, name, strerror(-err));
}

static void instance_main(struct kern_task *kern)
{
	struct task *task = task_of(kern);
	struct instance *instance = task->arg;
	int err = instance->group ? kern_cgroup_attach(&task->kern, instance->group) : 0;

	if (err)
		refuse(instance, "group", instance->group, err);
	err = instance->has_affinity ? kern_setaffinity(&task->kern, instance->affinity, hw_nr_cpus) : 0;
	if (err)
		refuse(instance, "pinning", task->comm, err);
	kern_begin_here();
	err = instance->has_attr ? kern_setattr(&task->kern, &instance->attr) : 0;
	if (err)
		refuse(instance, "policy of", task->comm, err);
	if (instance->cookie)
		kern_core_sched(instance->cookie->value);
	json_array_clear(instance->results);
	instance->ended = 0;
	instance->in_window = 0;
	instance->values.workload->main();
	if (!instance->ended)
		instance->ended = kern_now();
	instance->done = counts(instance);
	for_each_task(t)
		if (t != task && alive(t, instance))
			kern_kill(&t->kern);
	if (!instances_running())
		hw_ask_control(kern_now());
}

static struct task *call(struct instance *instance)
{
	struct task *caller = self(), *task;

	task_belongs(caller, instance);
	task = task_launch(instance->values.workload->name, 0, instance_main, instance);
	task_belongs(caller, NULL);
	return task;
}

/* A shell that calls the program until a call counts. */
static void shell_main(struct kern_task *shell)
{
	struct instance *instance = task_of(shell)->arg;

	while (!instance->done) {
		call(instance);
		task_forget(task_of(kern_wait_child(NULL)));
	}
}

void instance_start(struct instance *instance)
{
	if (scenario.until_settled)
		task_launch("sh", 0, shell_main, instance);
	else
		call(instance);
}
