// SPDX-License-Identifier: GPL-2.0-only
/* Events of an rt-app file, and the resources they name. */
#include <limits.h>
#include <string.h>
#include "rt-app-file.h"

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
	{ "replay", RT_REPLAY, NULL },
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

int rt_is_event(const struct at *at)
{
	return event_name(at) != NULL;
}

static void read_timer(struct rt_app *app, struct rt_task *task, const struct at *at, struct rt_event *event)
{
	static const char *const keys[] = { "ref", "period", "mode", NULL };
	const char *name = at_need_reference(at, "ref");
	struct at mode, period;

	at_only(at, keys);
	if (!at_find(at, "period", &period))
		at_refuse(at, "\"period\" is missing");
	event->us = at_number(&period, 0, USEC_PER_DAY);
	event->what = strncmp(name, "unique", strlen("unique")) ? resource(app, RT_SHARED_TIMER, name) :
								 own_timer(task, name);
	if (!at_find(at, "mode", &mode))
		return;
	if (!strcmp(at_text(&mode), "absolute"))
		event->what->timer.relative = 0;
	else if (strcmp(at_text(&mode), "relative"))
		at_refuse(&mode, "\"%s\": relative or absolute", at_text(&mode));
}

static void read_wait(struct rt_app *app, const struct at *at, struct rt_event *event)
{
	static const char *const keys[] = { "ref", "mutex", NULL };

	event->what = resource(app, RT_CONDITION, at_need_reference(at, "ref"));
	event->mutex = resource(app, RT_MUTEX, at_need_reference(at, "mutex"));
	at_only(at, keys);
}

/* The condition that suspends has a mutex of the same name. */
static void read_suspend(struct rt_app *app, const char *name, struct rt_event *event)
{
	event->what = resource(app, RT_CONDITION, name);
	event->mutex = resource(app, RT_MUTEX, name);
}

static struct rt_task *find_task(const struct rt_app *app, const struct at *at)
{
	const char *name = at_reference(at);

	for (int i = 0; i < app->nr_tasks; i++)
		if (!strcmp(app->task[i].name, name))
			return &app->task[i];
	at_refuse(at, "no task \"%s\"", name);
}

/* Left empty, as workgen's files do, it is the task's own name. */
static const char *own_name(const struct rt_task *task, const struct at *at)
{
	return json_is_null(at->value) || !*at_text(at) ? task->name : at_text(at);
}

void rt_read_event(struct rt_app *app, struct rt_task *task, const struct at *at, struct rt_event *event)
{
	const struct event_name *name = event_name(at);

	event->kind = name->kind;
	if (name->refused)
		at_refuse(at, "%s", name->refused);
	switch (event->kind) {
	case RT_RUN:
	case RT_RUNTIME:
	case RT_SLEEP:
		event->us = at_number(at, 0, USEC_PER_DAY);
		break;
	case RT_TIMER:
		read_timer(app, task, at, event);
		break;
	case RT_LOCK:
	case RT_UNLOCK:
		event->what = resource(app, RT_MUTEX, at_reference(at));
		break;
	case RT_WAIT:
	case RT_SYNC:
		read_wait(app, at, event);
		break;
	case RT_SIGNAL:
	case RT_BROAD:
		event->what = resource(app, RT_CONDITION, at_reference(at));
		break;
	case RT_BARRIER:
		event->what = resource(app, RT_MEETING, at_reference(at));
		event->what->expected += task->instances;
		task->meets = 1;
		break;
	case RT_SUSPEND:
		read_suspend(app, own_name(task, at), event);
		break;
	case RT_RESUME:
		read_suspend(app, at_reference(at), event);
		break;
	case RT_YIELD:
		own_name(task, at);
		break;
	case RT_IORUN:
		if (strcmp(app->io_device, "/dev/null"))
			at_refuse(at, "writing to %s is not modelled, to /dev/null is", app->io_device);
		event->bytes = at_number(at, 0, INT_MAX);
		break;
	case RT_MEM:
		event->bytes = at_number(at, 0, INT_MAX);
		break;
	case RT_FORK:
		event->child = find_task(app, at);
		event->what = resource(app, RT_FORKS, event->child->name);
		break;
	case RT_REPLAY:
		rt_read_replay(app, task, at, event);
		break;
	}
}
