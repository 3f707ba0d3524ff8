// SPDX-License-Identifier: GPL-2.0-only
/* What replays do, from a file: their words, messages, barriers and items. */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "rt-app-file.h"
#include "rt-app-replay.h"

#define LONGEST_NS	(USEC_PER_DAY * 1000ULL)
#define LONGEST_MESSAGE	(1 << 30)
#define MOST_LOCKS	1000000			/* and pools, and gates */

/* What follows the last - of its name; -1: it has no number. */
static long long id_of(const char *name)
{
	const char *dash = strrchr(name, '-');
	char *end;
	long long id;

	if (!dash || !isdigit((unsigned char)dash[1]))
		return -1;
	id = strtoll(dash + 1, &end, 10);
	return *end ? -1 : id;
}

static int compare(const void *a, const void *b)
{
	const struct rt_task *const *x = a, *const *y = b;

	return (*x)->id < (*y)->id ? -1 : (*x)->id > (*y)->id;
}

void rt_replay_name_tasks(struct rt_app *app)
{
	app->by_id = wl_new(struct rt_task *, app->nr_tasks);
	for (int i = 0; i < app->nr_tasks; i++) {
		app->by_id[i] = &app->task[i];
		app->task[i].id = id_of(app->task[i].name);
	}
	qsort(app->by_id, app->nr_tasks, sizeof(*app->by_id), compare);
}

static struct rt_task *by_id(const struct rt_app *app, unsigned long long id)
{
	size_t low = 0, high = app->nr_tasks;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (app->by_id[middle]->id < (long long)id)
			low = middle + 1;
		else
			high = middle;
	}
	return low < (size_t)app->nr_tasks && app->by_id[low]->id == (long long)id ? app->by_id[low] : NULL;
}

static struct rt_channel *channel_of(struct rt_app *app, long long id, enum rt_channel_kind kind)
{
	struct rt_channel *c;

	for (c = app->channels; c; c = c->next)
		if (c->id == id)
			return c;
	c = wl_new(struct rt_channel, 1);
	*c = (struct rt_channel) { .next = app->channels, .id = id, .kind = kind };
	app->channels = c;
	return c;
}

static enum rt_channel_kind kind_of(const struct at *message)
{
	static const char *const names[] = { [RT_C_PIPE] = "pipe", [RT_C_PACKETS] = "packets",
					     [RT_C_UNIX] = "unix", [RT_C_TCP] = "tcp", [RT_C_UDP] = "udp" };
	const char *name = at_need_reference(message, "kind");

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!strcmp(names[i], name))
			return i;
	at_refuse(message, "kind \"%.20s\": pipe, packets, unix, tcp or udp is expected", name);
}

void rt_read_messages(struct rt_app *app, const struct at *messages)
{
	static const char *const keys[] = { "kind", "channel", "bytes", NULL };
	struct at at;

	at_need_object(messages);
	app->message = wl_new(struct rt_message, json_object_size(messages->value) + 1);
	each_member(messages, it, at) {
		struct rt_message *m = &app->message[++app->nr_messages];
		enum rt_channel_kind kind;

		if (atoi(at_name(&at)) != app->nr_messages)
			at_refuse(&at, "messages are numbered from 1, one after another");
		at_need_object(&at);
		at_only(&at, keys);
		kind = kind_of(&at);
		m->channel = channel_of(app, at_get_number(&at, "channel", 1, INT_MAX, 1), kind);
		m->bytes = at_get_number(&at, "bytes", 1, LONGEST_MESSAGE, 1);
		if (m->channel->kind != kind)
			at_refuse(&at, "channel %lld is of another kind in a message before", m->channel->id);
	}
}

static enum rt_word word_of(char letter)
{
	static const char letters[] = { [RT_W_WAIT] = 'w', [RT_W_WAKE] = '>', [RT_W_START] = '+',
					[RT_W_SLEEP] = 's', [RT_W_GRID] = 't', [RT_W_ARRIVAL] = '@',
					[RT_W_DEVICE] = 'd', [RT_W_SEND] = 'm',
					[RT_W_RECEIVE] = 'r', [RT_W_LOCK] = 'l',
					[RT_W_UNLOCK] = 'u', [RT_W_BARRIER] = 'b',
					[RT_W_YIELD] = 'y', [RT_W_PUT] = 'p', [RT_W_SERVE] = 'q',
					[RT_W_PASS] = 'g', [RT_W_OPEN] = 'o',
					[RT_W_JOIN] = 'j' };

