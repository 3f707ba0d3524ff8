/* SPDX-License-Identifier: GPL-2.0-only */
/* MariaDB's pool of threads, which serves connections of which it knows nothing else. */
#ifndef MARIADB_POOL_H
#define MARIADB_POOL_H

#include "applications.h"

struct pool;
struct pooled;				/* a connection that the pool serves */

/* answer: serves the request that has come; 0: the client is gone. */
struct pool *pool_new(int groups, int (*answer)(void *connection));
void pool_start(struct pool *pool);
/* From then on its requests are served; *pooled is set before. */
void pool_add(struct pool *pool, const struct wl_poll *what, void *connection, struct pooled **pooled);
/* Around a wait of who serves; without a pool, NULL, it is only a wait. */
void pool_wait_begin(struct pooled *pooled);
void pool_wait_end(struct pooled *pooled);

#endif
