// SPDX-License-Identifier: GPL-2.0-only
/* A backend: selector threads take requests in, workers of three tiers do what they ask. */
#include "specjbb.h"

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
	jbb_compute(&w->java, x->work, wl_figure(WL_specjbb2015_allocated_kib));
	post(w, TIER3, wl_figure(WL_specjbb2015_receipt));
	if (!wl_uniform(0, wl_figure(WL_specjbb2015_replenished_by) - 1))
		post(w, TIER2, wl_figure(WL_specjbb2015_replenish));
	jbb_compute(&w->java, wl_figure(WL_specjbb2015_encode), 0);
	jbb_leave_java(&w->java);
	wl_send(x->backend, wl_figure(WL_specjbb2015_response_bytes));
	jbb_enter_java(&w->java);
}

static void worker(void *arg)
{
	struct worker *w = arg;

	wl_footprint(wl_figure(WL_specjbb2015_footprint_kib) << 10);
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
		wl_receive(x->backend, wl_figure(WL_specjbb2015_request_bytes));
		jbb_compute(&s->java, wl_figure(WL_specjbb2015_decode), 0);
		jbb_submit(&g->backend.tier[TIER1], (struct job) { x, 0 });
		jbb_leave_java(&s->java);
	}
}

static void accept_all(struct group *g)
{
	for (int i = 0; i < g->exchanges; i++) {
		struct wl_socket *accepted;
		struct exchange *x = wl_accept(g->listener, &accepted);

		x->backend = accepted;
	}
}

void jbb_backend(void *arg)
{
	static const char *const names[] = { "tier1", "tier2", "tier3" };
	struct group *g = arg;
	struct backend *b = &g->backend;

	g->listener = wl_listen(WL_TCP);
	wl_pipe_write(g->listens, 1);
	accept_all(g);
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
