// SPDX-License-Identifier: GPL-2.0-only
/*
 * MariaDB's thread pool (thread_handling=pool-of-threads): groups of threads, one a CPU, each with
 * an epoll of its connections.  One thread of a group listens; it serves the first request that comes
 * and queues the rest.  Of the others one works at a time, and more where workers wait.
 */
#include "mariadb-pool.h"

#define OVERSUBSCRIBED	4	/* thread_pool_oversubscribe 3: so many and more do not take work */

struct worker {
	struct group *group;
	struct worker *next;
	struct wl_condition wake;
	int woken;
};

struct pooled {
	struct group *group;
	void *connection;
	struct wl_watched *watched;
	struct pooled *next;
};

struct group {
	struct pool *pool;
	struct wl_mutex lock;
	struct wl_watch *watch;
	struct pooled *queue, **last;
	struct worker *waiting;		/* the last to wait is the first to be woken */
	int active, listening;
};

struct pool {
	int groups, connections;
	struct group *group;
	int (*answer)(void *connection);
};

struct pool *pool_new(int groups, int (*answer)(void *connection))
{
	struct pool *p = wl_new(struct pool, 1);

	p->groups = groups;
	p->group = wl_new(struct group, groups);
	p->answer = answer;
	return p;
}

/* ------------------------------------------------------------------ below a group's lock */

static void put(struct group *g, struct pooled *c)
{
	c->next = NULL;
	*g->last = c;
	g->last = &c->next;
}

static struct pooled *take(struct group *g)
{
	struct pooled *c = g->queue;

	if (!c)
		return NULL;
	g->queue = c->next;
	if (!g->queue)
		g->last = &g->queue;
	return c;
}

static void work(void *arg);

static void wake_or_create(struct group *g)
{
	struct worker *w = g->waiting;

	if (w) {
		g->waiting = w->next;
		w->woken = 1;
		wl_signal(&w->wake);
		return;
	}
	w = wl_new(struct worker, 1);
	w->group = g;
	g->active++;
	wl_thread("mariadbd", work, w);
}

/* Returns what came while everybody else worked or slept: the first for the caller. */
static struct pooled *listen(struct group *g)
{
	void *ready[WL_MOST_READABLE];

	for (;;) {
		struct pooled *own = NULL;
		int n, i = 0;

		wl_unlock(&g->lock);
		n = wl_watch_several(g->watch, ready, WL_MOST_READABLE, WL_NEVER);
		wl_lock(&g->lock);
		if (!g->queue)
			own = ready[i++];
		while (i < n)
			put(g, ready[i++]);
		if (own)
			return own;
		if (!g->active)
			wake_or_create(g);
	}
}

static void wait_for_work(struct worker *w)
{
	struct group *g = w->group;

	w->woken = 0;
	w->next = g->waiting;
	g->waiting = w;
	g->active--;
	while (!w->woken)
		wl_condition_wait(&w->wake, &g->lock, WL_NEVER);
	g->active++;
}

static struct pooled *next_event(struct worker *w)
{
	struct group *g = w->group;
	struct pooled *c = NULL;

	wl_lock(&g->lock);
	while (!c) {
		int free = g->active <= OVERSUBSCRIBED;
		void *one;

		if (free && (c = take(g)))
			break;
		if (!g->listening) {
			g->listening = 1;
			g->active--;
			c = listen(g);
			g->active++;
			g->listening = 0;
		} else if (free && wl_watch_several(g->watch, &one, 1, 0)) {
			c = one;
		} else {
			wait_for_work(w);
		}
	}
	wl_unlock(&g->lock);
	return c;
}

/* ------------------------------------------------------------------ without it */

static void work(void *arg)
{
	struct worker *w = arg;

	wl_footprint(wl_figure(WL_mariadb_footprint_kib) << 10);
	for (;;) {
		struct pooled *c = next_event(w);

		if (c->group->pool->answer(c->connection))
			wl_watch_again(c->watched);
	}
}

void pool_start(struct pool *p)
{
	for (int i = 0; i < p->groups; i++) {
		struct group *g = &p->group[i];

		g->pool = p;
		g->watch = wl_watch();
		g->last = &g->queue;
		wl_lock(&g->lock);
		wake_or_create(g);
		wl_unlock(&g->lock);
	}
}

void pool_add(struct pool *p, const struct wl_poll *what, void *connection, struct pooled **pooled)
{
	struct pooled *c = wl_new(struct pooled, 1);

	*pooled = c;
	c->connection = connection;
	c->group = &p->group[p->connections++ % p->groups];
	wl_lock(&c->group->lock);	/* nobody serves it before it is whole */
	c->watched = wl_watch_once(c->group->watch, what, c);
	wl_unlock(&c->group->lock);
}

/* tp_wait_begin(): another thread takes the place of one that waits. */
void pool_wait_begin(struct pooled *c)
{
	struct group *g;

	if (!c)
		return;
	g = c->group;
	wl_lock(&g->lock);
	g->active--;
	if (!g->active && (g->queue || !g->listening))
		wake_or_create(g);
	wl_unlock(&g->lock);
}

void pool_wait_end(struct pooled *c)
{
	struct group *g;

	if (!c)
		return;
	g = c->group;
	wl_lock(&g->lock);
	g->active++;
	wl_unlock(&g->lock);
}
