// SPDX-License-Identifier: GPL-2.0-only
/*
 * Redis and redis-benchmark: two event loops.  The server reads the requests of all connections that
 * have one, then writes all answers; the load reads answers, and writes requests the next time round.
 */
#include "applications.h"

/* strace: bytes of a request and of its answer, values of 64 bytes */
static const struct test {
	unsigned int request, answer;
	enum wl_figure work;
} tests[] = {
	{ 36, 71, WL_redis_get },
	{ 107, 5, WL_redis_set },
};

struct redis {
	const struct test *test;
	int clients;
	unsigned long requests;
	struct wl_pipe *ready;
	struct wl_listener *listener;
	struct connection *connection;
	struct wl_histogram *latency;
};

struct connection {
	struct wl_socket *client, *server;
	struct wl_watched *watched;		/* the load's */
	int asked;
	unsigned long long sent;
};

static void server(void *arg)
{
	struct redis *r = arg;
	struct wl_watch *watch = wl_watch();
	void *asked[WL_MOST_READABLE];

	wl_footprint(wl_figure(WL_redis_footprint_kib) << 10);
	r->listener = wl_listen(WL_TCP);
	wl_pipe_write(r->ready, 1);
	for (int i = 0; i < r->clients; i++) {
		struct wl_socket *accepted;
		struct connection *c = wl_accept(r->listener, &accepted);

		c->server = accepted;
		wl_watch_add(watch, &(struct wl_poll) { .socket = accepted }, c);
	}
	for (;;) {
		int n = wl_watch_several(watch, asked, WL_MOST_READABLE, WL_NEVER);

		wl_work(WL_redis_turn);
		for (int i = 0; i < n; i++) {
			struct connection *c = asked[i];

			if (!wl_receive(c->server, r->test->request))
				return;
			wl_work_about(r->test->work);
		}
		for (int i = 0; i < n; i++) {
			struct connection *c = asked[i];

			wl_send(c->server, r->test->answer);
		}
	}
}

/* Watches for one direction at a time: what it does not wait for it takes out, and puts in anew. */
static void change_direction(struct connection *c, unsigned int events)
{
	wl_watch_drop(c->watched);
	wl_watch_return(c->watched, events);
}

static void ask(struct redis *r, struct connection *c)
{
	wl_work_about(WL_redis_ask);
	c->sent = wl_now();
	wl_send(c->client, r->test->request);
	c->asked = 1;
	change_direction(c, WL_READABLE);
}

enum turn { UNMEASURED, MEASURED, LAST };

static void read_answer(struct redis *r, struct connection *c, enum turn turn)
{
	wl_receive(c->client, r->test->answer);
	wl_work_about(WL_redis_read);
	if (turn == MEASURED)
		wl_record(r->latency, wl_now() - c->sent);
	c->asked = 0;
	wl_watch_for(c->watched, WL_READABLE);	/* as after every call for what can be read */
	if (turn == LAST)
		wl_watch_drop(c->watched);
	else
		change_direction(c, WL_WRITABLE);
}

/* One turn of the loop: some connections can be asked, some have answered; how many have. */
static int turn(struct redis *r, struct wl_watch *watch, enum turn turn)
{
	void *ready[WL_MOST_READABLE];
	int n = wl_watch_several(watch, ready, WL_MOST_READABLE, WL_NEVER), answered = 0;

	for (int i = 0; i < n; i++) {
		struct connection *c = ready[i];

		answered += c->asked;
		if (c->asked)
			read_answer(r, c, turn);
		else
			ask(r, c);
	}
	return answered;
}

static void redis_benchmark(struct redis *r)
{
	struct wl_watch *watch = wl_watch();
	unsigned long done = 0;

	for (int i = 0; i < r->clients; i++) {
		struct connection *c = &r->connection[i];

		c->client = wl_connect(r->listener, c);
		c->watched = wl_watch_add(watch, &(struct wl_poll) { .socket = c->client }, c);
		change_direction(c, WL_WRITABLE);
	}
	while (wl_warming())
		turn(r, watch, UNMEASURED);
	wl_begin();
	while (done < r->requests)
		done += turn(r, watch, MEASURED);
	wl_end();
	for (int left = r->clients; left;)
		left -= turn(r, watch, LAST);
	wl_result("throughput", done / wl_elapsed(), "1/s");
	wl_result("requests", done, "");
	wl_result_latency("latency", r->latency);
}

static void redis(void)
{
	struct redis *r = wl_new(struct redis, 1);

	r->test = &tests[wl_option("test")];
	r->clients = wl_option("clients");
	r->requests = wl_option("requests");
	r->ready = wl_pipe();
	r->connection = wl_new(struct connection, r->clients);
	r->latency = wl_histogram();
	wl_fork("redis-server", server, r);
	wl_pipe_read(r->ready, 1);
	redis_benchmark(r);
}

static const struct wl_option options[] = {
	{ "test", 't', WL_WORD, 0, 0, 0, "get|set", "what is asked for" },
	{ "clients", 'c', WL_COUNT, 50, 1, 8192, NULL, "connections" },
	{ "requests", 'n', WL_COUNT, 100000, 1, 1LL << 40, NULL, "requests in all" },
	{ }
};

WORKLOAD(redis) = {
	.name = "redis",
	.summary = "a key-value store with one event loop, and its load with another",
	.original = "Redis 7.0 and redis-benchmark",
	.options = options,
	.main = redis,
};
