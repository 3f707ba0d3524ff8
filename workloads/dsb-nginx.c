// SPDX-License-Identifier: GPL-2.0-only
/* nginx: workers with an event loop each, who pass requests on to three services. */
#include "deathstarbench.h"

static void forward(struct nginx *n, struct wl_watch *watch, struct link *front)
{
	enum method_id method = front->method;
	struct upstream *up = &n->to[dsb_service_of(method)];
	struct link *link = up->idle[--up->nr_idle];

	wl_receive(front->server, method == COMPOSE ? DSB_HTTP_POST : DSB_HTTP_GET);
	wl_cycles_about(wl_figure(WL_deathstarbench_nginx_request) + wl_figure(WL_deathstarbench_nginx_lua) / 2);
	link->front = front;
	if (dsb_connect(&n->network->service[dsb_service_of(method)], link))
		wl_watch_add(watch, &(struct wl_poll) { .socket = link->client }, link);
	dsb_send_request(link, method);
}

static void answer(struct nginx *n, struct link *link)
{
	enum method_id method = link->method;
	struct upstream *up = &n->to[dsb_service_of(method)];

	dsb_receive_reply(link);
	up->idle[up->nr_idle++] = link;
	wl_cycles_about(wl_figure(WL_deathstarbench_nginx_lua) / 2 +
			(method == COMPOSE ? 0 : wl_figure(WL_deathstarbench_nginx_lua_posts)));
	wl_send(link->front->server, method == COMPOSE ? DSB_HTTP_OK : DSB_HTTP_OK + DSB_POSTS);
}

void dsb_nginx(void *arg)
{
	struct nginx *n = arg;
	struct wl_watch *watch = wl_watch();

	dsb_on_the_ccds(n->network);
	wl_footprint(wl_figure(WL_deathstarbench_footprint_kib) << 10);
	n->listener = wl_listen(WL_TCP);
	wl_pipe_write(n->network->ready, 1);
	for (unsigned int i = 0; i < n->fronts; i++) {
		struct wl_socket *accepted;
		struct link *front = wl_accept(n->listener, &accepted);

		front->server = accepted;
		wl_watch_add(watch, &(struct wl_poll) { .socket = accepted }, front);
	}
	for (;;) {
		struct link *link = wl_watch_wait(watch, WL_NEVER);

		if (link->front)
			answer(n, link);
		else
			forward(n, watch, link);
	}
}

struct nginx *dsb_new_nginx(struct network *n, int workers, int connections)
{
	struct nginx *nginx = wl_new(struct nginx, workers);

	for (int w = 0; w < workers; w++) {
		struct nginx *me = &nginx[w];

		me->network = n;
		me->fronts = connections / workers + (w < connections % workers);
		me->front = wl_new(struct link, me->fronts);
		for (int s = COMPOSE_POST; s <= USER_TIMELINE; s++) {
			struct upstream *up = &me->to[s];

			up->size = up->nr_idle = me->fronts;
			up->link = wl_new(struct link, up->size);
			up->idle = wl_new(struct link *, up->size);
			for (unsigned int i = 0; i < up->size; i++)
				up->idle[i] = &up->link[i];
		}
	}
	return nginx;
}
