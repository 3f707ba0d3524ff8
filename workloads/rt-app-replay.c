// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event "replay": what one thread of a recording did, as a text of words.
 *
 *	1234	works so many ns
 *	w	waits until another thread wakes it; a wake that came before counts
 *	>ID	wakes the task whose name ends in -ID
 *	+ID	starts it
 *	sN	sleeps N ns
 *	tN	sleeps to the next point of a grid of N ns
 *	@N	sleeps until N ns after the start: something arrives from outside
 *	dN	waits N ns for a device it has asked itself
 *	mN	sends message N of the file, over a pipe or socket, which may be full
 *	rN	receives as many bytes as message N has, and waits until they are there
 *
 * What comes from outside (s, t, @) begins a request.  A wake hands the request on, and it is
 * answered when the task that has it waits again without having woken another one.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "calls/backend.h"
#include "rt-app-file.h"

#define LONGEST_NS	(USEC_PER_DAY * 1000ULL)
#define LONGEST_MESSAGE	(1 << 30)

enum rt_word {
	RT_W_WORK, RT_W_WAIT, RT_W_WAKE, RT_W_START, RT_W_SLEEP, RT_W_GRID, RT_W_ARRIVAL, RT_W_DEVICE,
	RT_W_SEND, RT_W_RECEIVE,
};

enum rt_channel_kind { RT_C_PIPE, RT_C_PACKETS, RT_C_UNIX, RT_C_TCP, RT_C_UDP };

/* One direction: who sends and who receives may be several. */
struct rt_channel {
	struct rt_channel *next;
	long long	id;
	enum rt_channel_kind kind;
	struct wl_pipe	*pipe;			/* or */
	struct wl_socket *from, *to;
	unsigned long long born;		/* the request that the last message handed on */
};

struct rt_message {
	struct rt_channel *channel;
	unsigned int	bytes;
};

struct rt_step {
	enum rt_word	word;
	unsigned long long ns;
	struct rt_task	*task;
	const struct rt_message *message;
};

/* ------------------------------------------------------------------ reading */

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
					[RT_W_RECEIVE] = 'r' };

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
	if (step->word != RT_W_WAIT)
		step->ns = read_amount(at, text);
	if (**text && **text != ' ')
		at_refuse(at, "\"%.20s\" is not a word of a replay", word);
	if (step->word == RT_W_GRID && !step->ns)
		at_refuse(at, "\"t0\": the period of a grid is at least 1 ns");
	if (step->word == RT_W_WAKE || step->word == RT_W_START) {
		step->task = by_id(app, step->ns);
		if (!step->task)
			at_refuse(at, "\"%.20s\": no task's name ends in -%llu", word, step->ns);
	}
	if (step->word == RT_W_SEND || step->word == RT_W_RECEIVE) {
		if (!step->ns || step->ns > (unsigned long long)app->nr_messages)
			at_refuse(at, "\"%.20s\": the file has no such message", word);
		step->message = &app->message[step->ns];
	}
}

void rt_read_replay(struct rt_app *app, const struct rt_task *task, const struct at *at,
		    struct rt_event *event)
{
	const char *text = json_string_value(at->value);
	int nr = 0, in_word = 0;

	if (!text)
		at_refuse(at, "a text is expected");
	if (task->instances > 1)
		at_refuse(at, "a task that replays has one thread, not %d", task->instances);
	app->replays = 1;
	for (const char *p = text; *p; p++) {
		nr += *p != ' ' && !in_word;
		in_word = *p != ' ';
	}
	event->step = wl_new(struct rt_step, nr + 1);
	for (; *text; text++) {
		if (*text == ' ')
			continue;
		read_step(app, at, &text, &event->step[event->nr_steps++]);
		if (!*text)
			break;
	}
}

/* ------------------------------------------------------------------ doing it */

static void answer(struct rt_replay *r)
{
	if (r->born && !r->handed_on)
		wl_record(r->answered, wl_now() - r->born);
	r->born = 0;
	r->handed_on = 0;
}

