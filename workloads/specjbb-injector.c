// SPDX-License-Identifier: GPL-2.0-only
/*
 * A transaction injector: a driver makes requests at the rate it is set to, issuing threads
 * send them, selector threads take the answers.
 */
#include "specjbb.h"

#define MIX		10000

/* The mix is the benchmark's own. */
static const struct request {
	unsigned int share;			/* of MIX */
	enum wl_figure work;
} requests[] = {
	{ 5000, WL_specjbb2015_purchase_in_store },
	{ 3500, WL_specjbb2015_purchase_online },
	{ 1000, WL_specjbb2015_purchase_instalment },
	{ 10, WL_specjbb2015_category_associativity },
	{ 100, WL_specjbb2015_product_associativity },
	{ 25, WL_specjbb2015_business_report },
	{ 100, WL_specjbb2015_buying_behaviour },
	{ 265, WL_specjbb2015_product_return },
};

struct wanted {
	unsigned long long work, due;
};

/* Probes wait for the answer and measure it, the others do not. */
struct issuer {
	struct group *group;
	struct issuers *pool;
	unsigned int answered JBB_LINE;
	unsigned int issued JBB_LINE;		/* counts */
};

/* A selector thread. */
struct receiver {
	struct group *group;
	int first;				/* its exchanges */
	unsigned int processed JBB_LINE;	/* counts */
};

/* ------------------------------------------------------------------ the pool of connections */

static struct exchange *take_exchange(struct injector *in)
{
	struct exchange *x;

	wl_lock(&in->lock);
	while (!in->nr_idle)
		wl_condition_wait(&in->returned, &in->lock, WL_NEVER);
	x = in->idle[--in->nr_idle];
	wl_unlock(&in->lock);
	return x;
}

static void give_exchange(struct injector *in, struct exchange *x)
{
	wl_lock(&in->lock);
	in->idle[in->nr_idle++] = x;
	wl_unlock(&in->lock);
	wl_signal(&in->returned);
}

/* ------------------------------------------------------------------ threads that issue */

/* 0: no thread is free for it, or, where it may wait for one, no place in the queue. */
static int hand_over(struct issuers *pool, struct wanted wanted, int may_wait)
{
	int room;

	wl_lock(&pool->lock);
	room = pool->tail - pool->head < (may_wait ? JBB_QUEUE : pool->idle);
	if (room)
		pool->queue[pool->tail++ % JBB_QUEUE] = wanted;
	wl_unlock(&pool->lock);
	if (room)
		wl_signal(&pool->work);
	return room;
}

static struct wanted next_wanted(struct issuers *pool)
{
	struct wanted wanted;

	wl_lock(&pool->lock);
	pool->idle++;
	while (pool->head == pool->tail)
		wl_condition_wait(&pool->work, &pool->lock, WL_NEVER);
	pool->idle--;
	wanted = pool->queue[pool->head++ % JBB_QUEUE];
	wl_unlock(&pool->lock);
	return wanted;
}

static void issuer(void *arg)
{
	struct issuer *me = arg;
	struct group *g = me->group;
	int is_probe = me->pool == &g->injector.probes;

	for (;;) {
		struct wanted wanted = next_wanted(me->pool);
		struct exchange *x = take_exchange(&g->injector);

		wl_work_about(WL_specjbb2015_issue);
		x->work = wanted.work;
		x->probe = is_probe ? me : NULL;
		wl_store(&me->answered, 0);
		wl_store(&me->issued, wl_load(&me->issued) + 1);
		wl_send(x->injector, wl_figure(WL_specjbb2015_request_bytes));
		if (!is_probe)
			continue;
		while (!wl_load(&me->answered))
			wl_futex_wait(&me->answered, 0, WL_NEVER);
		wl_record(g->controller->response, wl_now() - wanted.due);
	}
}

static void selector(void *arg)
{
	struct receiver *me = arg;
	struct group *g = me->group;
	struct wl_watch *watch = wl_watch();

	for (int i = me->first; i < g->exchanges; i += g->injector.receivers)
		wl_watch_add(watch, &(struct wl_poll) { .socket = g->exchange[i].injector }, &g->exchange[i]);
	for (;;) {
		struct exchange *x = wl_watch_wait(watch, WL_NEVER);
		struct issuer *probe = x->probe;

		wl_receive(x->injector, wl_figure(WL_specjbb2015_response_bytes));
		wl_work_about(WL_specjbb2015_decode);
		wl_store(&me->processed, wl_load(&me->processed) + 1);
		give_exchange(&g->injector, x);
		if (probe) {
			wl_exchange(&probe->answered, 1);
			wl_futex_wake(&probe->answered, 1);
		}
	}
}

