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
 *	lN	takes lock N
 *	uN	gives lock N back
 *	bN	waits at barrier N until all of its tasks are there
 *	y	yields its CPU
 *	pN	puts item N of the file into its pool
 *	qN	takes items of pool N and does their words, until none is to come
 *
 * What comes from outside (s, t, @) begins a request.  A wake, a message or an item hands the
 * request on, and it is answered when the task that has it waits again without having handed it on.
 */
#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "calls/backend.h"
#include "rt-app-file.h"

#define LONGEST_NS	(USEC_PER_DAY * 1000ULL)
#define LONGEST_MESSAGE	(1 << 30)
#define MOST_LOCKS	1000000			/* and pools */
#define LONGEST_NAME	256
#define LONGEST_PIECE	(100 * WL_USEC)
#define SHARES		10000			/* of all work */
#define FIRST_ENDED	500	/* of them: of tasks that have ended when the rate has been taken */

enum rt_word {
	RT_W_WORK, RT_W_WAIT, RT_W_WAKE, RT_W_START, RT_W_SLEEP, RT_W_GRID, RT_W_ARRIVAL, RT_W_DEVICE,
	RT_W_SEND, RT_W_RECEIVE, RT_W_LOCK, RT_W_UNLOCK, RT_W_BARRIER, RT_W_YIELD, RT_W_PUT,
	RT_W_SERVE,
};

enum rt_channel_kind { RT_C_PIPE, RT_C_PACKETS, RT_C_UNIX, RT_C_TCP, RT_C_UDP };

/* What a wake or a message handed on. */
struct rt_handed {
	struct rt_request request;
	unsigned long long end;			/* bytes of its channel up to the end of the message */
	int		there;
};

/* One direction: who sends and who receives may be several. */
struct rt_channel {
	struct rt_channel *next;
	long long	id;
	enum rt_channel_kind kind;
	struct wl_pipe	*pipe;			/* or */
	struct wl_socket *from, *to;
	unsigned long long sent, received;	/* bytes */
	struct rt_queue	requests;		/* of the messages on their way */
};

/* Requests that tasks of one name begin, numbers in names aside. */
struct rt_class {
	struct rt_class	*next;
	const char	*name;
	struct wl_histogram *answered;
};

/* Work that any of several tasks does. */
struct rt_item {
	struct rt_pool	*pool;
	int		nr_steps;
	struct rt_step	*step;
	unsigned int	puts;			/* of the file: no more than one */
	unsigned long long put;
	struct rt_request request;		/* that it hands on */
};

