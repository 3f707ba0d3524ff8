// SPDX-License-Identifier: GPL-2.0-only
/* The services of the social network, what they call, and the pools of connections between them. */
#include "deathstarbench.h"

#define US	WL_USEC

static const struct {
	const char *name;
	int loops;			/* threads with an event loop; 0: a thread a connection */
	int newest_first;		/* its clients' pool takes back what was used last */
} services[NR_SERVICES] = {
	[COMPOSE_POST] = { "compose-post", 0, 0 },
	[HOME_TIMELINE] = { "home-timeline", 0, 0 },
	[USER_TIMELINE] = { "user-timeline", 0, 0 },
	[POST_STORAGE] = { "post-storage", 0, 0 },
	[TEXT] = { "text", 0, 0 },
	[USER] = { "user", 0, 0 },
	[MEDIA] = { "media", 0, 0 },
	[UNIQUE_ID] = { "unique-id", 0, 0 },
	[URL_SHORTEN] = { "url-shorten", 0, 0 },
	[USER_MENTION] = { "user-mention", 0, 0 },
	[SOCIAL_GRAPH] = { "social-graph", 0, 0 },
	[HOME_TIMELINE_REDIS] = { "home-redis", 1, 0 },
	[USER_TIMELINE_REDIS] = { "user-redis", 1, 0 },
	[SOCIAL_GRAPH_REDIS] = { "graph-redis", 1, 0 },
	[POST_STORAGE_MEMCACHED] = { "post-memcached", 4, 1 },
	[USER_MEMCACHED] = { "user-memcached", 4, 1 },
	[POST_STORAGE_MONGODB] = { "post-mongod", 0, 1 },
	[USER_TIMELINE_MONGODB] = { "user-mongod", 0, 1 },
	[URL_SHORTEN_MONGODB] = { "url-mongod", 0, 1 },
};

static void compose_post(struct service *s);
static void read_home_timeline(struct service *s);
static void read_user_timeline(struct service *s);
static void compose_text(struct service *s);
static void compose_urls(struct service *s);
static void write_home_timeline(struct service *s);
static void write_user_timeline(struct service *s);

static const struct method {
	enum service_id service;
	unsigned int request, reply;		/* bytes */
	unsigned long long client, before, after;	/* work: caller's library; service, around its calls */
	void (*calls)(struct service *s);	/* more than one, or not in sequence */
	enum method_id call;			/* or this one */
} methods[] = {
	[COMPOSE] = { COMPOSE_POST, 1400, 50, 0, 75 * US, 75 * US, compose_post, NO_CALL },
	[READ_HOME_TIMELINE] = { HOME_TIMELINE, 200, DSB_POSTS, 0, 20 * US, 140 * US, read_home_timeline, NO_CALL },
	[READ_USER_TIMELINE] = { USER_TIMELINE, 200, DSB_POSTS, 0, 20 * US, 140 * US, read_user_timeline, NO_CALL },
	[STORE_POST] = { POST_STORAGE, 1400, 50, 20 * US, 50 * US, 50 * US, NULL, POST_INSERT },
	[READ_POSTS] = { POST_STORAGE, 300, DSB_POSTS, 20 * US, 30 * US, 320 * US, NULL, POSTS_MGET },
	[COMPOSE_TEXT] = { TEXT, 900, 900, 20 * US, 360 * US, 20 * US, compose_text, NO_CALL },
	[COMPOSE_CREATOR] = { USER, 200, 100, 20 * US, 50 * US, 0, NULL, NO_CALL },
	[COMPOSE_MEDIA] = { MEDIA, 300, 200, 20 * US, 10 * US, 0, NULL, NO_CALL },
	[COMPOSE_UNIQUE_ID] = { UNIQUE_ID, 150, 50, 20 * US, 58 * US, 0, NULL, NO_CALL },
	[COMPOSE_URLS] = { URL_SHORTEN, 600, 900, 20 * US, 200 * US, 17 * US, compose_urls, NO_CALL },
	[COMPOSE_MENTIONS] = { USER_MENTION, 200, 300, 20 * US, 50 * US, 18 * US, NULL, USERS_MGET },
	[WRITE_USER_TIMELINE] = { USER_TIMELINE, 200, 50, 20 * US, 20 * US, 20 * US, write_user_timeline, NO_CALL },
	[WRITE_HOME_TIMELINE] = { HOME_TIMELINE, 250, 50, 20 * US, 20 * US, 20 * US, write_home_timeline, NO_CALL },
	[GET_FOLLOWERS] = { SOCIAL_GRAPH, 150, 350, 20 * US, 20 * US, 20 * US, NULL, GRAPH_ZRANGE },
	[HOME_ZREVRANGE] = { HOME_TIMELINE_REDIS, 70, 250, 20 * US, 20 * US, 0, NULL, NO_CALL },
	/* C: 962 users with 18,812 edges of socfb-Reed98, 39 followers each */
	[HOME_ZADD] = { HOME_TIMELINE_REDIS, 39 * 80, 39 * 4, 80 * US, 120 * US, 0, NULL, NO_CALL },
	[USER_ZREVRANGE] = { USER_TIMELINE_REDIS, 70, 250, 20 * US, 20 * US, 0, NULL, NO_CALL },
	[USER_ZADD] = { USER_TIMELINE_REDIS, 80, 4, 20 * US, 15 * US, 0, NULL, NO_CALL },
	[GRAPH_ZRANGE] = { SOCIAL_GRAPH_REDIS, 50, 39 * 10, 20 * US, 30 * US, 0, NULL, NO_CALL },
	[POSTS_MGET] = { POST_STORAGE_MEMCACHED, 250, DSB_POSTS, 100 * US, 30 * US, 0, NULL, NO_CALL },
	[USERS_MGET] = { USER_MEMCACHED, 80, 200, 60 * US, 15 * US, 0, NULL, NO_CALL },
	[POST_INSERT] = { POST_STORAGE_MONGODB, 1600, 50, 40 * US, 95 * US, 0, NULL, NO_CALL },
	[TIMELINE_UPDATE] = { USER_TIMELINE_MONGODB, 300, 50, 40 * US, 95 * US, 0, NULL, NO_CALL },
	[URLS_INSERT] = { URL_SHORTEN_MONGODB, 1000, 50, 40 * US, 95 * US, 0, NULL, NO_CALL },
};

