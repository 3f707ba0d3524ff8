// SPDX-License-Identifier: GPL-2.0-only
/* Processes and threads, through the kernel's own fork, exec, wait and exit. */
#include <setjmp.h>
#include <string.h>
#include "calls.h"
#include "../scenario.h"

struct wl_task {
	struct task task;
};

struct wl_task *wl_self(void)
{
	return (struct wl_task *)self();
}

unsigned long long *wl_chance(void)
{
	return &self()->chance;
}

void wl_note_wait(const char *what, struct wl_task *holder)
{
	waits_for(what, (struct task *)holder);
}

struct start {
	void (*fn)(void *);
	void *arg;
	jmp_buf again;			/* where exec() begins anew */
};

static void task_main(struct kern_task *kern)
{
	struct task *task = task_of(kern);
	struct start start = *(struct start *)task->arg;

	if (!task->is_thread && cookie_of_each_process(task->instance))
		kern_core_sched(0);
	hw_free(task->arg);
	task->arg = &start;
	setjmp(start.again);
	start.fn(start.arg);
}

static struct wl_task *start_task(const char *name, int number, void (*fn)(void *), void *arg)
{
	struct start *start = hw_zalloc(sizeof(*start), 16);

	start->fn = fn;
	start->arg = arg;
	return (struct wl_task *)task_launch(name, number, task_main, start);
}

struct wl_task *wl_fork(const char *name, void (*fn)(void *), void *arg)
{
	return start_task(name, -1, fn, arg);
}

struct wl_task *wl_thread(const char *name, void (*fn)(void *), void *arg)
{
	return start_task(name, -2, fn, arg);
}

void wl_join(struct wl_task *joined)
{
	struct task *task = &joined->task;
	unsigned int id = task->pid;
	int thread = task->is_thread;

	waits_for("the end", task);
	if (!thread)
		kern_wait_child(&task->kern);
	else
		while (wl_load(&task->thread) == id && !self()->killed)
			kern_futex_wait_end(&task->thread, id);
	goes_on();
	task_forget(task);
}

int wl_wait(void)
{
	struct task *task;

	waits_for("the end of a child", NULL);
	task = task_of(kern_wait_child(NULL));
	goes_on();
	if (task)
		task_forget(task);
	return task != NULL;
}

void wl_exec(void (*fn)(void *), void *arg)
{
	struct start *start = self()->arg;

	kern_exec();
	start->fn = fn;
	start->arg = arg;
	longjmp(start->again, 1);
}

void wl_exit(void)
{
	kern_exit();
}

void wl_sched(const struct wl_sched *sched)
{
	static const int policies[] = { 0, 3, 5, 1, 2, 6 };	/* uapi/linux/sched.h */
	struct kern_attr attr = {
		.policy = policies[sched->policy], .nice = sched->nice, .rt_priority = sched->priority,
		.dl_runtime = sched->runtime, .dl_deadline = sched->deadline, .dl_period = sched->period,
		.uclamp_min = sched->util_min, .uclamp_max = sched->util_max,
	};
	int err = kern_setattr(&self()->kern, &attr);

	if (err)
		wl_refuse("the policy of %s: %s", self()->comm, strerror(-err));
}

void wl_nice(int nice)
{
	wl_sched(&(struct wl_sched) { .nice = nice, .util_min = -1, .util_max = -1 });
}

void wl_group(const char *path)
{
	const struct instance *instance = self()->instance;
	/* The groups of what is in the cpuset are below it, as below a scope of systemd's. */
	const char *above = instance && instance->group && instance->group == scenario.workloads_group ?
			    instance->group : "";
	char whole[256], part[256];
	int err;

	snprintf(whole, sizeof(whole), "%s%s", above, strcmp(path, "/") ? path : *above ? "" : path);
	path = whole;
	for (const char *end = path; *end && end[1]; ) {
		end = strchrnul(end + 1, '/');
		snprintf(part, sizeof(part), "%.*s", (int)(end - path), path);
		kern_cgroup_create(part, has_own_cpuset(part));	/* or it is there */
	}
	err = kern_cgroup_attach(&self()->kern, path);
	if (err)
		wl_refuse("group %s: %s", path, strerror(-err));
}
