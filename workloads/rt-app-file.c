// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads an rt-app file: the grammar of rt-app 1.0 and what the later versions added to
 * it.  Keys that rt-app would pass over are refused, and so is what is not modelled.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include "rt-app-file.h"

#define MAX_THREADS	10000
#define MAX_NAME	40
#define RECORDED_VERSION 1	/* of a recording's words; schedlab/lab/recording/workload.py */

/* ------------------------------------------------------------------ tasks */

#define PROPERTIES	"loop", "policy", "priority", "dl-runtime", "dl-deadline", "dl-period", "slice", \
			"util_min", "util_max", "cpus", "nodes_membind", "taskgroup"

static const char *const phase_keys[] = { PROPERTIES, NULL };
static const char *const task_keys[] = { PROPERTIES, "instance", "delay", "first_cpu", "process", "phases",
					 NULL };

static int count_events(const struct at *object, const char *const *keys)
{
	struct at at;
	int nr = 0;

	each_member(object, it, at) {
		if (at_listed(&at, keys))
			continue;
		if (!rt_is_event(&at))
			at_refuse(&at, "unknown key");
		nr++;
	}
	return nr;
}

static int get_loop(const struct at *object, int min, int standard)
{
	int loop = at_get_number(object, "loop", -1, INT_MAX, standard);

	if (loop >= 0 && loop < min)
		at_refuse(object, "\"loop\" is %d; times, or -1: for ever", loop);
	return loop;
}

static void read_events(struct rt_app *app, struct rt_task *task, const struct at *object,
			const char *const *keys, struct rt_phase *phase)
{
	struct at at;
	int nr = count_events(object, keys);

	if (!nr)
		at_refuse(object, "there is no event in it");
	phase->event = wl_new(struct rt_event, nr);
	each_member(object, it, at)
		if (!at_listed(&at, keys))
			rt_read_event(app, task, &at, &phase->event[phase->nr++]);
}

static void read_phase(struct rt_app *app, struct rt_task *task, const struct at *object,
		       struct rt_phase *phase, enum wl_policy *now)
{
	at_need_object(object);
	phase->loop = get_loop(object, 1, 1);
	rt_read_sched(object, &phase->sched, now, 0);
	rt_read_place(object, &phase->place, *now);
	read_events(app, task, object, phase_keys, phase);
}

/* Events without phases: one phase, whose loop is the task's. */
static void read_plain(struct rt_app *app, struct rt_task *task, const struct at *object)
{
	struct rt_phase *phase = wl_new(struct rt_phase, 1);

	phase->loop = get_loop(object, 1, -1);
	phase->sched.wanted.util_min = phase->sched.wanted.util_max = -1;
	phase->place.node = -1;
	read_events(app, task, object, task_keys, phase);
	task->loop = 1;
	task->phase = phase;
	task->nr_phases = 1;
}

static void read_phases(struct rt_app *app, struct rt_task *task, const struct at *object,
			const struct at *phases, enum wl_policy now)
{
	struct at at;

	each_member(object, it, at)
		if (!at_listed(&at, task_keys) && rt_is_event(&at))
			at_refuse(&at, "an event beside phases would never come");
	count_events(object, task_keys);
	at_need_object(phases);
	if (!json_object_size(phases->value))
		at_refuse(phases, "there is no phase in it");
	task->loop = get_loop(object, 0, -1);
	task->phase = wl_new(struct rt_phase, json_object_size(phases->value));
	each_member(phases, it, at)
		read_phase(app, task, &at, &task->phase[task->nr_phases++], &now);
}

static void read_task(struct rt_app *app, const struct at *object, struct rt_task *task,
		      enum wl_policy now)
{
	struct at phases;

	task->delay_us = at_get_number(object, "delay", 0, USEC_PER_DAY, 0);
	task->first_cpu = at_get_number(object, "first_cpu", 0, INT_MAX, -1);
	task->process = at_get_number(object, "process", 1, INT_MAX, 0);
	app->processes |= task->process;
	rt_read_sched(object, &task->sched, &now, 1);
	rt_read_place(object, &task->place, now);
	if (at_find(object, "phases", &phases))
		read_phases(app, task, object, &phases, now);
	else
		read_plain(app, task, object);
}

/* All names first: a task may fork one that stands below it. */
static void name_tasks(struct rt_app *app, const struct at *tasks)
{
	struct at at, again;
	int forked_too = 0;

	at_need_object(tasks);
	app->task = wl_new(struct rt_task, json_object_size(tasks->value) + 1);
	each_member(tasks, it, at) {
		struct rt_task *task = &app->task[app->nr_tasks++];

		at_need_object(&at);
		task->name = at_name(&at);
		task->line = at.line;
		at_find(tasks, task->name, &again);
		if (!at.length || at.length > MAX_NAME || strpbrk(task->name, "/\n"))
			at_refuse(&at, "a task's name has 1 to %d characters and no /", MAX_NAME);
		task->instances = at_get_number(&at, "instance", 0, MAX_THREADS, 1);
		app->nr_threads += task->instances;
		forked_too |= !task->instances;
	}
	if (!app->nr_threads)
		at_refuse(tasks, forked_too ? "no task has an instance to begin with" : "there is no task in it");
	if (app->nr_threads > MAX_THREADS)
		at_refuse(tasks, "%d threads are more than %d", app->nr_threads, MAX_THREADS);
}

static void check_forks(const struct at *tasks, const struct rt_task *task)
{
	for (int p = 0; p < task->nr_phases; p++)
		for (int e = 0; e < task->phase[p].nr; e++) {
			const struct rt_task *child = task->phase[p].event[e].child;

			if (child && child->meets)
				wl_refuse("%s:%d: tasks.%s: it is forked by %s, and how many threads its barrier "
					  "waits for is not known", tasks->file, child->line, child->name, task->name);
		}
}

