// SPDX-License-Identifier: GPL-2.0-only
/*
 * tbench of dbench 4.0: clients that send a file server's requests over TCP, each to a
 * server process of its own, which sends back as many bytes as the request says.  Clients
 * connect each for itself; tbench_srv accepts and forks a server for each.
 */
#include "workload.h"

/* The exchanges of the load file client.txt: how often in its 458,342 lines, and sizes. */
static const struct exchange {
	unsigned int times, send, receive, data;	/* bytes; data: those tbench counts */
} exchanges[] = {
	{ 79231, 153, 87, 0 },				/* NTCreateX, Mkdir */
	{ 71814, 135, 71, 0 },				/* QUERY_PATH_INFORMATION */
	{ 58200, 47, 39, 0 },				/* Close */
	{ 16000, 123, 39, 0 },				/* Unlink */
	{ 14327, 117, 39, 0 },				/* FIND_FIRST: nothing found */
	{ 13438, 110, 1027, 0 },			/* FIND_FIRST: mostly eleven names */
	{ 13168, 59, 71, 0 },				/* QUERY_FS_INFORMATION */
	{ 12585, 59, 71, 0 },				/* QUERY_FILE_INFORMATION */
	{ 6454, 71, 47, 0 },				/* SET_FILE_INFORMATION */
	{ 5553, 41, 39, 0 },				/* Flush */
	{ 3355, 210, 39, 0 },				/* Rename */
	{ 516, 51, 39, 0 },				/* LockX, UnlockX */
	{ 12658, 65595, 55, 65536 },			/* WriteX */
	{ 9942, 4155, 55, 4096 },
	{ 7424, 60, 55, 1 },
	{ 1677, 2107, 55, 2048 },
	{ 1164, 8251, 55, 8192 },
	{ 6637, 20056, 55, 19997 },			/* ... of 54 more sizes */
	{ 83172, 59, 4155, 4096 },			/* ReadX */
	{ 16641, 59, 61499, 61440 },
	{ 4644, 59, 2107, 2048 },
	{ 4644, 59, 8251, 8192 },
	{ 1937, 59, 16443, 16384 },
	{ 1161, 59, 571, 512 },
	{ 12000, 59, 2485, 2426 },			/* ... of 61 more sizes */
};

#define NR_EXCHANGES	(sizeof(exchanges) / sizeof(exchanges[0]))

struct totals {
	unsigned long data, operations;
};

struct bench {
	unsigned int ready, go, stop;
	int clients;
	unsigned long lines;			/* sum of `times` */
	struct wl_pipe *listens;
	struct wl_listener *listener;
	struct pair *pair;
};

struct pair {
	struct bench *bench;
	struct wl_socket *client, *server;
	const struct exchange *now;		/* what the request's header says */
	struct totals done;
};

static const struct exchange *next_exchange(const struct bench *b)
{
	unsigned long line = wl_uniform(0, b->lines - 1), i;

	for (i = 0; line >= exchanges[i].times; i++)
		line -= exchanges[i].times;
	return &exchanges[i];
}

static void exchange(struct pair *p, const struct exchange *x)
{
	p->now = x;
	wl_send(p->client, x->send);
	wl_receive(p->client, 4);
	wl_receive(p->client, x->receive - 4);
	p->done.data += x->data;
	p->done.operations++;
}

static void client(void *arg)
{
	static const struct exchange hello = { 0, 8, 8, 0 };
	struct pair *p = arg;
	struct bench *b = p->bench;

	p->client = wl_connect(b->listener, p);
	exchange(p, &hello);
	wl_add(&b->ready, 1);
	while (!wl_load(&b->go))
		wl_futex_wait(&b->go, 0, WL_NEVER);
	while (!wl_load(&b->stop)) {
		/* a line of the load file, read and taken apart; whether the parent lives */
		wl_work(WL_tbench_line);
		wl_syscall();
		exchange(p, next_exchange(b));
	}
	wl_close(p->client);
}

static void server(void *arg)
{
	struct pair *p = arg;

	while (wl_receive(p->server, 4)) {
		const struct exchange *x = p->now;

		wl_receive(p->server, x->send - 4);
		wl_send(p->server, x->receive);
	}
}

static void tbench_srv(void *arg)
{
	struct bench *b = arg;

	b->listener = wl_listen(WL_TCP);
	wl_pipe_write(b->listens, 1);
	for (int i = 0; i < b->clients; i++) {
		struct wl_socket *accepted;
		struct pair *p = wl_accept(b->listener, &accepted);

		p->server = accepted;
		wl_fork("tbench_srv", server, p);
		wl_drop(accepted);
	}
	while (wl_wait())
		;
}

static struct totals totals(const struct bench *b)
{
	struct totals sum = { };

	for (int i = 0; i < b->clients; i++) {
		sum.data += b->pair[i].done.data;
		sum.operations += b->pair[i].done.operations;
	}
	return sum;
}

static void start(struct bench *b)
{
	for (int i = 0; i < b->clients; i++)
		wl_fork("tbench", client, &b->pair[i]);
	while (wl_load(&b->ready) < (unsigned int)b->clients)
		wl_sleep(100 * WL_MSEC);
	wl_store(&b->go, 1);
	wl_futex_wake(&b->go, b->clients);
}

static void tbench(void)
{
	struct bench *b = wl_new(struct bench, 1);
	unsigned long long limit = wl_option("timelimit"), warmup = wl_option("warmup");
	struct totals before, after;

	b->clients = wl_option("nprocs");
	b->pair = wl_new(struct pair, b->clients);
	for (unsigned long i = 0; i < NR_EXCHANGES; i++)
		b->lines += exchanges[i].times;
	for (int i = 0; i < b->clients; i++)
		b->pair[i].bench = b;
	b->listens = wl_pipe();
	wl_fork("tbench_srv", tbench_srv, b);
	wl_pipe_read(b->listens, 1);
	start(b);
	wl_warm_up();
	wl_sleep(warmup ? warmup : limit / 5);
	wl_begin();
	before = totals(b);
	wl_sleep(limit);
	after = totals(b);
	wl_end();
	wl_store(&b->stop, 1);
	while (wl_wait())
		;
	wl_result("Throughput", (after.data - before.data) / wl_elapsed() / 1e6, "MB/s");
	wl_result("operations", (after.operations - before.operations) / wl_elapsed(), "1/s");
}

static const struct wl_option options[] = {
	{ "nprocs", 'n', WL_COUNT, 1, 1, 8192, NULL, "clients, and servers" },
	{ "timelimit", 't', WL_TIME, 600 * (long long)WL_SEC, WL_MSEC, 36000 * (long long)WL_SEC, NULL,
	  "how long is measured" },
	{ "warmup", 0, WL_TIME, 0, 0, 36000 * (long long)WL_SEC, NULL, "before that; 0: a fifth of the time limit" },
	{ }
};

WORKLOAD(tbench) = {
	.name = "tbench",
	.summary = "a file server's network traffic over loopback TCP",
	.original = "tbench, dbench 4.0",
	.options = options,
	.main = tbench,
};