void dsb_on_the_ccds(const struct network *n)
{
	if (n->ccds)
		wl_pin_llcs(0, n->ccds);
}

/* ------------------------------------------------------------------ calls */

static struct link *pop(struct pool *p)
{
	struct link *link;

	wl_lock(&p->lock);
	while (!p->nr_idle && p->used == p->size)
		wl_condition_wait(&p->returned, &p->lock, WL_NEVER);
	if (!p->nr_idle) {
		link = &p->link[p->used++];
	} else if (p->newest_first) {
		link = p->idle[(p->first + --p->nr_idle) % p->size];
	} else {
		link = p->idle[p->first];
		p->first = (p->first + 1) % p->size;
		p->nr_idle--;
	}
	wl_unlock(&p->lock);
	return link;
}

static void push(struct pool *p, struct link *link)
{
	wl_lock(&p->lock);
	p->idle[(p->first + p->nr_idle++) % p->size] = link;
	wl_unlock(&p->lock);
	wl_signal(&p->returned);
}

enum service_id dsb_service_of(enum method_id method)
{
	return methods[method].service;
}

void dsb_send_request(struct link *link, enum method_id method)
{
	link->method = method;
	wl_send(link->client, DSB_FRAME + methods[method].request);
}

void dsb_receive_reply(struct link *link)
{
	wl_receive(link->client, DSB_FRAME);
	wl_receive(link->client, methods[link->method].reply);
}

static void call(struct service *from, enum method_id method)
{
	const struct method *m = &methods[method];
	struct pool *pool = &from->to[m->service];
	struct link *link = pop(pool);

	wl_run_about(m->client / 2);
	dsb_send_request(link, method);
	dsb_receive_reply(link);
	wl_run_about(m->client / 2);
	push(pool, link);
}

/* std::async(std::launch::async): a thread for one call */
struct async {
	struct service *from;
	enum method_id method;
	struct wl_task *task;
};

static void async_main(void *arg)
{
	struct async *a = arg;

	call(a->from, a->method);
}

static void start(struct async *a, struct service *from, enum method_id method)
{
	*a = (struct async) { from, method, NULL };
	a->task = wl_thread("async", async_main, a);
}

static void compose_post(struct service *s)
{
	struct async a[4];

	start(&a[0], s, COMPOSE_TEXT);
	start(&a[1], s, COMPOSE_CREATOR);
	start(&a[2], s, COMPOSE_MEDIA);
	start(&a[3], s, COMPOSE_UNIQUE_ID);
	for (int i = 3; i >= 0; i--)
		wl_join(a[i].task);
	start(&a[0], s, STORE_POST);
	wl_join(a[0].task);
	call(s, WRITE_USER_TIMELINE);		/* deferred */
	call(s, WRITE_HOME_TIMELINE);
}

static void compose_text(struct service *s)
{
	struct async urls, mentions;

	start(&urls, s, COMPOSE_URLS);
	start(&mentions, s, COMPOSE_MENTIONS);
	wl_join(urls.task);
	wl_join(mentions.task);
}

static void compose_urls(struct service *s)
{
	struct async insert;

	start(&insert, s, URLS_INSERT);
	wl_join(insert.task);
}

static void read_home_timeline(struct service *s)
{
	call(s, HOME_ZREVRANGE);
	call(s, READ_POSTS);
}

static void read_user_timeline(struct service *s)
{
	struct async posts;

	call(s, USER_ZREVRANGE);
	start(&posts, s, READ_POSTS);
	wl_join(posts.task);
}

static void write_user_timeline(struct service *s)
{
	call(s, TIMELINE_UPDATE);
	call(s, USER_ZADD);
}

static void write_home_timeline(struct service *s)
{
	call(s, GET_FOLLOWERS);
	call(s, HOME_ZADD);
}

/* ------------------------------------------------------------------ servers */

