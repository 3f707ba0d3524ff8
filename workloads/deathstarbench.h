/* SPDX-License-Identifier: GPL-2.0-only */
/* The parts of deathstarbench: services that call each other, nginx before them, wrk2. */
#ifndef DEATHSTARBENCH_H
#define DEATHSTARBENCH_H

#include "workload.h"

#define DSB_FRAME	4U		/* length before a message, read for itself */
#define DSB_POSTS	10240U		/* a page of the timeline: ten posts of a kilobyte */
#define DSB_HTTP_GET	200U
#define DSB_HTTP_POST	1000U		/* 256 characters of text, mentions, URLs, media */
#define DSB_HTTP_OK	200U

/* ------------------------------------------------------------------ dsb-services.c */

enum service_id {
	COMPOSE_POST, HOME_TIMELINE, USER_TIMELINE, POST_STORAGE, TEXT, USER, MEDIA, UNIQUE_ID,
	URL_SHORTEN, USER_MENTION, SOCIAL_GRAPH,
	HOME_TIMELINE_REDIS, USER_TIMELINE_REDIS, SOCIAL_GRAPH_REDIS,
	POST_STORAGE_MEMCACHED, USER_MEMCACHED,
	POST_STORAGE_MONGODB, USER_TIMELINE_MONGODB, URL_SHORTEN_MONGODB,
	NR_SERVICES
};

enum method_id {
	NO_CALL,
	COMPOSE, READ_HOME_TIMELINE, READ_USER_TIMELINE,		/* from nginx */
	STORE_POST, READ_POSTS, COMPOSE_TEXT, COMPOSE_CREATOR, COMPOSE_MEDIA, COMPOSE_UNIQUE_ID,
	COMPOSE_URLS, COMPOSE_MENTIONS, WRITE_USER_TIMELINE, WRITE_HOME_TIMELINE, GET_FOLLOWERS,
	HOME_ZREVRANGE, HOME_ZADD, USER_ZREVRANGE, USER_ZADD, GRAPH_ZRANGE,
	POSTS_MGET, USERS_MGET,
	POST_INSERT, TIMELINE_UPDATE, URLS_INSERT,
};

/* A connection, and what the message under way on it asks for. */
struct link {
	struct wl_socket *client, *server;
	enum method_id method;
	struct link *front;			/* nginx: the client's, whom the reply is for */
};

/*
 * Connections of one service to another: as many as were wanted at once, made by who wanted them.
 */
struct pool {
	struct wl_mutex lock;
	struct wl_condition returned;
	struct link *link, **idle;
	unsigned int size, used, first, nr_idle;
	int newest_first;
};

struct service {
	struct network *network;
	enum service_id id;
	struct pool to[NR_SERVICES];
	struct wl_listener *listener;
};

struct network {
	struct service service[NR_SERVICES];
	int ccds;
	struct wl_pipe *ready;
};

struct network *dsb_new_network(unsigned int connections);
int dsb_start_services(struct network *n);		/* how many will report ready */
enum service_id dsb_service_of(enum method_id method);
int dsb_connect(struct service *s, struct link *link);	/* 1: it was not yet connected */
void dsb_send_request(struct link *link, enum method_id method);
void dsb_receive_reply(struct link *link);
void dsb_on_the_ccds(const struct network *n);		/* pins the caller to the services' part */

/* ------------------------------------------------------------------ dsb-nginx.c */

struct upstream {
	struct link *link, **idle;
	unsigned int nr_idle, size;
};

struct nginx {
	struct network *network;
	struct wl_listener *listener;
	struct link *front; /* its clients' connections, a request at a time each */
	unsigned int fronts;
	struct upstream to[USER_TIMELINE + 1];
};

struct nginx *dsb_new_nginx(struct network *n, int workers, int connections);
void dsb_nginx(void *worker);			/* the process */

#endif
