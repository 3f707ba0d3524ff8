// SPDX-License-Identifier: GPL-2.0-only
/* The services of the social network, what they call, and the pools of connections between them. */
#include "deathstarbench.h"

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

/* What a method takes: its caller's library, and the service around its calls. */
#define WORK(name)	WL_deathstarbench_##name
static const struct method {
	enum service_id service;
	unsigned int request, reply;		/* bytes */
	enum wl_figure client, before, after;
	void (*calls)(struct service *s);	/* more than one, or not in sequence */
	enum method_id call;			/* or this one */
} methods[] = {
	[COMPOSE] = { COMPOSE_POST, 1400, 50, WL_NOTHING, WORK(compose_before),
		WORK(compose_after), compose_post, NO_CALL },
	[READ_HOME_TIMELINE] = { HOME_TIMELINE, 200, DSB_POSTS, WL_NOTHING, WORK(home_timeline_before),
		WORK(home_timeline_after), read_home_timeline, NO_CALL },
	[READ_USER_TIMELINE] = { USER_TIMELINE, 200, DSB_POSTS, WL_NOTHING, WORK(user_timeline_before),
		WORK(user_timeline_after), read_user_timeline, NO_CALL },
	[STORE_POST] = { POST_STORAGE, 1400, 50, WORK(client_thrift), WORK(store_post_before),
		WORK(store_post_after), NULL, POST_INSERT },
	[READ_POSTS] = { POST_STORAGE, 300, DSB_POSTS, WORK(client_thrift), WORK(read_posts_before),
		WORK(read_posts_after), NULL, POSTS_MGET },
	[COMPOSE_TEXT] = { TEXT, 900, 900, WORK(client_thrift), WORK(text_before),
		WORK(text_after), compose_text, NO_CALL },
	[COMPOSE_CREATOR] = { USER, 200, 100, WORK(client_thrift), WORK(creator),
		WL_NOTHING, NULL, NO_CALL },
	[COMPOSE_MEDIA] = { MEDIA, 300, 200, WORK(client_thrift), WORK(media),
		WL_NOTHING, NULL, NO_CALL },
	[COMPOSE_UNIQUE_ID] = { UNIQUE_ID, 150, 50, WORK(client_thrift), WORK(unique_id),
		WL_NOTHING, NULL, NO_CALL },
	[COMPOSE_URLS] = { URL_SHORTEN, 600, 900, WORK(client_thrift), WORK(urls_before),
		WORK(urls_after), compose_urls, NO_CALL },
	[COMPOSE_MENTIONS] = { USER_MENTION, 200, 300, WORK(client_thrift), WORK(mentions_before),
		WORK(mentions_after), NULL, USERS_MGET },
	[WRITE_USER_TIMELINE] = { USER_TIMELINE, 200, 50, WORK(client_thrift), WORK(write_timeline_before),
		WORK(write_timeline_after), write_user_timeline, NO_CALL },
	[WRITE_HOME_TIMELINE] = { HOME_TIMELINE, 250, 50, WORK(client_thrift), WORK(write_timeline_before),
		WORK(write_timeline_after), write_home_timeline, NO_CALL },
	[GET_FOLLOWERS] = { SOCIAL_GRAPH, 150, 350, WORK(client_thrift), WORK(followers_before),
		WORK(followers_after), NULL, GRAPH_ZRANGE },
	[HOME_ZREVRANGE] = { HOME_TIMELINE_REDIS, 70, 250, WORK(client_redis), WORK(redis_range),
		WL_NOTHING, NULL, NO_CALL },
	/* computed: 962 users with 18,812 edges of socfb-Reed98, 39 followers each */
	[HOME_ZADD] = { HOME_TIMELINE_REDIS, 39 * 80, 39 * 4, WORK(client_redis_zadd), WORK(redis_zadd_followers),
		WL_NOTHING, NULL, NO_CALL },
	[USER_ZREVRANGE] = { USER_TIMELINE_REDIS, 70, 250, WORK(client_redis), WORK(redis_range),
		WL_NOTHING, NULL, NO_CALL },
	[USER_ZADD] = { USER_TIMELINE_REDIS, 80, 4, WORK(client_redis), WORK(redis_zadd),
		WL_NOTHING, NULL, NO_CALL },
	[GRAPH_ZRANGE] = { SOCIAL_GRAPH_REDIS, 50, 39 * 10, WORK(client_redis), WORK(redis_graph),
		WL_NOTHING, NULL, NO_CALL },
	[POSTS_MGET] = { POST_STORAGE_MEMCACHED, 250, DSB_POSTS, WORK(client_memcached_posts), WORK(memcached_posts),
		WL_NOTHING, NULL, NO_CALL },
	[USERS_MGET] = { USER_MEMCACHED, 80, 200, WORK(client_memcached_users), WORK(memcached_users),
		WL_NOTHING, NULL, NO_CALL },
	[POST_INSERT] = { POST_STORAGE_MONGODB, 1600, 50, WORK(client_mongodb), WORK(mongodb),
		WL_NOTHING, NULL, NO_CALL },
	[TIMELINE_UPDATE] = { USER_TIMELINE_MONGODB, 300, 50, WORK(client_mongodb), WORK(mongodb),
		WL_NOTHING, NULL, NO_CALL },
	[URLS_INSERT] = { URL_SHORTEN_MONGODB, 1000, 50, WORK(client_mongodb), WORK(mongodb),
		WL_NOTHING, NULL, NO_CALL },
};
#undef WORK

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
		link = &p->link[p->used++];		/* not yet connected */
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

