// SPDX-License-Identifier: GPL-2.0-only
/* What tasks and phases of an rt-app file say of their scheduling and place. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt-app-file.h"

static const char *const policy_names[] = {
	[WL_NORMAL] = "SCHED_OTHER", [WL_BATCH] = "SCHED_BATCH", [WL_IDLE] = "SCHED_IDLE",
	[WL_FIFO] = "SCHED_FIFO", [WL_RR] = "SCHED_RR", [WL_DEADLINE] = "SCHED_DEADLINE", NULL
};

const char *rt_policy_name(enum wl_policy policy)
{
	return policy_names[policy];
}

enum wl_policy rt_read_policy(const struct at *at)
{
	const char *name = at_text(at);

	for (int i = 0; policy_names[i]; i++)
		if (!strcmp(name, policy_names[i]))
			return i;
	at_refuse(at, "\"%s\": one of SCHED_OTHER, SCHED_BATCH, SCHED_IDLE, SCHED_FIFO, SCHED_RR, "
		  "SCHED_DEADLINE is expected", name);
}

static void read_deadline(const struct at *object, struct wl_sched *s)
{
	s->runtime = at_get_number(object, "dl-runtime", 1, INT_MAX, 0) * WL_USEC;
	s->period = at_get_number(object, "dl-period", 1, INT_MAX, s->runtime / WL_USEC) * WL_USEC;
	s->deadline = at_get_number(object, "dl-deadline", 1, INT_MAX, s->period / WL_USEC) * WL_USEC;
	if (!s->runtime)
		at_refuse(object, "SCHED_DEADLINE needs \"dl-runtime\"");
	if (s->runtime > s->deadline || s->deadline > s->period)
		at_refuse(object, "dl-runtime, dl-deadline and dl-period do not rise");
}

/* What the kernel takes of fair tasks, who would be given the nearest otherwise. */
static void read_slice(const struct at *at, struct rt_sched *sched, enum wl_policy now)
{
	if (now != WL_NORMAL && now != WL_BATCH)
		at_refuse(at, "a task of %s has no slice", policy_names[now]);
	sched->has_slice = 1;
	sched->wanted.runtime = at_number(at, 100, 100000) * WL_USEC;
}

void rt_read_sched(const struct at *object, struct rt_sched *sched, enum wl_policy *now, int is_task)
{
	static const char *const deadline[] = { "dl-runtime", "dl-deadline", "dl-period" };
	struct at at;

	if (at_find(object, "policy", &at)) {
		*now = rt_read_policy(&at);
		sched->has_policy = 1;
	}
	if (is_task)
		sched->has_policy = *now != WL_NORMAL;
	sched->wanted.policy = *now;
	if (*now == WL_FIFO || *now == WL_RR)
		sched->wanted.priority = 10;
	if (at_find(object, "priority", &at)) {
		sched->has_priority = 1;
		if (*now == WL_FIFO || *now == WL_RR)
			sched->wanted.priority = at_number(&at, 1, 99);
		else
			sched->wanted.nice = at_number(&at, -20, 19);
	}
	if (sched->has_policy && *now == WL_DEADLINE)
		read_deadline(object, &sched->wanted);
	else
		for (size_t i = 0; i < sizeof(deadline) / sizeof(deadline[0]); i++)
			if (at_find(object, deadline[i], &at))
				at_refuse(&at, "belongs beside \"policy\" : \"SCHED_DEADLINE\"");
	if (at_find(object, "slice", &at))
		read_slice(&at, sched, *now);
	sched->wanted.util_min = at_get_number(object, "util_min", -1, 1024, -1);
	sched->wanted.util_max = at_get_number(object, "util_max", -1, 1024, -1);
}

/* [0, 2, 3] as "0,2,3", of what the machine has */
static const char *read_list(const struct at *at, const char *what, int nr)
{
	size_t entries = json_array_size(at->value), used = 0;
	char *list;

	if (!entries)
		at_refuse(at, "a list of %ss is expected, as [0, 2, 3]", what);
	list = wl_alloc(entries * 6);
	for (size_t i = 0; i < entries; i++) {
		struct at entry = *at;

		entry.value = json_array_get(at->value, i);
		if (!json_is_integer(entry.value) || json_integer_value(entry.value) < 0)
			at_refuse(at, "a list of %ss is expected, as [0, 2, 3]", what);
		if (json_integer_value(entry.value) >= nr)
			at_refuse(at, "there is no %s %lld, the last is %d", what,
				  (long long)json_integer_value(entry.value), nr - 1);
		used += sprintf(list + used, "%s%d", i ? "," : "", (int)json_integer_value(entry.value));
	}
	return list;
}

void rt_read_place(const struct at *object, struct rt_place *place, enum wl_policy now)
{
	struct at at;

	place->node = -1;
	if (at_find(object, "cpus", &at))
		place->cpus = read_list(&at, "CPU", wl_cpus());
	if (at_find(object, "nodes_membind", &at)) {
		place->node = atoi(read_list(&at, "node", wl_nodes()));
		if (json_array_size(at.value) > 1)
			at_refuse(&at, "binding memory to several nodes at once is not modelled; name one");
	}
	if (at_find(object, "taskgroup", &at) && *at_text(&at)) {
		place->group = at_text(&at);
		if (place->group[0] != '/')
			at_refuse(&at, "\"%s\" does not begin with /", place->group);
		if (now != WL_NORMAL && now != WL_BATCH && now != WL_IDLE)
			at_refuse(&at, "a task of %s is in no group", policy_names[now]);
	}
}