struct rt_pool {
	unsigned int	items;			/* of the file */
	unsigned int	put, taken;		/* so far */
	unsigned int	queued, idle;		/* items nobody has taken; tasks that wait for one */
	struct rt_item	**queue;
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
	struct rt_item	*item;
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
					[RT_W_RECEIVE] = 'r', [RT_W_LOCK] = 'l',
					[RT_W_UNLOCK] = 'u', [RT_W_BARRIER] = 'b',
					[RT_W_YIELD] = 'y', [RT_W_PUT] = 'p', [RT_W_SERVE] = 'q' };

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
	if (step->word == RT_W_WAKE || step->word == RT_W_START) {
		step->task = by_id(app, step->ns);
		if (!step->task)
			at_refuse(at, "\"%.20s\": no task's name ends in -%llu", word, step->ns);
		if (step->word == RT_W_WAKE)
			step->task->requests.size++;
		else
			step->task->starts++;
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

/* ------------------------------------------------------------------ doing it */

static void answer(struct rt_replay *r)
{
	const struct rt_request *request = &r->request;

	if (request->born && !r->handed_on) {
		unsigned long long took = wl_now() - request->born;

		wl_record(r->app->answered, took);
		wl_record(request->class->answered, took);
	}
	r->request.born = 0;
	r->handed_on = 0;
}

static void empty(struct rt_queue *q)
{
	*q = (struct rt_queue) { .size = q->size, .handed = wl_new(struct rt_handed, q->size + 1) };
}

static void hand_on(struct rt_replay *r, struct rt_queue *q, unsigned long long end)
{
	struct rt_handed *handed = &q->handed[__atomic_fetch_add(&q->put, 1, __ATOMIC_RELAXED)];

	handed->request = r->request;
	handed->end = end;
	__atomic_store_n(&handed->there, 1, __ATOMIC_RELEASE);
	r->handed_on = 1;
}

static struct rt_request next_request(struct rt_queue *q)
{
	struct rt_handed *handed = &q->handed[q->taken++];

	while (!__atomic_load_n(&handed->there, __ATOMIC_ACQUIRE))
		wl_relax();			/* another one's place, which it is about to fill */
	return handed->request;
}

/* The oldest of messages that end within so many bytes of the channel. */
static struct rt_request received_request(struct rt_queue *q, unsigned long long bytes)
{
	struct rt_request oldest = { 0 };
	unsigned int at = __atomic_load_n(&q->taken, __ATOMIC_RELAXED);

	while (at < q->size) {
		struct rt_handed *handed = &q->handed[at];

		if (!__atomic_load_n(&handed->there, __ATOMIC_ACQUIRE) || handed->end > bytes)
			break;
		if (!__atomic_compare_exchange_n(&q->taken, &at, at + 1, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
			continue;
		if (handed->request.born && (!oldest.born || handed->request.born < oldest.born))
			oldest = handed->request;
		at++;
	}
	return oldest;
}

static void wait(struct rt_replay *r, struct rt_task *self)
{
	int slept = 0;

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
		slept = 1;
	}
	if (slept)
		wl_record(r->app->woken, wl_now() - self->woken);
	r->request = next_request(&self->requests);
}

static void wake(struct rt_replay *r, struct rt_task *other)
{
	hand_on(r, &other->requests, 0);
	if (wl_load(&other->asleep))
		other->woken = wl_now();
	wl_add(&other->wakes, 1);
	if (wl_load(&other->asleep))
		wl_futex_wake(&other->wakes, 1);
}

static void sleep_until(struct rt_replay *r, const struct rt_task *self, unsigned long long time)
{
	if (wl_now() < time)
		wl_sleep_until(time);
	r->request = (struct rt_request) { time, self->class };
}

static void grid(struct rt_replay *r, const struct rt_task *self, unsigned long long period)
{
	unsigned long long now = wl_now();

	if (!r->next)
		r->next = now;
	r->next += period;
	if (r->next < now)
		r->next += (now - r->next) / period * period;
	sleep_until(r, self, r->next);
}

static void send(struct rt_replay *r, const struct rt_message *m)
{
	struct rt_channel *c = m->channel;

	hand_on(r, &c->requests, __atomic_add_fetch(&c->sent, m->bytes, __ATOMIC_RELAXED));
	if (c->pipe)
		wl_pipe_write(c->pipe, m->bytes);
	else
		wl_send(c->from, m->bytes);
}

static void receive(struct rt_replay *r, const struct rt_message *m)
{
	struct rt_channel *c = m->channel;

	answer(r);
	if (c->pipe)
		wl_pipe_read(c->pipe, m->bytes);
	else
		wl_receive(c->to, m->bytes);
	r->request = received_request(&c->requests,
				      __atomic_add_fetch(&c->received, m->bytes, __ATOMIC_RELAXED));
}

static void put(struct rt_replay *r, struct rt_item *item)
{
	struct rt_pool *pool = item->pool;

	item->request = r->request;
	item->put = wl_now();
	r->handed_on = 1;
	__atomic_store_n(&pool->queue[wl_add(&pool->put, 1)], item, __ATOMIC_RELEASE);
	wl_add(&pool->queued, 1);
	if (wl_load(&pool->idle))
		wl_futex_wake(&pool->queued, 1);
}

/* NULL: all items of the file have been taken. */
static struct rt_item *take(struct rt_replay *r, struct rt_pool *pool)
{
	struct rt_item *item;
	unsigned int at;
	int slept = 0;

	answer(r);
	for (;;) {
		unsigned int queued = wl_load(&pool->queued);

		if (wl_load(&pool->taken) == pool->items)
			return NULL;
		if (queued && wl_replace(&pool->queued, queued, queued - 1))
			break;
		if (queued)
			continue;
		wl_add(&pool->idle, 1);
		wl_note_wait("an item of a pool of its recording", NULL);
		wl_futex_wait(&pool->queued, 0, WL_NEVER);
		wl_add(&pool->idle, -1);
		slept = 1;
	}
	at = wl_add(&pool->taken, 1);
	while (!(item = __atomic_load_n(&pool->queue[at], __ATOMIC_ACQUIRE)))
		wl_relax();			/* another one's place, which it is about to fill */
	if (at + 1 == pool->items) {
		wl_add(&pool->queued, 1);	/* so that nobody waits for one more */
		wl_futex_wake(&pool->queued, INT_MAX);
	}
	if (slept)
		wl_record(r->app->woken, wl_now() - item->put);
	r->request = item->request;
	return item;
}

static void connect_channel(struct rt_channel *c)
{
	struct wl_socket *pair[2];
	struct wl_listener *listener;

	c->sent = c->received = 0;
	empty(&c->requests);
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
	for (int i = 0; i < app->nr_tasks; i++)
		empty(&app->task[i].requests);
	app->ended = 0;
	app->rate = 0;
	app->answered = wl_histogram();
	app->woken = wl_histogram();
	for (struct rt_class *c = app->classes; c; c = c->next)
		c->answered = wl_histogram();
	app->lock = wl_new(struct wl_mutex, app->nr_locks + 1);
	app->barrier = wl_new(struct wl_barrier, app->nr_barriers + 1);
	for (unsigned int i = 1; i <= app->nr_barriers; i++)
		wl_barrier_init(&app->barrier[i], app->barrier_size[i]);
	for (unsigned int i = 1; i <= app->nr_pools; i++) {
		struct rt_pool *pool = &app->pool[i];

		*pool = (struct rt_pool) { .items = pool->items };
		pool->queue = wl_new(struct rt_item *, pool->items);
	}
}

static double rate(const struct rt_app *app);

void rt_replay_report(const struct rt_app *app)
{
	char name[2 * LONGEST_NAME];

	wl_result("work rate", app->rate > 0 ? app->rate : rate(app), "CPUs");
	if (wl_count(app->woken))
		wl_result_latency("wakeup", app->woken);
	if (wl_count(app->answered))
		wl_result_latency("request", app->answered);
	for (const struct rt_class *c = app->classes; c; c = c->next) {
		if (!wl_count(c->answered))
			continue;
		snprintf(name, sizeof(name), "request of %s", c->name);
		wl_result_latency(name, c->answered);
	}
}

static void serve(struct rt_replay *r, struct rt_task *self, struct rt_pool *pool);

/* In pieces, as somebody may ask in the middle how much is done. */
static void work(struct rt_task *self, unsigned long long ns)
{
	while (ns) {
		unsigned long long piece = ns < LONGEST_PIECE ? ns : LONGEST_PIECE;

		wl_run(piece);
		__atomic_store_n(&self->done, self->done + piece, __ATOMIC_RELAXED);
		ns -= piece;
	}
}

static void perform(struct rt_replay *r, struct rt_task *self, const struct rt_step *step, int nr)
{
	for (int i = 0; i < nr && !wl_load(r->over); i++) {
		const struct rt_step *s = &step[i];

		switch (s->word) {
		case RT_W_WORK:
			work(self, s->ns);
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
			sleep_until(r, self, wl_now() + s->ns);
			break;
		case RT_W_GRID:
			answer(r);
			grid(r, self, s->ns);
			break;
		case RT_W_ARRIVAL:
			answer(r);
			sleep_until(r, self, r->began + s->ns);
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
		case RT_W_LOCK:
			wl_lock(&r->app->lock[s->ns]);
			break;
		case RT_W_UNLOCK:
			wl_unlock(&r->app->lock[s->ns]);
			break;
		case RT_W_BARRIER:
			answer(r);
			wl_barrier_wait(&r->app->barrier[s->ns]);
			break;
		case RT_W_YIELD:
			wl_yield();
			break;
		case RT_W_PUT:
			put(r, s->item);
			break;
		case RT_W_SERVE:
			serve(r, self, &r->app->pool[s->ns]);
			break;
		}
	}
}

static void serve(struct rt_replay *r, struct rt_task *self, struct rt_pool *pool)
{
	struct rt_item *item;

	while (!wl_load(r->over) && (item = take(r, pool)))
		perform(r, self, item->step, item->nr_steps);
}

static double rate(const struct rt_app *app)
{
	unsigned long long done = 0;

	for (int i = 0; i < app->nr_tasks; i++)
		done += __atomic_load_n(&app->task[i].done, __ATOMIC_RELAXED);
	return done / (wl_elapsed() * WL_SEC);
}

/* Some tasks end before the others, and with fewer tasks less is done at a time. */
static void note_end(struct rt_app *app, const struct rt_task *task)
{
	unsigned int part = app->work ? task->done * SHARES / app->work : 0;
	unsigned int before = wl_add(&app->ended, part);

	if (before < FIRST_ENDED && before + part >= FIRST_ENDED)
		app->rate = rate(app);
}

void rt_replay(struct rt_replay *r, struct rt_task *self, const struct rt_event *event)
{
	perform(r, self, event->step, event->nr_steps);
	answer(r);
	note_end(r->app, self);
}