	for (size_t i = RT_W_WAIT; i < sizeof(letters); i++)
		if (letters[i] == letter)
			return i;
	return RT_W_WORK;
}

static unsigned long long read_amount(const struct at *at, const char **text)
{
	unsigned long long n = 0;

	if (!isdigit((unsigned char)**text))
		at_refuse(at, "\"%.20s\": a number is expected", *text);
	for (; isdigit((unsigned char)**text); (*text)++)
		if ((n = 10 * n + (**text - '0')) > LONGEST_NS)
			at_refuse(at, "a time is longer than a day");
	return n;
}

static void read_step(struct rt_app *app, const struct at *at, const char **text, struct rt_step *step)
{
	const char *word = *text;

	step->word = word_of(*word);
	if (step->word != RT_W_WORK)
		(*text)++;
	if (step->word != RT_W_WAIT && step->word != RT_W_YIELD)
		step->ns = read_amount(at, text);
	if (**text && **text != ' ')
		at_refuse(at, "\"%.20s\" is not a word of a replay", word);
	if (step->word == RT_W_GRID && !step->ns)
		at_refuse(at, "\"t0\": the period of a grid is at least 1 ns");
	if (step->word == RT_W_WAKE || step->word == RT_W_START || step->word == RT_W_JOIN) {
		step->task = by_id(app, step->ns);
		if (!step->task)
			at_refuse(at, "\"%.20s\": no task's name ends in -%llu", word, step->ns);
		if (step->word == RT_W_WAKE)
			step->task->requests.size++;
		else if (step->word == RT_W_START)
			step->task->starts++;
		else
			step->task->joins++;
	}
	if (step->word == RT_W_SEND || step->word == RT_W_RECEIVE) {
		if (!step->ns || step->ns > (unsigned long long)app->nr_messages)
			at_refuse(at, "\"%.20s\": the file has no such message", word);
		step->message = &app->message[step->ns];
		if (step->word == RT_W_SEND)
			step->message->channel->requests.size++;
	}
	if (step->word == RT_W_LOCK || step->word == RT_W_UNLOCK) {
		if (!step->ns || step->ns > MOST_LOCKS)
			at_refuse(at, "\"%.20s\": locks have numbers from 1 to %d", word, MOST_LOCKS);
		if (step->ns > app->nr_locks)
			app->nr_locks = step->ns;
	}
	if (step->word == RT_W_PASS || step->word == RT_W_OPEN) {
		if (!step->ns || step->ns > MOST_LOCKS)
			at_refuse(at, "\"%.20s\": gates have numbers from 1 to %d", word, MOST_LOCKS);
		if (step->ns > app->nr_gates)
			app->nr_gates = step->ns;
	}
	if (step->word == RT_W_BARRIER && (!step->ns || step->ns > app->nr_barriers))
		at_refuse(at, "\"%.20s\": the file has no such barrier", word);
	if (step->word == RT_W_SERVE && (!step->ns || step->ns > app->nr_pools))
		at_refuse(at, "\"%.20s\": no item of the file is of such a pool", word);
	if (step->word == RT_W_PUT) {
		if (!step->ns || step->ns > app->nr_items)
			at_refuse(at, "\"%.20s\": the file has no such item", word);
		step->item = &app->item[step->ns];
		if (step->item->puts++)
			at_refuse(at, "\"%.20s\": the item is put more than once", word);
	}
}

static int read_steps(struct rt_app *app, const struct at *at, const char *text, struct rt_step **steps)
{
	int nr = 0, in_word = 0;

	if (!text)
		at_refuse(at, "a text is expected");
	for (const char *p = text; *p; p++) {
		nr += *p != ' ' && !in_word;
		in_word = *p != ' ';
	}
	*steps = wl_new(struct rt_step, nr + 1);
	nr = 0;
	for (; *text; text++) {
		if (*text == ' ')
			continue;
		read_step(app, at, &text, &(*steps)[nr++]);
		if (!*text)
			break;
	}
	return nr;
}

static unsigned long long work_of(const struct rt_step *step, int nr)
{
	unsigned long long ns = 0;

	for (int i = 0; i < nr; i++)
		ns += step[i].word == RT_W_WORK ? step[i].ns : 0;
	return ns;
}

