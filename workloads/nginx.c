// SPDX-License-Identifier: GPL-2.0-only
/*
 * nginx and wrk: workers with an event loop each, which send a small file; threads of wrk, each with
 * an event loop for connections of its own.
 */
#include "applications.h"

/* strace: bytes */
#define REQUEST	51U
#define HEADER	239U
#define PAGE	1024U

struct site {
	int workers, threads, connections;
	struct worker *worker;
	struct wl_pipe *ready;
	struct loops *loops;
	struct connection *connection;
};

struct worker {
	struct site *site;
	int connections;		/* dealt out, as no worker takes more than the others for long */
	struct wl_listener *listener;
};

struct connection {
	struct wl_socket *client, *server;
	struct wl_watched *watched;	/* wrk's */
	int asked;
	unsigned long long sent;
};

/* 0: wrk is gone. */
static int answer(struct connection *c)
{
	if (!wl_receive(c->server, REQUEST))
		return 0;
	wl_work_about(WL_nginx_request);
	wl_work(WL_nginx_file);
	wl_send(c->server, HEADER);
	wl_send(c->server, PAGE);
	return 1;
}

static void serve(void *arg)
{
	struct worker *me = arg;
	struct wl_watch *watch = wl_watch();
	void *asked[WL_MOST_READABLE];

	wl_footprint(wl_figure(WL_nginx_footprint_kib) << 10);
	me->listener = wl_listen(WL_TCP);
	wl_pipe_write(me->site->ready, 1);
	for (int i = 0; i < me->connections; i++) {
		struct wl_socket *accepted;
		struct connection *c = wl_accept(me->listener, &accepted);

		c->server = accepted;
		wl_watch_add(watch, &(struct wl_poll) { .socket = accepted }, c);
	}
	for (;;) {
		int n = wl_watch_several(watch, asked, WL_MOST_READABLE, WL_NEVER);

		for (int i = 0; i < n; i++)
			if (!answer(asked[i]))
				return;
	}
}

static void nginx_master(void *arg)
{
	struct site *s = arg;

	for (int i = 0; i < s->workers; i++)
		wl_fork("nginx", serve, &s->worker[i]);
	while (wl_wait())
		;
}

/* ------------------------------------------------------------------ wrk */

static void ask(struct connection *c)
{
	wl_work_about(WL_nginx_ask);
	c->sent = wl_now();
	wl_send(c->client, REQUEST);
	c->asked = 1;
	wl_watch_for(c->watched, WL_READABLE);
}

/* 0: it was the last. */
static int read_answer(struct site *s, struct connection *c)
{
	wl_receive(c->client, HEADER + PAGE);
	wl_work_about(WL_nginx_read);
	c->asked = 0;
	if (!loops_answered(s->loops, c->sent))
		return 0;
	wl_watch_for(c->watched, WL_READABLE | WL_WRITABLE);
	return 1;
}

static void wrk(void *arg)
{
	struct loops_thread *me = arg;
	struct site *s = me->server;
	struct wl_watch *watch = wl_watch();
	void *ready[WL_MOST_READABLE];
	int left = me->connections;

	for (int i = me->first; i < me->first + me->connections; i++) {
		struct connection *c = &s->connection[i];

		c->client = wl_connect(s->worker[i % s->workers].listener, c);
		c->watched = wl_watch_add(watch, &(struct wl_poll) { .socket = c->client }, c);
		ask(c);
	}
	while (left) {
		int n = wl_watch_several(watch, ready, WL_MOST_READABLE, WL_NEVER);

		for (int i = 0; i < n; i++) {
			struct connection *c = ready[i];

			if (!c->asked)
				ask(c);
			else
				left -= !read_answer(s, c);
		}
	}
}

static void nginx(void)
{
	struct site *s = wl_new(struct site, 1);

	s->workers = wl_option("workers");
	s->threads = wl_option("threads");
	s->connections = wl_option("connections");
	if (s->threads > s->connections)
		wl_refuse("there are more threads than connections");
	s->worker = wl_new(struct worker, s->workers);
	s->connection = wl_new(struct connection, s->connections);
	s->ready = wl_pipe();
	s->loops = loops_new();
	for (int i = 0; i < s->workers; i++) {
		s->worker[i].site = s;
		s->worker[i].connections = s->connections / s->workers + (i < s->connections % s->workers);
	}
	wl_fork("nginx", nginx_master, s);
	for (int i = 0; i < s->workers; i++)
		wl_pipe_read(s->ready, 1);
	loops_run(s->loops, "wrk", wrk, s, s->threads, s->connections);
}

static const struct wl_option options[] = {
	{ "workers", 'w', WL_COUNT, 1, 1, 4096, NULL, "of nginx" },
	{ "threads", 't', WL_COUNT, 1, 1, 4096, NULL, "of wrk" },
	{ "connections", 'c', WL_COUNT, 16, 1, 65536, NULL, "in all" },
	{ "time", 'd', WL_TIME, 10 * (long long)WL_SEC, WL_MSEC, 3600 * (long long)WL_SEC, NULL,
	  "how long is measured" },
	{ }
};

WORKLOAD(nginx) = {
	.name = "nginx",
	.summary = "a web server of workers with epoll, and wrk",
	.original = "nginx 1.22 and wrk 4.1",
	.options = options,
	.main = nginx,
};
