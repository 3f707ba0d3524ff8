// SPDX-License-Identifier: GPL-2.0-only
/*
 * The social network of DeathStarBench under wrk2: nginx workers, Thrift services with a
 * thread a connection, and redis, memcached and MongoDB behind them, all over TCP.  Here:
 * wrk2, and the putting together.
 */
#include "deathstarbench.h"

struct requester {
	struct nginx *server;
	struct link *link;
	unsigned long long next;		/* when the next request is due, or was */
	int waiting;
};

struct wrk {
	struct network *network;
	struct requester *requester;
	int requesters;
	int script;
	unsigned long long interval; /* mean, of one connection; 0: at once after the answer */
	unsigned long long stop;
	struct wl_histogram *latency;
};

enum { MIXED, COMPOSE_ONLY, HOME_ONLY, USER_ONLY };

/* mixed-workload.lua */
static enum method_id pick(int script)
{
	unsigned int coin = wl_uniform(0, 99);

	if (script == COMPOSE_ONLY || (script == MIXED && coin >= 90))
		return COMPOSE;
	return script == HOME_ONLY || (script == MIXED && coin < 60) ? READ_HOME_TIMELINE : READ_USER_TIMELINE;
}

static void request(struct wrk *w, struct requester *r)
{
	wl_work_about(WL_deathstarbench_wrk);
	r->link->method = pick(w->script);
	r->waiting = 1;
	wl_send(r->link->client, r->link->method == COMPOSE ? DSB_HTTP_POST : DSB_HTTP_GET);
}

static void response(struct wrk *w, struct requester *r)
{
	wl_receive(r->link->client, r->link->method == COMPOSE ? DSB_HTTP_OK : DSB_HTTP_OK + DSB_POSTS);
	wl_work_about(WL_deathstarbench_wrk);
	wl_record(w->latency, wl_now() - r->next);
	r->next = w->interval ? r->next + wl_exponential(w->interval) : wl_now();
	r->waiting = 0;
}

/* Sends what is due and returns when the next is due. */
static unsigned long long send_due(struct wrk *w)
{
	unsigned long long soonest = w->stop;

	for (int i = 0; i < w->requesters; i++) {
		struct requester *r = &w->requester[i];

		if (r->waiting)
			continue;
		if (r->next <= wl_now())
			request(w, r);
		else if (r->next < soonest)
			soonest = r->next;
	}
	return soonest;
}

static void wrk_thread(void *arg)
{
	struct wrk *w = arg;
	struct wl_watch *watch = wl_watch();
	int others = wl_llcs() - w->network->ccds;

	if (w->network->ccds && others > 0)
		wl_pin_llcs(w->network->ccds, others);
	for (int i = 0; i < w->requesters; i++) {
		struct requester *r = &w->requester[i];

		r->link->client = wl_connect(r->server->listener, r->link);
		wl_watch_add(watch, &(struct wl_poll) { .socket = r->link->client }, r);
		r->next = wl_now() + (w->interval ? wl_exponential(w->interval) : 0);
	}
	while (wl_now() < w->stop) {
		unsigned long long soonest = send_due(w), now = wl_now();
		struct requester *r = wl_watch_wait(watch, soonest > now ? soonest - now : 0);

		if (r)
			response(w, r);
	}
}

static void run_wrk(struct network *n, struct nginx *nginx, int workers, int connections)
{
	int threads = wl_option("threads"), given = 0;
	unsigned long long rate = wl_option("rate");
	struct wrk *wrk = wl_new(struct wrk, threads);
	struct wl_task **task = wl_new(struct wl_task *, threads);
	struct wl_histogram *latency = wl_histogram();
	unsigned long long stop;

	wl_begin();
	stop = wl_now() + wl_option("duration");
	for (int t = 0; t < threads; t++) {
		struct wrk *w = &wrk[t];

		*w = (struct wrk) {
			.network = n, .requesters = connections / threads + (t < connections % threads),
			.script = wl_option("script"), .stop = stop, .latency = latency,
			.interval = rate ? WL_SEC * connections / rate : 0,
		};
		w->requester = wl_new(struct requester, w->requesters);
		for (int i = 0; i < w->requesters; i++, given++) {
			w->requester[i].server = &nginx[given % workers];
			w->requester[i].link = &nginx[given % workers].front[given / workers];
		}
		task[t] = wl_thread("wrk", wrk_thread, w);
	}
	for (int t = 0; t < threads; t++)
		wl_join(task[t]);
	wl_end();
	wl_result("requests", wl_count(latency), "");
	wl_result("Requests/sec", wl_count(latency) / wl_elapsed(), "1/s");
	wl_result_latency("Latency", latency);
}

static void deathstarbench(void)
{
	int ccds = wl_option("ccds"), connections = wl_option("connections");
	int workers = wl_option("worker-processes"), ready;
	struct network *n;
	struct nginx *nginx;

	if (ccds > wl_llcs())
		wl_refuse("ccds %d: this machine has %d last-level caches", ccds, wl_llcs());
	if (connections < wl_option("threads"))
		wl_refuse("connections %d: not one for each of %lld threads", connections, wl_option("threads"));
	if (!workers)
		workers = ccds ? wl_cpus() * ccds / wl_llcs() : wl_cpus();
	if (workers > connections)
		workers = connections;
	n = dsb_new_network(connections);
	nginx = dsb_new_nginx(n, workers, connections);
	ready = workers + dsb_start_services(n);
	for (int w = 0; w < workers; w++)
		wl_fork("nginx", dsb_nginx, &nginx[w]);
	wl_pipe_read(n->ready, ready);
	run_wrk(n, nginx, workers, connections);
}

static const struct wl_option options[] = {
	{ "threads", 't', WL_COUNT, 2, 1, 1024, NULL, "threads of wrk2" },
	{ "connections", 'c', WL_COUNT, 10, 1, 10000, NULL, "of all threads of wrk2, a request at a time each" },
	{ "duration", 'd', WL_TIME, 10 * WL_SEC, WL_MSEC, 86400LL * WL_SEC, NULL, "of the load" },
	{ "rate", 'R', WL_COUNT, 0, 0, 1 << 30, NULL,
	  "requests a second, at exponential intervals; 0: each as soon as the one before is answered" },
	{ "script", 's', WL_WORD, 0, 0, 3, "mixed-workload|compose-post|read-home-timeline|read-user-timeline",
	  "of wrk2" },
	{ "ccds", 0, WL_COUNT, 0, 0, 1024, NULL,
	  "last-level caches the services are kept on, the load on the others; 0: no pinning" },
	{ "worker-processes", 0, WL_COUNT, 0, 0, 1024, NULL, "of nginx; 0: as many as the services' CPUs" },
	{ "service-connections", 0, WL_COUNT, 512, 1, 10000, NULL, "most of one service to another" },
	{ }
};

WORKLOAD(deathstarbench) = {
	.name = "deathstarbench",
	.summary = "a social network of small services that call each other",
	.original = "DeathStarBench socialNetwork with wrk2, of June 2024",
	.options = options,
	.main = deathstarbench,
};
