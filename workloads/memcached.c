// SPDX-License-Identifier: GPL-2.0-only
/*
 * memcached and memcaslap: threads with an event loop each on both sides, and connections that the
 * server's main thread deals out to them.
 */
#include "applications.h"

/* strace: bytes; nine gets to a set, values of 1 KiB */
#define GET		70U
#define GET_ANSWER	1110U
#define SET		1105U
#define SET_ANSWER	8U
#define GETS_IN_TEN	9

struct cache {
	int workers, threads, connections;
	struct wl_pipe *ready;
	struct wl_listener *listener;
	struct wl_watch **watch;		/* of the workers */
	struct loops *loops;
	struct connection *connection;
};

struct worker {
	struct cache *cache;
	int number;
	struct wl_pipe *ready;
};

struct connection {
	struct wl_socket *client, *server;
	unsigned long long sent;
	int sets;
};

/* 0: memcaslap is gone. */
static int answer(struct connection *c)
{
	if (!wl_receive(c->server, c->sets ? SET : GET))
		return 0;
	wl_work_about(WL_memcached_request);
	wl_send(c->server, c->sets ? SET_ANSWER : GET_ANSWER);
	return 1;
}

static void serve(void *arg)
{
	struct worker *me = arg;
	struct wl_watch *watch = wl_watch();
	void *asked[WL_MOST_READABLE];

	wl_footprint(wl_figure(WL_memcached_footprint_kib) << 10);
	me->cache->watch[me->number] = watch;
	wl_pipe_write(me->ready, 1);
	for (;;) {
		int n = wl_watch_several(watch, asked, WL_MOST_READABLE, WL_NEVER);

		for (int i = 0; i < n; i++)
			if (!answer(asked[i]))
				return;
	}
}

static void memcached_server(void *arg)
{
	struct cache *m = arg;
	struct worker *worker = wl_new(struct worker, m->workers);
	struct wl_pipe *ready = wl_pipe();

	m->listener = wl_listen(WL_TCP);
	for (int i = 0; i < m->workers; i++) {
		worker[i] = (struct worker) { m, i, ready };
		wl_thread("memcached", serve, &worker[i]);
		wl_pipe_read(ready, 1);
	}
	wl_pipe_write(m->ready, 1);
	for (int i = 0;; i++) {
		struct wl_socket *accepted;
		struct connection *c = wl_accept(m->listener, &accepted);

		c->server = accepted;
		wl_watch_add(m->watch[i % m->workers], &(struct wl_poll) { .socket = accepted }, c);
	}
}

/* ------------------------------------------------------------------ memcaslap */

static void ask(struct connection *c)
{
	wl_work_about(WL_memcached_ask);
	c->sets = wl_uniform(1, 10) > GETS_IN_TEN;
	c->sent = wl_now();
	wl_send(c->client, c->sets ? SET : GET);
}

static void memcaslap(void *arg)
{
	struct loops_thread *me = arg;
	struct cache *m = me->server;
	struct wl_watch *watch = wl_watch();
	void *answered[WL_MOST_READABLE];
	int left = me->connections;

	for (int i = me->first; i < me->first + me->connections; i++) {
		struct connection *c = &m->connection[i];

		c->client = wl_connect(m->listener, c);
		wl_watch_add(watch, &(struct wl_poll) { .socket = c->client }, c);
		ask(c);
	}
	while (left) {
		int n = wl_watch_several(watch, answered, WL_MOST_READABLE, WL_NEVER);

		for (int i = 0; i < n; i++) {
			struct connection *c = answered[i];

			wl_receive(c->client, c->sets ? SET_ANSWER : GET_ANSWER);
			wl_work_about(WL_memcached_read);
			if (loops_answered(m->loops, c->sent))
				ask(c);
			else
				left--;
		}
	}
}

static void memcached(void)
{
	struct cache *m = wl_new(struct cache, 1);

	m->workers = wl_option("workers");
	m->threads = wl_option("threads");
	m->connections = wl_option("connections");
	if (m->threads > m->connections)
		wl_refuse("there are more threads than connections");
	m->watch = wl_new(struct wl_watch *, m->workers);
	m->connection = wl_new(struct connection, m->connections);
	m->ready = wl_pipe();
	m->loops = loops_new();
	wl_fork("memcached", memcached_server, m);
	wl_pipe_read(m->ready, 1);
	loops_run(m->loops, "memcaslap", memcaslap, m, m->threads, m->connections);
}

static const struct wl_option options[] = {
	{ "workers", 'w', WL_COUNT, 1, 1, 4096, NULL, "threads of memcached" },
	{ "threads", 'T', WL_COUNT, 1, 1, 4096, NULL, "of memcaslap" },
	{ "connections", 'c', WL_COUNT, 16, 1, 65536, NULL, "in all" },
	{ "time", 't', WL_TIME, 10 * (long long)WL_SEC, WL_MSEC, 3600 * (long long)WL_SEC, NULL,
	  "how long is measured" },
	{ }
};

WORKLOAD(memcached) = {
	.name = "memcached",
	.summary = "a cache of threads with an event loop each, and memcaslap",
	.original = "memcached 1.6 and memcaslap of libmemcached 1.1",
	.options = options,
	.main = memcached,
};
