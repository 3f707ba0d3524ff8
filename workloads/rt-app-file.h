/* SPDX-License-Identifier: GPL-2.0-only */
/* Reading an rt-app file: values that know their place in it, and the parts of its grammar. */
#ifndef WORKLOADS_RT_APP_FILE_H
#define WORKLOADS_RT_APP_FILE_H

#include <jansson.h>
#include "rt-app.h"

#define USEC_PER_DAY	86400000000LL		/* the longest time of a file */

/* ------------------------------------------------------------------ rt-app-text.c */

/* Strict JSON of rt-app's, each key followed by @, its line, : and its offset. */
#define RT_APP_DEPTH 32
char *rt_app_strict(const char *text, size_t size, size_t *strict_size); /* NULL: nested deeper */

/* ------------------------------------------------------------------ rt-app-value.c */

/* Where we are in the file, as a chain on the stack. */
struct at {
	const struct at	*up;
	const char	*file;
	const char	*key;
	int		length;			/* of the key, without its place */
	int		line;
	json_t		*value;
};

struct at at_root(const char *path); /* of the whole file; its value is the caller's to free */
void at_refuse(const struct at *at, const char *fmt, ...)
	__attribute__((format(printf, 2, 3), noreturn));

struct at at_member(const struct at *up, const char *key, json_t *value);
#define each_member(_up, _it, _at)							\
	for (void *_it = json_object_iter((_up)->value);				\
	     _it && (_at = at_member(_up, json_object_iter_key(_it), json_object_iter_value(_it)), 1);	\
	     _it = json_object_iter_next((_up)->value, _it))

char *at_name(const struct at *at);		/* its key */
/* Is the key in the list, ended by NULL? */
int at_listed(const struct at *at, const char *const *names);
/* The member of that name into found; 0: there is none.  Two are one too many. */
int at_find(const struct at *object, const char *name, struct at *found);
void at_only(const struct at *object, const char *const *names); /* no other members, none twice */

void at_need_object(const struct at *at);
long long at_number(const struct at *at, long long min, long long max);
long long at_get_number(const struct at *object, const char *key, long long min, long long max,
			long long standard);
int at_get_flag(const struct at *object, const char *key);
const char *at_text(const struct at *at);
const char *at_reference(const struct at *at);	/* a name of a resource or task */
const char *at_need_reference(const struct at *object, const char *key);

/* ------------------------------------------------------------------ rt-app-event.c */

int rt_is_event(const struct at *at);		/* by its key */
void rt_read_event(struct rt_app *app, struct rt_task *task, const struct at *at, struct rt_event *event);

/* ------------------------------------------------------------------ rt-app-replay.c */

void rt_replay_name_tasks(struct rt_app *app);		/* before their events are read */
void rt_read_messages(struct rt_app *app, const struct at *messages);
void rt_read_barriers(struct rt_app *app, const struct at *barriers);
void rt_count_items(struct rt_app *app, const struct at *items);	/* before tasks put them */
void rt_read_items(struct rt_app *app, const struct at *items);
void rt_read_replay(struct rt_app *app, struct rt_task *task, const struct at *at,
		    struct rt_event *event);
void rt_check_replays(const struct rt_app *app, const struct at *tasks);	/* when all is read */

/* ------------------------------------------------------------------ rt-app-sched.c */

enum wl_policy rt_read_policy(const struct at *at);
/* now: the policy in force up to here, which a task is yet to be given */
void rt_read_sched(const struct at *object, struct rt_sched *sched, enum wl_policy *now, int is_task);
/* now: the policy in force */
void rt_read_place(const struct at *object, struct rt_place *place, enum wl_policy now);

#endif