static int serve_one(struct service *s, struct link *link)
{
	const struct method *m;

	if (!wl_receive(link->server, DSB_FRAME))
		return 0;
	m = &methods[link->method];
	wl_receive(link->server, m->request);
	wl_run_about(m->before);
	if (m->calls)
		m->calls(s);
	else if (m->call)
		call(s, m->call);
	wl_run_about(m->after);
	wl_send(link->server, DSB_FRAME + m->reply);
	return 1;
}

struct served {
	struct service *service;
	struct link *link;
};

static void connection_thread(void *arg)
{
	struct served *c = arg;

	wl_footprint(DSB_FOOTPRINT);
	while (serve_one(c->service, c->link))
		;
}

struct loop {
	struct service *service;
	int number, loops;
};

static void event_loop(void *arg)
{
	struct loop *l = arg;
	struct service *s = l->service;
	struct wl_watch *watch = wl_watch();

	wl_footprint(DSB_FOOTPRINT);
	for (unsigned int i = l->number; i < s->nr_served; i += l->loops)
		wl_watch_add(watch, &(struct wl_poll) { .socket = s->served[i]->server }, s->served[i]);
	wl_pipe_write(s->network->ready, 1);
	for (;;)
		serve_one(s, wl_watch_wait(watch, WL_NEVER));
}

static void server(void *arg)
{
	struct service *s = arg;
	int loops = services[s->id].loops;
	struct loop *loop = wl_new(struct loop, loops);
	struct served *served = wl_new(struct served, s->nr_served);
	struct wl_task *last = NULL;

	dsb_on_the_ccds(s->network);
	for (int i = 0; i < loops; i++) {
		loop[i] = (struct loop) { s, i, loops };
		last = wl_thread(services[s->id].name, event_loop, &loop[i]);
	}
	for (unsigned int i = 0; !loops && i < s->nr_served; i++) {
		served[i] = (struct served) { s, s->served[i] };
		last = wl_thread(services[s->id].name, connection_thread, &served[i]);
	}
	if (!loops)
		wl_pipe_write(s->network->ready, 1);
	wl_join(last);
}

/* ------------------------------------------------------------------ building them */

void dsb_connect(struct link *link)
{
	struct wl_socket *end[2];

	wl_connect(WL_TCP, end);
	*link = (struct link) { end[0], end[1], NO_CALL, NULL };
}

void dsb_serves(struct service *s, struct link *link)
{
	s->served[s->nr_served++] = link;
}

static void new_pool(struct network *n, enum service_id from, enum service_id to, unsigned int size)
{
	struct pool *p = &n->service[from].to[to];

	p->size = size;
	p->newest_first = services[to].newest_first;
	p->link = wl_new(struct link, size);
	p->idle = wl_new(struct link *, size);
	for (unsigned int i = 0; i < size; i++) {
		dsb_connect(&p->link[i]);
		dsb_serves(&n->service[to], &p->link[i]);
	}
}

static const struct {
	enum service_id from, to;
} edges[] = {
	{ COMPOSE_POST, TEXT }, { COMPOSE_POST, USER }, { COMPOSE_POST, MEDIA }, { COMPOSE_POST, UNIQUE_ID },
	{ COMPOSE_POST, POST_STORAGE }, { COMPOSE_POST, USER_TIMELINE }, { COMPOSE_POST, HOME_TIMELINE },
	{ TEXT, URL_SHORTEN }, { TEXT, USER_MENTION },
	{ HOME_TIMELINE, HOME_TIMELINE_REDIS }, { HOME_TIMELINE, POST_STORAGE }, { HOME_TIMELINE, SOCIAL_GRAPH },
	{ USER_TIMELINE, USER_TIMELINE_REDIS }, { USER_TIMELINE, USER_TIMELINE_MONGODB },
	{ USER_TIMELINE, POST_STORAGE }, { SOCIAL_GRAPH, SOCIAL_GRAPH_REDIS },
	{ POST_STORAGE, POST_STORAGE_MEMCACHED }, { POST_STORAGE, POST_STORAGE_MONGODB },
	{ USER_MENTION, USER_MEMCACHED }, { URL_SHORTEN, URL_SHORTEN_MONGODB },
};
#define NR_EDGES	(sizeof(edges) / sizeof(edges[0]))

struct network *dsb_new_network(unsigned int connections)
{
	unsigned int size = wl_option("service-connections");
	struct network *n = wl_new(struct network, 1);

	if (size > connections)
		size = connections;		/* there are never more calls at a time */
	n->ccds = wl_option("ccds");
	n->ready = wl_pipe();
	for (int s = 0; s < NR_SERVICES; s++) {
		n->service[s].network = n;
		n->service[s].id = s;
		n->service[s].served = wl_new(struct link *, connections + NR_EDGES * size);
	}
	for (unsigned int i = 0; i < NR_EDGES; i++)
		new_pool(n, edges[i].from, edges[i].to, size);
	return n;
}

int dsb_start_services(struct network *n)
{
	int ready = 0;

	for (int s = 0; s < NR_SERVICES; s++) {
		wl_fork(services[s].name, server, &n->service[s]);
		ready += services[s].loops ? services[s].loops : 1;
	}
	return ready;
}