static void wait(struct rt_replay *r, struct rt_task *self)
{
	answer(r);
	for (;;) {
		unsigned int count = wl_load(&self->wakes);

		if (count && wl_replace(&self->wakes, count, count - 1))
			break;
		if (count)
			continue;
		wl_store(&self->asleep, 1);
		wl_note_wait("a wake of its recording", NULL);
		wl_futex_wait(&self->wakes, 0, WL_NEVER);
		wl_store(&self->asleep, 0);
	}
	r->born = self->born;
}

static void wake(struct rt_replay *r, struct rt_task *other)
{
	other->born = r->born;
	r->handed_on = 1;
	wl_add(&other->wakes, 1);
	if (wl_load(&other->asleep))
		wl_futex_wake(&other->wakes, 1);
}

static void sleep_until(struct rt_replay *r, unsigned long long time)
{
	if (wl_now() < time)
		wl_sleep_until(time);
	r->born = time;
}

static void grid(struct rt_replay *r, unsigned long long period)
{
	unsigned long long now = wl_now();

	if (!r->next)
		r->next = now;
	r->next += period;
	if (r->next < now)
		r->next += (now - r->next) / period * period;
	sleep_until(r, r->next);
}

static void send(struct rt_replay *r, const struct rt_message *m)
{
	m->channel->born = r->born;
	r->handed_on = 1;
	if (m->channel->pipe)
		wl_pipe_write(m->channel->pipe, m->bytes);
	else
		wl_send(m->channel->from, m->bytes);
}

static void receive(struct rt_replay *r, const struct rt_message *m)
{
	answer(r);
	if (m->channel->pipe)
		wl_pipe_read(m->channel->pipe, m->bytes);
	else
		wl_receive(m->channel->to, m->bytes);
	r->born = m->channel->born;
}

static void connect_channel(struct rt_channel *c)
{
	struct wl_socket *pair[2];
	struct wl_listener *listener;

	c->born = 0;
	switch (c->kind) {
	case RT_C_PIPE:
		c->pipe = wl_pipe();
		break;
	case RT_C_PACKETS:
		c->pipe = wl_packet_pipe(0);
		break;
	case RT_C_UNIX:
		wl_socketpair(pair);
		c->from = pair[0];
		c->to = pair[1];
		break;
	case RT_C_TCP:
	case RT_C_UDP:
		listener = wl_listen(c->kind == RT_C_TCP ? WL_TCP : WL_UDP);
		c->from = wl_connect(listener, NULL);
		wl_accept(listener, &c->to);
		break;
	}
}

void rt_replay_connect(struct rt_app *app)
{
	for (struct rt_channel *c = app->channels; c; c = c->next)
		connect_channel(c);
}

void rt_replay(struct rt_replay *r, struct rt_task *self, const struct rt_event *event)
{
	for (int i = 0; i < event->nr_steps && !wl_load(r->over); i++) {
		const struct rt_step *s = &event->step[i];

		switch (s->word) {
		case RT_W_WORK:
			wl_run(s->ns);
			break;
		case RT_W_WAIT:
			wait(r, self);
			break;
		case RT_W_WAKE:
			wake(r, s->task);
			break;
		case RT_W_START:
			r->start(r->thread, s->task);
			break;
		case RT_W_SLEEP:
			answer(r);
			sleep_until(r, wl_now() + s->ns);
			break;
		case RT_W_GRID:
			answer(r);
			grid(r, s->ns);
			break;
		case RT_W_ARRIVAL:
			answer(r);
			sleep_until(r, r->began + s->ns);
			break;
		case RT_W_DEVICE:
			wl_sleep(s->ns);
			break;
		case RT_W_SEND:
			send(r, s->message);
			break;
		case RT_W_RECEIVE:
			receive(r, s->message);
			break;
		}
	}
	answer(r);
}
