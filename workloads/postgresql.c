// SPDX-License-Identifier: GPL-2.0-only
/*
 * PostgreSQL and pgbench: a backend process for each connection, shared memory with lightweight
 * locks, and commits that one backend at a time brings to disk; threads of pgbench, each with
 * connections of its own that it waits for together.
 */
#include "applications.h"

#define MOST_STATEMENTS	7
#define RECEIVE_BUFFER	8192U	/* PQ_RECV_BUFFER_SIZE */

/* computed: words of shared memory that every backend changes in a statement, and how often */
#define SNAPSHOT	2	/* ProcArrayLock, shared: taken and given back */
#define DESCENT		4	/* root of an index: pinned, locked, and both undone */

struct statement {
	unsigned int query, answer;	/* bytes */
	enum wl_figure work;
	enum { READS, WRITES, COMMITS } kind;
	enum { NO_ROW, TELLER, BRANCH } row;	/* few enough that transactions wait for each other's */
};

/* pgbench's own transactions; strace of psql's protocol: query, and answer with what it ends with */
static const struct transaction {
	const char *name;
	int statements;
	struct statement statement[MOST_STATEMENTS];
} transactions[] = {
	{ "select", 1, { { 63, 66, WL_postgresql_select, READS, NO_ROW } } },
	{ "tpcb", 7, {
		{ 12, 17, WL_postgresql_begin, READS, NO_ROW },
		{ 80, 20, WL_postgresql_update, WRITES, NO_ROW },
		{ 63, 69, WL_postgresql_select_of_several, READS, NO_ROW },
		{ 75, 20, WL_postgresql_update_small, WRITES, TELLER },
		{ 76, 20, WL_postgresql_update_small, WRITES, BRANCH },
		{ 112, 22, WL_postgresql_insert, WRITES, NO_ROW },
		{ 10, 18, WL_postgresql_commit, COMMITS, NO_ROW },
	} },
};

#define TELLERS	10		/* of a branch; a branch for each unit of the scale */

struct database {
	unsigned int snapshot __attribute__((aligned(64)));
	unsigned int root __attribute__((aligned(64)));
	unsigned int insert_position __attribute__((aligned(64)));
	struct commits *commits;
	struct wl_mutex *row[BRANCH + 1];	/* held until the end of a transaction */
	int scale;
	const struct transaction *transaction;
	struct wl_pipe *ready;
	struct wl_listener *listener;
	struct loops *loops;
	struct connection *connection;
};

struct connection {
	struct database *database;
	struct wl_socket *client, *server;
	int statement;				/* the one under way */
	unsigned long long began;		/* its transaction */
	struct wl_mutex *held[BRANCH + 1];
	struct committer committer;
};

/* ------------------------------------------------------------------ a backend */

static void lock_row(struct connection *c, int row)
{
	struct database *d = c->database;
	int rows = row == TELLER ? d->scale * TELLERS : d->scale;

	c->held[row] = &d->row[row][wl_uniform(0, rows - 1)];
	wl_lock(c->held[row]);
}

static void unlock_rows(struct connection *c)
{
	for (int row = TELLER; row <= BRANCH; row++) {
		if (c->held[row])
			wl_unlock(c->held[row]);
		c->held[row] = NULL;
	}
}

static void execute(struct connection *c, const struct statement *s)
{
	struct database *d = c->database;

	for (int i = 0; i < SNAPSHOT; i++)
		wl_add(&d->snapshot, 1);
	for (int i = 0; s->kind != COMMITS && i < DESCENT; i++)
		wl_add(&d->root, 1);
	wl_work_about(s->work);
	if (s->row != NO_ROW)
		lock_row(c, s->row);
	if (s->kind == READS)
		return;
	wl_add(&d->insert_position, 1);
	commits_log(d->commits, &c->committer);
	if (s->kind != COMMITS)
		return;
	commits_wait(d->commits, &c->committer);
	wl_add(&d->snapshot, 1);
	unlock_rows(c);
}

/* A receive; if that finds nothing, epoll_wait() on the connection and the latch, and another one. */
static void backend(void *arg)
{
	struct connection *c = arg;
	const struct transaction *t = c->database->transaction;
	struct wl_watch *watch = wl_watch();

	wl_footprint(wl_figure(WL_postgresql_footprint_kib) << 10);
	wl_watch_add(watch, &(struct wl_poll) { .socket = c->server }, c);
	for (;;) {
		const struct statement *s;
		int got;

		while ((got = wl_receive_now(c->server, RECEIVE_BUFFER)) < 0)
			wl_watch_wait(watch, WL_NEVER);
		if (!got)
			break;
		s = &t->statement[c->statement];
		execute(c, s);
		wl_send(c->server, s->answer);
	}
}

