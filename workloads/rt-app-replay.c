// SPDX-License-Identifier: GPL-2.0-only
/* Replays: a thread does the words of its recording. */
#include <limits.h>
#include <stdio.h>
#include "calls/backend.h"
#include "rt-app-replay.h"

#define LONGEST_NAME	256
#define LONGEST_PIECE	(100 * WL_USEC)
#define FEWEST_WAITS	100	/* of which the 99th percentile is not the longest itself */
#define SHARES		10000			/* of all work */
#define FIRST_ENDED	500	/* of them: of tasks that have ended when the rate has been taken */

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

static void pass(struct rt_replay *r, struct rt_gate *gate)
{
	int slept = 0;

	answer(r);
	while (!wl_load(&gate->open)) {
		wl_add(&gate->waiting, 1);
		wl_note_wait("a gate of its recording", NULL);
		wl_futex_wait(&gate->open, 0, WL_NEVER);
		wl_add(&gate->waiting, -1);
		slept = 1;
	}
	if (slept)
		wl_record(r->app->woken, wl_now() - gate->opened);
	r->request = gate->request;
}

static void open_gate(struct rt_replay *r, struct rt_gate *gate)
{
	gate->request = r->request;
	gate->opened = wl_now();
	r->handed_on = 1;
	wl_store(&gate->open, 1);
	if (wl_load(&gate->waiting))
		wl_futex_wake(&gate->open, INT_MAX);
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
	app->gate = wl_new(struct rt_gate, app->nr_gates + 1);
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
	if (wl_count(app->woken) >= FEWEST_WAITS)
		wl_result_latency("wakeup", app->woken);
	else if (wl_count(app->woken))
		wl_result("wakeup mean", wl_mean(app->woken) / WL_USEC, "us");
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
		case RT_W_JOIN:
			answer(r);
			r->join(r->thread, s->task);
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
		case RT_W_PASS:
			pass(r, &r->app->gate[s->ns]);
			break;
		case RT_W_OPEN:
			open_gate(r, &r->app->gate[s->ns]);
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