void rt_read_barriers(struct rt_app *app, const struct at *barriers)
{
	struct at at;

	at_need_object(barriers);
	app->barrier_size = wl_new(unsigned int, json_object_size(barriers->value) + 1);
	each_member(barriers, it, at) {
		if (atoi(at_name(&at)) != (int)++app->nr_barriers)
			at_refuse(&at, "barriers are numbered from 1, one after another");
		app->barrier_size[app->nr_barriers] = at_number(&at, 1, INT_MAX);
	}
}

void rt_count_items(struct rt_app *app, const struct at *items)
{
	static const char *const keys[] = { "pool", "replay", NULL };
	struct at at;

	at_need_object(items);
	app->item = wl_new(struct rt_item, json_object_size(items->value) + 1);
	each_member(items, it, at) {
		long long pool;

		if (atoi(at_name(&at)) != (int)++app->nr_items)
			at_refuse(&at, "items are numbered from 1, one after another");
		at_need_object(&at);
		at_only(&at, keys);
		pool = at_get_number(&at, "pool", 1, MOST_LOCKS, 1);
		if (pool > app->nr_pools)
			app->nr_pools = pool;
	}
	app->pool = wl_new(struct rt_pool, app->nr_pools + 1);
}

void rt_read_items(struct rt_app *app, const struct at *items)
{
	struct rt_item *item = app->item;
	struct at at, words;

	each_member(items, it, at) {
		item++;
		item->pool = &app->pool[at_get_number(&at, "pool", 1, MOST_LOCKS, 1)];
		item->pool->items++;
		if (!at_find(&at, "replay", &words))
			at_refuse(&at, "\"replay\" is missing");
		item->nr_steps = read_steps(app, &words, json_string_value(words.value), &item->step);
		app->work += work_of(item->step, item->nr_steps);
		for (int i = 0; i < item->nr_steps; i++)
			if (item->step[i].word == RT_W_WAIT || item->step[i].word == RT_W_SERVE)
				at_refuse(&words, "an item belongs to no task, so it has neither w nor q");
	}
}

/* The name of requests that a task begins: its own, digits as one star, without its number. */
static struct rt_class *class_of(struct rt_app *app, const struct rt_task *task)
{
	const char *end = strrchr(task->name, '-');
	char *name = wl_alloc(strlen(task->name) + 1), *to = name;
	struct rt_class *c;

	for (const char *p = task->name; *p && p != end; p++) {
		if (!isdigit((unsigned char)*p))
			*to++ = *p;
		else if (to == name || to[-1] != '*')
			*to++ = '*';
	}
	for (c = app->classes; c; c = c->next)
		if (!strcmp(c->name, name))
			return c;
	c = wl_new(struct rt_class, 1);
	*c = (struct rt_class) { .next = app->classes, .name = name };
	app->classes = c;
	return c;
}

void rt_read_replay(struct rt_app *app, struct rt_task *task, const struct at *at,
		    struct rt_event *event)
{
	if (task->instances > 1)
		at_refuse(at, "a task that replays has one thread, not %d", task->instances);
	app->replays = 1;
	event->nr_steps = read_steps(app, at, json_string_value(at->value), &event->step);
	app->work += work_of(event->step, event->nr_steps);
	task->class = class_of(app, task);
}

static void refuse_task(const struct at *tasks, const struct rt_task *task, const char *why)
{
	wl_refuse("%s:%d: tasks.%s: %s", tasks->file, task->line, task->name, why);
}

/* What is queued has as many places as the file has words. */
static void check_once(const struct at *tasks, const struct rt_task *task)
{
	int again = task->loop != 1;

	for (int p = 0; p < task->nr_phases; p++) {
		again |= task->phase[p].loop != 1;
		for (int e = 0; e < task->phase[p].nr; e++)
			if (task->phase[p].event[e].child && task->phase[p].event[e].child->class)
				refuse_task(tasks, task, "what it forks replays, and only a + starts that");
	}
	if (again && task->class)
		refuse_task(tasks, task, "a replay is done once, so that \"loop\" is 1");
	if (task->class && task->starts + task->instances > 1)
		refuse_task(tasks, task, "it is started more than once");
}

void rt_check_replays(const struct rt_app *app, const struct at *tasks)
{
	for (int i = 0; i < app->nr_tasks; i++) {
		const struct rt_task *task = app->by_id[i];

		check_once(tasks, task);
		if (i && task->class && task->id >= 0 && task->id == app->by_id[i - 1]->id)
			refuse_task(tasks, task, "another task has the same number");
	}
}
