// SPDX-License-Identifier: GPL-2.0-only
/* A backend: selector threads take requests in, workers of three tiers do what they ask. */
#include "specjbb.h"

#define ENCODE		(15 * WL_USEC)	/* E: worker: the answer */
#define RECEIPT		(60 * WL_USEC)	/* E: headquarters' part of a purchase: nobody waits for it */
#define REPLENISH	(200 * WL_USEC)	/* E: a supplier's delivery, */
#define REPLENISHED_BY	20		/* E: after so many purchases */
#define ALLOCATED_KB	200U		/* E: of a request; 1 GB/s at 5,000 jOPS */
#define FOOTPRINT	(256UL << 10)	/* E: of a worker */

struct selector {
	struct java java;
	struct group *group;
	int first;			/* its exchanges */
};

static void post(struct worker *w, int tier, unsigned long long work)
{
	if (!jbb_submit(&w->backend->tier[tier], (struct job) { NULL, work }))
		jbb_compute(&w->java, work, 0);
}

static void transaction(struct worker *w, struct exchange *x)
{
	jbb_compute(&w->java, x->work, ALLOCATED_KB);
	post(w, TIER3, RECEIPT);
	if (!wl_uniform(0, REPLENISHED_BY - 1))
		post(w, TIER2, REPLENISH);
	jbb_compute(&w->java, ENCODE, 0);
	jbb_leave_java(&w->java);
	wl_send(x->backend, JBB_RESPONSE);
	jbb_enter_java(&w->java);
}

static void worker(void *arg)
{
	struct worker *w = arg;

	wl_footprint(FOOTPRINT);
	jbb_enter_java(&w->java);
	for (;;) {
		struct job job = jbb_next_job(w);

		if (job.exchange)
			transaction(w, job.exchange);
		else
			jbb_compute(&w->java, job.work, 0);
	}
}

static void selector(void *arg)
{
	struct selector *s = arg;
	struct group *g = s->group;
	struct wl_watch *watch = wl_watch();

	for (int i = s->first; i < g->exchanges; i += g->backend.selectors)
		wl_watch_add(watch, &(struct wl_poll) { .socket = g->exchange[i].backend }, &g->exchange[i]);
	for (;;) {
		struct exchange *x = wl_watch_wait(watch, WL_NEVER);

		jbb_enter_java(&s->java);
		wl_receive(x->backend, JBB_REQUEST);
		jbb_compute(&s->java, JBB_DECODE, 0);
		jbb_submit(&g->backend.tier[TIER1], (struct job) { x, 0 });
		jbb_leave_java(&s->java);
	}
}

void jbb_backend(void *arg)
{
	static const char *const names[] = { "tier1", "tier2", "tier3" };
	struct group *g = arg;
	struct backend *b = &g->backend;

	for (unsigned int i = 0; i < b->jvm.collectors; i++)
		wl_thread("gc", jbb_collector, &b->jvm);
	for (int t = 0; t < TIERS; t++)
		for (int i = 0; i < b->tier[t].workers; i++)
			wl_thread(names[t], worker, &b->tier[t].worker[i]);
	for (int i = 0; i < b->selectors; i++)
		wl_thread("selector", selector, &b->selector[i]);
	wl_pipe_write(g->controller->ready, 1);
	jbb_vm_thread(&b->jvm);
}

static void add_java(struct jvm *jvm, struct java *java)
{
	java->jvm = jvm;
	jvm->java[jvm->nr_java++] = java;
}

/* ParallelGCThreads as HotSpot chooses it */
static unsigned int gc_threads(void)
{
	unsigned int given = wl_option("ParallelGCThreads"), cpus = wl_cpus();

	return given ? given : cpus <= 8 ? cpus : 8 + (cpus - 8) * 5 / 8;
}

static void new_tier(struct backend *b, int tier, int workers)
{
	struct pool *p = &b->tier[tier];

	jbb_new_pool(p, workers);
	for (int i = 0; i < workers; i++) {
		p->worker[i].backend = b;
		p->worker[i].pool = p;
		add_java(&b->jvm, &p->worker[i].java);
	}
}

void jbb_new_backend(struct backend *b)
{
	static const char *const names[] = {
		"forkjoin.workers.Tier1", "forkjoin.workers.Tier2", "forkjoin.workers.Tier3",
	};
	int workers[TIERS], threads = 0;

	for (int t = 0; t < TIERS; t++) {
		workers[t] = wl_option(names[t]) ? wl_option(names[t]) : 2 * wl_cpus();
		threads += workers[t];
	}
	b->selectors = wl_option("comm.connect.selector.runner.count");
	b->selector = wl_new(struct selector, b->selectors);
	b->jvm.xmn_kb = wl_option("Xmn") / 1024;
	b->jvm.collectors = gc_threads();
	b->jvm.java = wl_new(struct java *, threads + b->selectors);
	for (int t = 0; t < TIERS; t++)
		new_tier(b, t, workers[t]);
	for (int i = 0; i < b->selectors; i++) {
		b->selector[i].group = b->group;
		b->selector[i].first = i;
		add_java(&b->jvm, &b->selector[i].java);
	}
}