static void postmaster(void *arg)
{
	struct database *d = arg;

	d->listener = wl_listen(WL_TCP);
	wl_pipe_write(d->ready, 1);
	for (;;) {
		struct wl_socket *accepted;
		struct connection *c = wl_accept(d->listener, &accepted);

		c->server = accepted;
		wl_fork("postgres", backend, c);
		wl_drop(accepted);
	}
}

/* ------------------------------------------------------------------ pgbench */

struct thread {
	struct database *database;
	struct connection *connection;		/* so many from here on */
	int connections;
};

static void ask(struct connection *c)
{
	wl_work_about(WL_postgresql_ask);
	wl_send(c->client, c->database->transaction->statement[c->statement].query);
	wl_syscall();		/* looks whether the answer is there */
}

/* 0: it was the client's last. */
static int next(struct connection *c)
{
	const struct transaction *t = c->database->transaction;

	wl_receive(c->client, t->statement[c->statement].answer);
	wl_work_about(WL_postgresql_read);
	if (c->statement + 1 < t->statements) {
		c->statement++;
	} else {
		if (!loops_answered(c->database->loops, c->began))
			return 0;
		c->statement = 0;
		c->began = wl_now();
	}
	ask(c);
	return 1;
}

static void pgbench(void *arg)
{
	struct thread *me = arg;
	struct wl_watch *watch = wl_watch();
	void *answered[WL_MOST_READABLE];
	int left = me->connections;

	for (int i = 0; i < me->connections; i++) {
		struct connection *c = &me->connection[i];

		c->client = wl_connect(me->database->listener, c);
		wl_watch_add(watch, &(struct wl_poll) { .socket = c->client }, c);
	}
	for (int i = 0; i < me->connections; i++) {
		me->connection[i].began = wl_now();
		ask(&me->connection[i]);
	}
	while (left) {
		int n = wl_watch_several(watch, answered, WL_MOST_READABLE, WL_NEVER);

		for (int i = 0; i < n; i++)
			left -= !next(answered[i]);
	}
}

static struct database *new_database(int clients)
{
	struct database *d = wl_new(struct database, 1);

	d->commits = commits_new(ALL, WL_postgresql_flush, WL_postgresql_flush_work);
	d->scale = wl_option("scale");
	d->row[TELLER] = wl_new(struct wl_mutex, d->scale * TELLERS);
	d->row[BRANCH] = wl_new(struct wl_mutex, d->scale);
	d->transaction = &transactions[wl_option("transactions")];
	d->ready = wl_pipe();
	d->loops = loops_new();
	d->connection = wl_new(struct connection, clients);
	for (int i = 0; i < clients; i++)
		d->connection[i].database = d;
	return d;
}

static void postgresql(void)
{
	int clients = wl_option("clients"), threads = wl_option("threads"), first = 0;
	struct database *d = new_database(clients);
	struct thread *thread;
	struct wl_task **task;

	if (threads > clients)
		threads = clients;
	thread = wl_new(struct thread, threads);
	task = wl_new(struct wl_task *, threads);
	wl_fork("postmaster", postmaster, d);
	wl_pipe_read(d->ready, 1);
	for (int i = 0; i < threads; i++) {
		int own = clients / threads + (i < clients % threads);

		thread[i] = (struct thread) { d, &d->connection[first], own };
		first += own;
		task[i] = wl_thread("pgbench", pgbench, &thread[i]);
	}
	loops_measure(d->loops, wl_option("time"));
	for (int i = 0; i < threads; i++)
		wl_join(task[i]);
	loops_results(d->loops);
}

static const struct wl_option options[] = {
	{ "transactions", 'b', WL_WORD, 0, 0, 0, "select|tpcb", "pgbench's select-only or tpcb-like" },
	{ "clients", 'c', WL_COUNT, 1, 1, 8192, NULL, "connections, each with a backend" },
	{ "threads", 'j', WL_COUNT, 1, 1, 8192, NULL, "of pgbench" },
	{ "scale", 's', WL_COUNT, 1, 1, 100000, NULL, "branches, each with ten tellers" },
	{ "time", 'T', WL_TIME, 10 * (long long)WL_SEC, WL_MSEC, 3600 * (long long)WL_SEC, NULL,
	  "how long is measured" },
	{ }
};

WORKLOAD(postgresql) = {
	.name = "postgresql",
	.summary = "a database with a process for each connection, and pgbench",
	.original = "PostgreSQL 15 and pgbench",
	.options = options,
	.main = postgresql,
};
