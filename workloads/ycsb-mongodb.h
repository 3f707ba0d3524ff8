/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of ycsb-mongodb: the database and its clients. */
#ifndef YCSB_MONGODB_H
#define YCSB_MONGODB_H

#include "workload.h"

/*
 * Work of an operation.  C: 298,681 of them a second (LKML, K Prateek Nayak, July 2023) at
 * some 20 % of 256 CPUs (LKML, Chen Yu, on the same benchmark) are 171 us of CPU time each,
 * on both sides and with the kernel's part.  E: how that divides.
 */
#define YCSB_FOOTPRINT	(128UL << 10)	/* E: session, cursor and upper pages of the B-tree; driver */

/* C: wire protocol and BSON, for field names and keys as YCSB makes them */
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
struct connection *mongod_connection(struct mongod *m, int number);
unsigned int mongod_request(const struct connection *c);	/* bytes after the header */
unsigned int mongod_reply(const struct connection *c);
unsigned int mongod_conflicts(const struct mongod *m);

#endif