int dsb_connect(struct service *s, struct link *link)
{
	if (link->client)
		return 0;
	link->client = wl_connect(s->listener, link);
	return 1;
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

	dsb_connect(&from->network->service[m->service], link);
	wl_cycles_about(wl_figure(m->client) / 2);
	dsb_send_request(link, method);
	dsb_receive_reply(link);
	wl_cycles_about(wl_figure(m->client) / 2);
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
	wl_join(a[3].task);
	wl_join(a[1].task);
	wl_join(a[2].task);
	wl_join(a[0].task);
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
	wl_work_about(m->before);
	if (m->calls)
		m->calls(s);
	else if (m->call)
		call(s, m->call);
	wl_work_about(m->after);
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

	wl_footprint(wl_figure(WL_deathstarbench_footprint_kib) << 10);
	while (serve_one(c->service, c->link))
		;
}

struct loop {
	struct service *service;
	struct wl_watch *watch;
};

static void event_loop(void *arg)
{
	struct loop *l = arg;

	wl_footprint(wl_figure(WL_deathstarbench_footprint_kib) << 10);
	for (;;)
		serve_one(l->service, wl_watch_wait(l->watch, WL_NEVER));
}

/* Accepts; each connection has a thread of its own, or is one of those its event loop has. */
static void server(void *arg)
{
	struct service *s = arg;
	unsigned int loops = services[s->id].loops;
	struct loop *loop = wl_new(struct loop, loops);

	dsb_on_the_ccds(s->network);
	for (unsigned int i = 0; i < loops; i++) {
		loop[i] = (struct loop) { s, wl_watch() };
		wl_thread(services[s->id].name, event_loop, &loop[i]);
	}
	s->listener = wl_listen(WL_TCP);
	wl_pipe_write(s->network->ready, 1);
	for (unsigned int i = 0;; i++) {
		struct wl_socket *accepted;
		struct link *link = wl_accept(s->listener, &accepted);

		link->server = accepted;
		if (loops) {
			wl_watch_add(loop[i % loops].watch, &(struct wl_poll) { .socket = accepted }, link);
		} else {
			struct served *served = wl_new(struct served, 1);

			*served = (struct served) { s, link };
			wl_thread(services[s->id].name, connection_thread, served);
		}
	}
}

/* ------------------------------------------------------------------ building them */

static void new_pool(struct network *n, enum service_id from, enum service_id to, unsigned int size)
{
	struct pool *p = &n->service[from].to[to];

	p->size = size;
	p->newest_first = services[to].newest_first;
	p->link = wl_new(struct link, size);
	p->idle = wl_new(struct link *, size);
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
	}
	for (unsigned int i = 0; i < NR_EDGES; i++)
		new_pool(n, edges[i].from, edges[i].to, size);
	return n;
}

int dsb_start_services(struct network *n)
{
	for (int s = 0; s < NR_SERVICES; s++)
		wl_fork(services[s].name, server, &n->service[s]);
	return NR_SERVICES;
}
