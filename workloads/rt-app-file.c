// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reads an rt-app file: the grammar of rt-app 1.0 and what the later versions added to
 * it.  Keys that rt-app would pass over are refused, and so is what is not modelled.
 */
#include <ctype.h>
#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt-app.h"

#define MAX_THREADS	10000
#define MAX_NAME	40
#define USEC_PER_DAY	86400000000LL

/* Where we are in the file, as a chain on the stack. */
struct at {
	const struct at	*up;
	const char	*file;
	const char	*key;
	int		length;			/* of the key, without its place */
	int		line;
	json_t		*value;
};

static void print_keys(const struct at *at, char *text, size_t size)
{
	size_t used;

	if (!at->up)
		return;
	print_keys(at->up, text, size);
	used = strlen(text);
	snprintf(text + used, size - used, "%s%.*s", used ? "." : "", at->length, at->key);
}

/* Names of the file may hold anything. */
static void one_line(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

static void wrong(const struct at *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

static void wrong(const struct at *at, const char *fmt, ...)
{
	char keys[400] = "", text[400];
	va_list args;

	print_keys(at, keys, sizeof(keys));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	one_line(keys);
	one_line(text);
	wl_refuse("%s:%d: %s%s%s", at->file, at->line, keys, keys[0] ? ": " : "", text);
}

static struct at member(const struct at *up, const char *key, json_t *value)
{
	const char *place = strrchr(key, '@');

	return (struct at) { up, up->file, key, place - key, atoi(place + 1), value };
}

#define each_member(_up, _it, _at)							\
	for (void *_it = json_object_iter((_up)->value);				\
	     _it && (_at = member(_up, json_object_iter_key(_it), json_object_iter_value(_it)), 1);	\
	     _it = json_object_iter_next((_up)->value, _it))

static int is(const struct at *at, const char *name)
{
	return (int)strlen(name) == at->length && !memcmp(at->key, name, at->length);
}

/* The member of that name into found; 0: there is none.  Two are one too many. */
static int find(const struct at *object, const char *name, struct at *found)
{
	struct at at;
	int nr = 0;

	each_member(object, it, at) {
		if (!is(&at, name))
			continue;
		if (nr++)
			wrong(&at, "stands here a second time, first in line %d", found->line);
		*found = at;
	}
	return nr;
}

static char *name_of(const struct at *at)
{
	char *name = wl_alloc(at->length + 1);

	memcpy(name, at->key, at->length);
	return name;
}

/* ------------------------------------------------------------------ values */

static void need_object(const struct at *at)
{
	if (!json_is_object(at->value))
		wrong(at, "an object { ... } is expected");
}

static long long number(const struct at *at, long long min, long long max)
{
	long long n;

	if (!json_is_integer(at->value))
		wrong(at, "a whole number is expected");
	n = json_integer_value(at->value);
	if (n < min || n > max)
		wrong(at, "%lld is not within %lld..%lld", n, min, max);
	return n;
}

static long long get_number(const struct at *object, const char *key, long long min, long long max,
			    long long standard)
{
	struct at at;

	return find(object, key, &at) ? number(&at, min, max) : standard;
}

static int get_flag(const struct at *object, const char *key)
{
	struct at at;

	if (!find(object, key, &at))
		return 0;
	if (!json_is_boolean(at.value))
		wrong(&at, "true or false is expected");
	return json_is_true(at.value);
}

static const char *text(const struct at *at)
{
	const char *value = json_string_value(at->value);
	char *kept;

	if (!value)
		wrong(at, "a text is expected");
	kept = wl_alloc(strlen(value) + 1);
	return strcpy(kept, value);
}

/* A name of a resource or task. */
static const char *reference(const struct at *at)
{
	const char *name = text(at);

	if (!*name)
		wrong(at, "a name is expected");
	return name;
}

static const char *need_reference(const struct at *object, const char *key)
{
	struct at at;

	need_object(object);
	if (!find(object, key, &at))
		wrong(object, "\"%s\" is missing", key);
	return reference(&at);
}

/* Is the key in the list, ended by NULL? */
static int listed(const struct at *at, const char *const *names)
{
	for (; *names; names++)
		if (is(at, *names))
			return 1;
	return 0;
}

static void only(const struct at *object, const char *const *names)
{
	struct at at;

	need_object(object);
	each_member(object, it, at)
		if (!listed(&at, names))
			wrong(&at, "unknown key");
	for (; *names; names++)
		find(object, *names, &at);
}

/* ------------------------------------------------------------------ resources */

static struct rt_resource *find_resource(struct rt_resource **list, enum rt_type type, const char *name)
{
	int index = 0;

	for (; *list; list = &(*list)->next, index++)
		if ((*list)->type == type && !strcmp((*list)->name, name))
			return *list;
	*list = wl_new(struct rt_resource, 1);
	(*list)->type = type;
	(*list)->name = name;
	(*list)->index = index;
	(*list)->timer.relative = 1;
	return *list;
}

static struct rt_resource *resource(struct rt_app *app, enum rt_type type, const char *name)
{
	return find_resource(&app->resources, type, name);
}

static struct rt_resource *own_timer(struct rt_task *task, const char *name)
{
	struct rt_resource *timer = find_resource(&task->timers, RT_OWN_TIMER, name);

	if (timer->index == task->nr_timers)
		task->nr_timers++;
	return timer;
}

/* ------------------------------------------------------------------ events */

/* An event's key begins so; the longer one where two fit. */
static const struct event_name {
	const char *name;
	enum rt_kind kind;
	const char *refused;
} event_names[] = {
	{ "lock", RT_LOCK, NULL }, { "unlock", RT_UNLOCK, NULL }, { "wait", RT_WAIT, NULL },
	{ "signal", RT_SIGNAL, NULL }, { "broad", RT_BROAD, NULL }, { "sync", RT_SYNC, NULL },
	{ "sleep", RT_SLEEP, NULL }, { "runtime", RT_RUNTIME, NULL }, { "run", RT_RUN, NULL },
	{ "timer", RT_TIMER, NULL }, { "suspend", RT_SUSPEND, NULL }, { "resume", RT_RESUME, NULL },
	{ "mem", RT_MEM, NULL }, { "iorun", RT_IORUN, NULL }, { "yield", RT_YIELD, NULL },
	{ "barrier", RT_BARRIER, NULL }, { "fork", RT_FORK, NULL },
	{ "memrun", 0, "reading and chasing through memory is not modelled; mem is" },
	{ "sem_post", 0, "semaphores are not modelled" },
	{ "sem_wait", 0, "semaphores are not modelled" },
};

static const struct event_name *event_name(const struct at *at)
{
	const struct event_name *found = NULL;

	for (size_t i = 0; i < sizeof(event_names) / sizeof(event_names[0]); i++) {
		const struct event_name *n = &event_names[i];
		int length = strlen(n->name);

		if (length <= at->length && !memcmp(at->key, n->name, length) &&
		    (!found || length > (int)strlen(found->name)))
			found = n;
	}
	return found;
}

static void read_timer(struct rt_app *app, struct rt_task *task, const struct at *at, struct rt_event *event)
{
	static const char *const keys[] = { "ref", "period", "mode", NULL };
	const char *name = need_reference(at, "ref");
	struct at mode, period;

	only(at, keys);
	if (!find(at, "period", &period))
		wrong(at, "\"period\" is missing");
	event->us = number(&period, 0, USEC_PER_DAY);
	event->what = strncmp(name, "unique", strlen("unique")) ? resource(app, RT_SHARED_TIMER, name) :
								 own_timer(task, name);
	if (!find(at, "mode", &mode))
		return;
	if (!strcmp(text(&mode), "absolute"))
		event->what->timer.relative = 0;
	else if (strcmp(text(&mode), "relative"))
		wrong(&mode, "\"%s\": relative or absolute", text(&mode));
}

static void read_wait(struct rt_app *app, const struct at *at, struct rt_event *event)
{
	static const char *const keys[] = { "ref", "mutex", NULL };

	event->what = resource(app, RT_CONDITION, need_reference(at, "ref"));
	event->mutex = resource(app, RT_MUTEX, need_reference(at, "mutex"));
	only(at, keys);
}

/* The condition that suspends has a mutex of the same name. */
static void read_suspend(struct rt_app *app, const char *name, struct rt_event *event)
{
	event->what = resource(app, RT_CONDITION, name);
	event->mutex = resource(app, RT_MUTEX, name);
}

static struct rt_task *find_task(const struct rt_app *app, const struct at *at)
{
	const char *name = reference(at);

	for (int i = 0; i < app->nr_tasks; i++)
		if (!strcmp(app->task[i].name, name))
			return &app->task[i];
	wrong(at, "no task \"%s\"", name);
}

/* Left empty, as workgen's files do, it is the task's own name. */
static const char *own_name(const struct rt_task *task, const struct at *at)
{
	return json_is_null(at->value) || !*text(at) ? task->name : text(at);
}

static void read_event(struct rt_app *app, struct rt_task *task, const struct at *at, struct rt_event *event)
{
	const struct event_name *name = event_name(at);

	event->kind = name->kind;
	if (name->refused)
		wrong(at, "%s", name->refused);
	switch (event->kind) {
	case RT_RUN:
	case RT_RUNTIME:
	case RT_SLEEP:
		event->us = number(at, 0, USEC_PER_DAY);
		break;
	case RT_TIMER:
		read_timer(app, task, at, event);
		break;
	case RT_LOCK:
	case RT_UNLOCK:
		event->what = resource(app, RT_MUTEX, reference(at));
		break;
	case RT_WAIT:
	case RT_SYNC:
		read_wait(app, at, event);
		break;
	case RT_SIGNAL:
	case RT_BROAD:
		event->what = resource(app, RT_CONDITION, reference(at));
		break;
	case RT_BARRIER:
		event->what = resource(app, RT_MEETING, reference(at));
		event->what->expected += task->instances;
		task->meets = 1;
		break;
	case RT_SUSPEND:
		read_suspend(app, own_name(task, at), event);
		break;
	case RT_RESUME:
		read_suspend(app, reference(at), event);
		break;
	case RT_YIELD:
		own_name(task, at);
		break;
	case RT_IORUN:
		if (strcmp(app->io_device, "/dev/null"))
			wrong(at, "writing to %s is not modelled, to /dev/null is", app->io_device);
		event->bytes = number(at, 0, INT_MAX);
		break;
	case RT_MEM:
		event->bytes = number(at, 0, INT_MAX);
		break;
	case RT_FORK:
		event->child = find_task(app, at);
		event->what = resource(app, RT_FORKS, event->child->name);
		break;
	}
}

/* ------------------------------------------------------------------ scheduling and place */

static const char *const policy_names[] = {
	[WL_NORMAL] = "SCHED_OTHER", [WL_BATCH] = "SCHED_BATCH", [WL_IDLE] = "SCHED_IDLE",
	[WL_FIFO] = "SCHED_FIFO", [WL_RR] = "SCHED_RR", [WL_DEADLINE] = "SCHED_DEADLINE", NULL
};

const char *rt_policy_name(enum wl_policy policy)
{
	return policy_names[policy];
}

static enum wl_policy policy(const struct at *at)
{
	const char *name = text(at);

	for (int i = 0; policy_names[i]; i++)
		if (!strcmp(name, policy_names[i]))
			return i;
	wrong(at, "\"%s\": one of SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR, "
	      "SCHED_DEADLINE is expected", name);
}

static void read_deadline(const struct at *object, struct wl_sched *s)
{
	s->runtime = get_number(object, "dl-runtime", 1, INT_MAX, 0) * WL_USEC;
	s->period = get_number(object, "dl-period", 1, INT_MAX, s->runtime / WL_USEC) * WL_USEC;
	s->deadline = get_number(object, "dl-deadline", 1, INT_MAX, s->period / WL_USEC) * WL_USEC;
	if (!s->runtime)
		wrong(object, "SCHED_DEADLINE needs \"dl-runtime\"");
	if (s->runtime > s->deadline || s->deadline > s->period)
		wrong(object, "dl-runtime, dl-deadline and dl-period do not rise");
}

/* now: the policy in force up to here, which a task is yet to be given */
static void read_sched(const struct at *object, struct rt_sched *sched, enum wl_policy *now, int is_task)
{
	static const char *const deadline[] = { "dl-runtime", "dl-deadline", "dl-period" };
	struct at at;

	if (find(object, "policy", &at)) {
		*now = policy(&at);
		sched->has_policy = 1;
	}
	if (is_task)
		sched->has_policy = *now != WL_NORMAL;
	sched->wanted.policy = *now;
	if (*now == WL_FIFO || *now == WL_RR)
		sched->wanted.priority = 10;
	if (find(object, "priority", &at)) {
		sched->has_priority = 1;
		if (*now == WL_FIFO || *now == WL_RR)
			sched->wanted.priority = number(&at, 1, 99);
		else
			sched->wanted.nice = number(&at, -20, 19);
	}
	if (sched->has_policy && *now == WL_DEADLINE)
		read_deadline(object, &sched->wanted);
	else
		for (size_t i = 0; i < sizeof(deadline) / sizeof(deadline[0]); i++)
			if (find(object, deadline[i], &at))
				wrong(&at, "belongs beside \"policy\" : \"SCHED_DEADLINE\"");
	sched->wanted.util_min = get_number(object, "util_min", -1, 1024, -1);
	sched->wanted.util_max = get_number(object, "util_max", -1, 1024, -1);
}

/* [0, 2, 3] as "0,2,3", of what the machine has */
static const char *read_list(const struct at *at, const char *what, int nr)
{
	size_t entries = json_array_size(at->value), used = 0;
	char *list;

	if (!entries)
		wrong(at, "a list of %ss is expected, as [0, 2, 3]", what);
	list = wl_alloc(entries * 6);
	for (size_t i = 0; i < entries; i++) {
		struct at entry = *at;

		entry.value = json_array_get(at->value, i);
		if (!json_is_integer(entry.value) || json_integer_value(entry.value) < 0)
			wrong(at, "a list of %ss is expected, as [0, 2, 3]", what);
		if (json_integer_value(entry.value) >= nr)
			wrong(at, "there is no %s %lld, the last is %d", what,
			      (long long)json_integer_value(entry.value), nr - 1);
		used += sprintf(list + used, "%s%d", i ? "," : "", (int)json_integer_value(entry.value));
	}
	return list;
}

/* now: the policy in force */
static void read_place(const struct at *object, struct rt_place *place, enum wl_policy now)
{
	struct at at;

	place->node = -1;
	if (find(object, "cpus", &at))
		place->cpus = read_list(&at, "CPU", wl_cpus());
	if (find(object, "nodes_membind", &at)) {
		place->node = atoi(read_list(&at, "node", wl_nodes()));
		if (json_array_size(at.value) > 1)
			wrong(&at, "binding memory to several nodes at once is not modelled; name one");
	}
	if (find(object, "taskgroup", &at) && *text(&at)) {
		place->group = text(&at);
		if (place->group[0] != '/')
			wrong(&at, "\"%s\" does not begin with /", place->group);
		if (now != WL_NORMAL && now != WL_BATCH && now != WL_IDLE)
			wrong(&at, "a task of %s is in no group", policy_names[now]);
	}
}

/* ------------------------------------------------------------------ tasks */

#define PROPERTIES	"loop", "policy", "priority", "dl-runtime", "dl-deadline", "dl-period",	\
			"util_min", "util_max", "cpus", "nodes_membind", "taskgroup"

static const char *const phase_keys[] = { PROPERTIES, NULL };
static const char *const task_keys[] = { PROPERTIES, "instance", "delay", "phases", NULL };

static int count_events(const struct at *object, const char *const *keys)
{
	struct at at;
	int nr = 0;

	each_member(object, it, at) {
		if (listed(&at, keys))
			continue;
		if (!event_name(&at))
			wrong(&at, "unknown key");
		nr++;
	}
	return nr;
}

static int get_loop(const struct at *object, int min, int standard)
{
	int loop = get_number(object, "loop", -1, INT_MAX, standard);

	if (loop >= 0 && loop < min)
		wrong(object, "\"loop\" is %d; times, or -1: for ever", loop);
	return loop;
}

static void read_events(struct rt_app *app, struct rt_task *task, const struct at *object,
			const char *const *keys, struct rt_phase *phase)
{
	struct at at;
	int nr = count_events(object, keys);

	if (!nr)
		wrong(object, "there is no event in it");
	phase->event = wl_new(struct rt_event, nr);
	each_member(object, it, at)
		if (!listed(&at, keys))
			read_event(app, task, &at, &phase->event[phase->nr++]);
}

static void read_phase(struct rt_app *app, struct rt_task *task, const struct at *object,
		       struct rt_phase *phase, enum wl_policy *now)
{
	need_object(object);
	phase->loop = get_loop(object, 1, 1);
	read_sched(object, &phase->sched, now, 0);
	read_place(object, &phase->place, *now);
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
		if (!listed(&at, task_keys) && event_name(&at))
			wrong(&at, "an event beside phases would never come");
	count_events(object, task_keys);
	need_object(phases);
	if (!json_object_size(phases->value))
		wrong(phases, "there is no phase in it");
	task->loop = get_loop(object, 0, -1);
	task->phase = wl_new(struct rt_phase, json_object_size(phases->value));
	each_member(phases, it, at)
		read_phase(app, task, &at, &task->phase[task->nr_phases++], &now);
}

static void read_task(struct rt_app *app, const struct at *object, struct rt_task *task,
		      enum wl_policy now)
{
	struct at phases;

	task->delay_us = get_number(object, "delay", 0, USEC_PER_DAY, 0);
	read_sched(object, &task->sched, &now, 1);
	read_place(object, &task->place, now);
	if (find(object, "phases", &phases))
		read_phases(app, task, object, &phases, now);
	else
		read_plain(app, task, object);
}

/* All names first: a task may fork one that stands below it. */
static void name_tasks(struct rt_app *app, const struct at *tasks)
{
	struct at at, again;
	int forked_too = 0;

	need_object(tasks);
	app->task = wl_new(struct rt_task, json_object_size(tasks->value) + 1);
	each_member(tasks, it, at) {
		struct rt_task *task = &app->task[app->nr_tasks++];

		need_object(&at);
		task->name = name_of(&at);
		task->line = at.line;
		find(tasks, task->name, &again);
		if (!at.length || at.length > MAX_NAME || strpbrk(task->name, "/\n"))
			wrong(&at, "a task's name has 1 to %d characters and no /", MAX_NAME);
		task->instances = get_number(&at, "instance", 0, MAX_THREADS, 1);
		app->nr_threads += task->instances;
		forked_too |= !task->instances;
	}
	if (!app->nr_threads)
		wrong(tasks, forked_too ? "no task has an instance to begin with" : "there is no task in it");
	if (app->nr_threads > MAX_THREADS)
		wrong(tasks, "%d threads are more than %d", app->nr_threads, MAX_THREADS);
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
		app->ns_per_loop = number(at, 1, 1000000);
		app->reference = -1;
		return;
	}
	if (sscanf(text(at), "CPU%d%c", &app->reference, &rest) != 1 || app->reference < 0)
		wrong(at, "\"%s\": ns of a loop, or a CPU as \"CPU0\", is expected", text(at));
	if (app->reference >= wl_cpus())
		wrong(at, "there is no CPU %d, the last is %d", app->reference, wl_cpus() - 1);
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

	only(global, keys);
	duration = get_number(global, "duration", -1, INT_MAX, -1);
	app->duration = duration > 0 ? duration : 0;
	if (find(global, "calibration", &at))
		read_calibration(app, &at);
	if (get_flag(global, "pi_enabled")) {
		find(global, "pi_enabled", &at);
		wrong(&at, "mutexes that hand on priority are not modelled");
	}
	app->mem_buffer = get_number(global, "mem_buffer_size", 1, INT_MAX, app->mem_buffer);
	app->cumulative_slack = get_flag(global, "cumulative_slack");
	if (find(global, "io_device", &at))
		app->io_device = reference(&at);
	if (find(global, "log_basename", &at))
		app->log_basename = reference(&at);
	return find(global, "default_policy", &at) ? policy(&at) : WL_NORMAL;
}

/* Resources are made where they are used; that they are listed changes nothing. */
static void check_resources(const struct at *resources)
{
	static const char *const keys[] = { "type", NULL };
	static const char *const types[] = {
		"mutex", "wait", "signal", "broadcast", "sync", "sleep", "run", "timer", NULL
	};
	struct at at, type;

	need_object(resources);
	each_member(resources, it, at) {
		const char *const *known = types;

		only(&at, keys);
		if (!find(&at, "type", &type))
			continue;
		while (*known && strcmp(*known, text(&type)))
			known++;
		if (!*known)
			wrong(&type, "\"%s\" is no type of resource", text(&type));
	}
}

static char *read_text(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	if (!file)
		wl_refuse("%s: %s", path, strerror(errno));
	for (*size = 0; !feof(file); ) {
		if (*size == room)
			text = realloc(text, room = room ? 2 * room : 4096);
		if (!text)
			wl_refuse("%s: no memory to read it", path);
		*size += fread(text + *size, 1, room - *size, file);
		if (ferror(file))
			wl_refuse("%s: %s", path, strerror(errno));
	}
	fclose(file);
	return text;
}

static json_t *load(const char *path)
{
	size_t size, strict_size;
	char *text = read_text(path, &size), *strict = rt_app_strict(text, size, &strict_size), *near;
	json_error_t error;
	json_t *root;

	if (!strict)
		wl_refuse("%s: brackets are nested deeper than %d", path, RT_APP_DEPTH);
	root = json_loadb(strict, strict_size, 0, &error);
	near = strstr(error.text, " near ");
	if (!root)
		wl_refuse("%s:%d: %.*s", path, error.line,
			  near ? (int)(near - error.text) : (int)strlen(error.text), error.text);
	free(strict);
	free(text);
	return root;
}

struct rt_app *rt_app_read(const char *path)
{
	static const char *const keys[] = { "tasks", "global", "resources", NULL };
	struct rt_app *app = wl_new(struct rt_app, 1);
	struct at root = { .file = path, .line = 1, .value = load(path) }, at;
	enum wl_policy standard = WL_NORMAL;

	app->mem_buffer = 4 << 20;
	app->io_device = "/dev/null";
	app->log_basename = "rt-app";
	app->ns_per_loop = 1;
	only(&root, keys);
	if (find(&root, "global", &at))
		standard = read_global(app, &at);
	if (find(&root, "resources", &at))
		check_resources(&at);
	if (!find(&root, "tasks", &at))
		wrong(&root, "\"tasks\" is missing");
	read_tasks(app, &at, standard);
	json_decref(root.value);
	return app;
}
