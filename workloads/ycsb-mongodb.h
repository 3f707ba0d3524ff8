/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of ycsb-mongodb: the database and its clients. */
#ifndef YCSB_MONGODB_H
#define YCSB_MONGODB_H

#include "workload.h"

/* computed: wire protocol and BSON, for field names and keys as YCSB makes them */
#define YCSB_HEADER	16U		/* MsgHeader, read for itself by both sides */

enum ycsb_kind { READ, WRITE };

struct mongod;

struct connection {
	struct mongod *mongod;
	struct wl_socket *client, *server;
	enum ycsb_kind kind;		/* what the request under way asks for */
	unsigned int record;
};

struct mongod *mongod_new(int connections);
void mongod_start(struct mongod *m);			/* a process; it is ready */
struct connection *mongod_connect(struct mongod *m, int number);	/* by the caller */
unsigned int mongod_request(const struct connection *c);	/* bytes after the header */
unsigned int mongod_reply(const struct connection *c);
unsigned int mongod_conflicts(const struct mongod *m);

#endif
