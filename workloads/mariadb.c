// SPDX-License-Identifier: GPL-2.0-only
/*
 * MariaDB and sysbench's OLTP tests: a thread for each connection on both sides, or on the server's a
 * pool of threads (mariadb-pool.c); commits that one thread at a time brings to disk.
 */
#include "mariadb-pool.h"

#define HEADER	4U			/* of a packet */

struct statement {
	unsigned int query, answer;	/* bytes, headers included */
	enum wl_figure work;
	enum { READS, WRITES, COMMITS } kind;
};

struct mariadb {
	unsigned int transactions __attribute__((aligned(64)));	/* that write are numbered */
	const struct statement *const *transaction;
	struct commits *commits;
	struct loops *loops;
	struct wl_pipe *ready;
	struct wl_listener *listener;
	struct pool *pool;		/* or NULL: a thread for each connection */
};

struct connection {
	struct mariadb *mariadb;
	struct wl_socket *client, *server;
	const struct statement *const *statement;	/* the one under way */
	int wrote;
	struct committer committer;
	struct pooled *pooled;		/* or NULL */
};

/* strace and sysbench's prepared statements: bytes of a query and its answer */
static const struct statement begin = { 14, 11, WL_mariadb_begin, READS };
static const struct statement commit = { 14, 13, WL_mariadb_commit, COMMITS };
static const struct statement point = { 24, 150, WL_mariadb_point, READS };
static const struct statement simple_range = { 32, 12624, WL_mariadb_simple_range, READS };
static const struct statement sum_range = { 32, 38, WL_mariadb_sum_range, READS };
static const struct statement order_range = { 32, 12624, WL_mariadb_order_range, READS };
static const struct statement distinct_range = { 32, 12624, WL_mariadb_distinct_range, READS };
static const struct statement index_update = { 24, 52, WL_mariadb_index_update, WRITES };
static const struct statement update = { 144, 52, WL_mariadb_update, WRITES };
static const struct statement deletion = { 24, 11, WL_mariadb_delete, WRITES };
static const struct statement insertion = { 212, 11, WL_mariadb_insert, WRITES };

#define POINTS	&point, &point, &point, &point, &point, &point, &point, &point, &point, &point
#define RANGES	&simple_range, &sum_range, &order_range, &distinct_range

static const struct statement *const read_only[] = { &begin, POINTS, RANGES, &commit, NULL };
static const struct statement *const read_write[] = {
	&begin, POINTS, RANGES, &index_update, &update, &deletion, &insertion, &commit, NULL,
};
static const struct statement *const point_select[] = { &point, NULL };
static const struct statement *const *const transactions[] = { read_only, read_write, point_select };

/* ------------------------------------------------------------------ the server */

static void execute(struct connection *c, const struct statement *s)
{
	struct mariadb *m = c->mariadb;

	wl_work_about(s->work);
	switch (s->kind) {
	case READS:
		break;
	case WRITES:
		wl_add(&m->transactions, 1);
		commits_log(m->commits, &c->committer);
		c->wrote = 1;
		break;
	case COMMITS:
		if (!c->wrote)
			break;
		c->wrote = 0;
		commits_log(m->commits, &c->committer);
		pool_wait_begin(c->pooled);
		commits_wait(m->commits, &c->committer);
		pool_wait_end(c->pooled);
	}
}

/* A receive; poll() and another one if that finds nothing.  0: the other end is gone. */
static int receive(struct wl_socket *socket, unsigned int bytes)
{
	int got = wl_receive_now(socket, bytes);

	if (got >= 0)
		return got;
	wl_poll(&(struct wl_poll) { .socket = socket }, 1, WL_NEVER);
	return wl_receive(socket, bytes);
}

/* The header is read for itself.  0: the client is gone. */
static int answer(void *arg)
{
	struct connection *c = arg;
	const struct statement *s;

	if (!receive(c->server, HEADER))
		return 0;
	s = *c->statement;
	wl_receive(c->server, s->query - HEADER);
	execute(c, s);
	wl_send(c->server, s->answer);
	return 1;
}

static void serve(void *arg)
{
	wl_footprint(wl_figure(WL_mariadb_footprint_kib) << 10);
	while (answer(arg))
		;
}

static void mariadbd(void *arg)
{
	struct mariadb *m = arg;

	m->listener = wl_listen(WL_TCP);
	if (m->pool)
		pool_start(m->pool);
	wl_pipe_write(m->ready, 1);
	for (;;) {
		struct wl_socket *accepted;
		struct connection *c = wl_accept(m->listener, &accepted);

		c->server = accepted;
		if (m->pool)
			pool_add(m->pool, &(struct wl_poll) { .socket = accepted }, c, &c->pooled);
		else
			wl_thread("mariadbd", serve, c);
	}
}

/* ------------------------------------------------------------------ sysbench */

static void ask(struct connection *c)
{
	const struct statement *s = *c->statement;

	wl_work_about(WL_mariadb_ask);
	wl_send(c->client, s->query);
	receive(c->client, s->answer);
	wl_work_about(WL_mariadb_read);
}

static void client(void *arg)
{
	struct connection *c = arg;
	unsigned long long begun;

	c->client = wl_connect(c->mariadb->listener, c);
	do {
		begun = wl_now();
		for (c->statement = c->mariadb->transaction; *c->statement; c->statement++)
			ask(c);
	} while (loops_answered(c->mariadb->loops, begun));
}

static void mariadb(void)
{
	struct mariadb *m = wl_new(struct mariadb, 1);
	int threads = wl_option("threads");
	struct connection *connection = wl_new(struct connection, threads);
	struct wl_task **task = wl_new(struct wl_task *, threads);

	m->transaction = transactions[wl_option("transactions")];
	m->commits = commits_new(DONE_AND_NEXT, WL_mariadb_flush, WL_mariadb_flush_work);
	m->loops = loops_new();
	m->ready = wl_pipe();
	if (wl_option("handling"))
		m->pool = pool_new(wl_cpus(), answer);
	wl_fork("mariadbd", mariadbd, m);
	wl_pipe_read(m->ready, 1);
	for (int i = 0; i < threads; i++) {
		connection[i].mariadb = m;
		task[i] = wl_thread("sysbench", client, &connection[i]);
	}
	loops_measure(m->loops, wl_option("time"));
	for (int i = 0; i < threads; i++)
		wl_join(task[i]);
	loops_results(m->loops);
}

static const struct wl_option options[] = {
	{ "transactions", 'b', WL_WORD, 0, 0, 0, "read_only|read_write|point_select", "sysbench's OLTP test" },
	{ "threads", 't', WL_COUNT, 1, 1, 8192, NULL, "of sysbench, each with a connection" },
	{ "handling", 0, WL_WORD, 0, 0, 0, "threads|pool", "a thread for each connection, or a pool" },
	{ "time", 0, WL_TIME, 10 * (long long)WL_SEC, WL_MSEC, 3600 * (long long)WL_SEC, NULL,
	  "how long is measured" },
	{ }
};

WORKLOAD(mariadb) = {
	.name = "mariadb",
	.summary = "a database with a thread for each connection or a pool, and sysbench",
	.original = "MariaDB 10.11 and sysbench 1.0.20",
	.options = options,
	.main = mariadb,
};
