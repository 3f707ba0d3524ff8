/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of mariadb: the server, its pool of threads, and sysbench. */
#ifndef MARIADB_H
#define MARIADB_H

#include "applications.h"

#define HEADER	4U			/* of a packet */

struct statement {
	unsigned int query, answer;	/* bytes, headers included */
	enum wl_figure work;
	enum { READS, WRITES, COMMITS } kind;
};

struct pool;

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
	int number;
	struct wl_socket *client, *server;
	const struct statement *const *statement;	/* the one under way */
	int wrote;
	struct committer committer;
	/* of the pool's */
	struct group *group;
	struct wl_watched *watched;
	struct connection *next;
};

int mariadb_answer(struct connection *c);	/* 0: the client is gone */

/* mariadb-pool.c; without a pool a wait is only a wait */
struct pool *pool_new(int groups);
void pool_start(struct pool *pool);
void pool_add(struct pool *pool, struct connection *c);
void pool_wait_begin(struct connection *c);
void pool_wait_end(struct connection *c);

#endif