/* ------------------------------------------------------------------ the driver */

static unsigned long long pick_work(void)
{
	unsigned int drawn = wl_uniform(0, MIX - 1), upto = requests[0].share;
	int i = 0;

	while (drawn >= upto)
		upto += requests[++i].share;
	return wl_figure(requests[i].work);
}

/*
 * Requests come at the rate exactly, each at random in its share of the second.  Whoever
 * waits for an answer is asked first; when all do, a request goes unmeasured.
 */
static void driver(void *arg)
{
	struct injector *in = arg;
	unsigned int rate = 0;
	unsigned long long slot = 0, due = 0, now;

	for (;;) {
		struct wanted wanted;
		unsigned int wanted_rate = wl_load(&in->rate);

		if (!wanted_rate) {
			rate = 0;
			wl_futex_wait(&in->rate, 0, WL_NEVER);
			continue;
		}
		if (wanted_rate != rate) {
			rate = wanted_rate;
			slot = wl_now();
			due = slot + wl_uniform(0, WL_SEC / rate);
		}
		now = wl_now();
		if (due > now) {
			wl_futex_wait(&in->rate, rate, due - now);
			continue;
		}
		wanted = (struct wanted) { pick_work(), due };
		if (!hand_over(&in->probes, wanted, 0))
			hand_over(&in->others, wanted, 1);
		slot += WL_SEC / rate;
		due = slot + wl_uniform(0, WL_SEC / rate);
	}
}

/* ------------------------------------------------------------------ all of it */

void jbb_injector(void *arg)
{
	struct group *g = arg;
	struct injector *in = &g->injector;
	struct wl_task *last;

	wl_pipe_read(g->listens, 1);
	for (int i = 0; i < g->exchanges; i++)
		g->exchange[i].injector = wl_connect(g->listener, &g->exchange[i]);
	for (int i = 0; i < in->nr_probes + in->nr_others; i++)
		wl_thread(i < in->nr_probes ? "probe" : "saturate", issuer, &in->issuer[i]);
	for (int i = 0; i < in->receivers; i++)
		wl_thread("selector", selector, &in->receiver[i]);
	last = wl_thread("driver", driver, in);
	wl_pipe_write(g->controller->ready, 1);
	wl_join(last);
}

void jbb_new_injector(struct group *g)
{
	struct injector *in = &g->injector;

	in->idle = wl_new(struct exchange *, g->exchanges);
	for (int i = 0; i < g->exchanges; i++)
		in->idle[in->nr_idle++] = &g->exchange[i];
	in->probes.queue = wl_new(struct wanted, JBB_QUEUE);
	in->others.queue = wl_new(struct wanted, JBB_QUEUE);
	in->nr_probes = wl_option("customerDriver.threads.probe");
	in->nr_others = wl_option("customerDriver.threads.saturate");
	in->issuer = wl_new(struct issuer, in->nr_probes + in->nr_others);
	for (int i = 0; i < in->nr_probes + in->nr_others; i++) {
		in->issuer[i].group = g;
		in->issuer[i].pool = i < in->nr_probes ? &in->probes : &in->others;
	}
	in->receivers = wl_option("comm.connect.selector.runner.count");
	in->receiver = wl_new(struct receiver, in->receivers);
	for (int i = 0; i < in->receivers; i++)
		in->receiver[i] = (struct receiver) { .group = g, .first = i };
}

unsigned int jbb_issued(const struct injector *in)
{
	unsigned int sum = 0;

	for (int i = 0; i < in->nr_probes + in->nr_others; i++)
		sum += wl_load(&in->issuer[i].issued);
	return sum;
}

unsigned int jbb_processed(const struct injector *in)
{
	unsigned int sum = 0;

	for (int i = 0; i < in->receivers; i++)
		sum += wl_load(&in->receiver[i].processed);
	return sum;
}