static void check_ends(const struct at *tasks, const struct rt_task *task)
{
	int endless = task->loop < 0;

	for (int p = 0; p < task->nr_phases; p++)
		endless |= task->phase[p].loop < 0;
	if (endless)
		wl_refuse("%s:%d: tasks.%s: its loop never ends, and global.duration sets no end either",
			  tasks->file, task->line, task->name);
}

static void read_tasks(struct rt_app *app, const struct at *tasks, enum wl_policy standard)
{
	struct rt_task *task;
	struct at at;

	name_tasks(app, tasks);
	rt_replay_name_tasks(app);
	task = app->task;
	each_member(tasks, it, at)
		read_task(app, &at, task++, standard);
	for (task = app->task; task < app->task + app->nr_tasks; task++) {
		check_forks(tasks, task);
		if (!app->duration)
			check_ends(tasks, task);
	}
	for (struct rt_resource *r = app->resources; r; r = r->next)
		if (r->type == RT_MEETING && r->expected)
			r->expected--;
}

/* ------------------------------------------------------------------ the rest of the file */

static void read_calibration(struct rt_app *app, const struct at *at)
{
	char rest;

	if (json_is_integer(at->value)) {
		app->ns_per_loop = at_number(at, 1, 1000000);
		app->reference = -1;
		return;
	}
	if (sscanf(at_text(at), "CPU%d%c", &app->reference, &rest) != 1 || app->reference < 0)
		at_refuse(at, "\"%s\": ns of a loop, or a CPU as \"CPU0\", is expected", at_text(at));
	if (app->reference >= wl_cpus())
		at_refuse(at, "there is no CPU %d, the last is %d", app->reference, wl_cpus() - 1);
}

static enum wl_policy read_global(struct rt_app *app, const struct at *global)
{
	/* The last four have no effect here: locked pages, files to plot, marks in a trace. */
	static const char *const keys[] = {
		"duration", "calibration", "default_policy", "pi_enabled", "mem_buffer_size", "io_device",
		"cumulative_slack", "log_basename", "logdir", "log_size", "frag", "lock_pages", "ftrace",
		"gnuplot", NULL
	};
	long long duration;
	struct at at;

	at_only(global, keys);
	duration = at_get_number(global, "duration", -1, USEC_PER_DAY / 1000000, -1);
	app->duration = duration > 0 ? duration : 0;
	if (at_find(global, "calibration", &at))
		read_calibration(app, &at);
	if (at_get_flag(global, "pi_enabled")) {
		at_find(global, "pi_enabled", &at);
		at_refuse(&at, "mutexes that hand on priority are not modelled");
	}
	app->mem_buffer = at_get_number(global, "mem_buffer_size", 1, INT_MAX, app->mem_buffer);
	app->cumulative_slack = at_get_flag(global, "cumulative_slack");
	if (at_find(global, "io_device", &at))
		app->io_device = at_reference(&at);
	if (at_find(global, "log_basename", &at))
		app->log_basename = at_reference(&at);
	return at_find(global, "default_policy", &at) ? rt_read_policy(&at) : WL_NORMAL;
}

/* Resources are made where they are used; that they are listed changes nothing. */
static void check_resources(const struct at *resources)
{
	static const char *const keys[] = { "type", NULL };
	static const char *const types[] = {
		"mutex", "wait", "signal", "broadcast", "sync", "sleep", "run", "timer", NULL
	};
	struct at at, type;

	at_need_object(resources);
	each_member(resources, it, at) {
		const char *const *known = types;

		at_only(&at, keys);
		if (!at_find(&at, "type", &type))
			continue;
		while (*known && strcmp(*known, at_text(&type)))
			known++;
		if (!*known)
			at_refuse(&type, "\"%s\" is not a type of resource", at_text(&type));
	}
}

struct rt_app *rt_app_read(const char *path)
{
	static const char *const keys[] = { "tasks", "global", "resources", "recorded", "messages",
					    "barriers", "items", NULL };
	struct rt_app *app = wl_new(struct rt_app, 1);
	struct at root = at_root(path), at, items;
	enum wl_policy standard = WL_NORMAL;

	app->mem_buffer = 4 << 20;
	app->io_device = "/dev/null";
	app->log_basename = "rt-app";
	app->ns_per_loop = 1;
	at_only(&root, keys);
	if (at_find(&root, "global", &at))
		standard = read_global(app, &at);
	if (at_find(&root, "recorded", &at)) {
		if (at_get_number(&at, "version", 0, INT_MAX, 0) != RECORDED_VERSION)
			at_refuse(&at, "\"version\" is not %d; this schedlab cannot replay it", RECORDED_VERSION);
		app->recorded_cpus = at_get_number(&at, "cpus", 0, INT_MAX, 0);
	}
	if (at_find(&root, "resources", &at))
		check_resources(&at);
	if (at_find(&root, "messages", &at))
		rt_read_messages(app, &at);
	if (at_find(&root, "barriers", &at))
		rt_read_barriers(app, &at);
	if (at_find(&root, "items", &items))
		rt_count_items(app, &items);
	if (!at_find(&root, "tasks", &at))
		at_refuse(&root, "\"tasks\" is missing");
	read_tasks(app, &at, standard);
	if (app->nr_items)
		rt_read_items(app, &items);
	if (app->replays)
		rt_check_replays(app, &at);
	json_decref(root.value);
	return app;
}
