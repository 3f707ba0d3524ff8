// SPDX-License-Identifier: GPL-2.0-only
/* nginx: workers with an event loop each, who pass requests on to three services. */
#include "deathstarbench.h"

#define ON_REQUEST	(120 * WL_USEC)		/* C: HTTP and the request's phases */
#define LUA		(250 * WL_USEC)		/* C: script, tracer, Thrift without payload */
#define LUA_POSTS	(3760 * WL_USEC)	/* C: ten posts from Thrift to tables to JSON */

static void forward(struct nginx *n, struct link *front)
{
	enum method_id method = front->method;
	struct upstream *up = &n->to[dsb_service_of(method)];
	struct link *link = up->idle[--up->nr_idle];

	wl_receive(front->server, method == COMPOSE ? DSB_HTTP_POST : DSB_HTTP_GET);
	wl_run_about(ON_REQUEST + LUA / 2);
	link->front = front;
	dsb_send_request(link, method);
}

static void answer(struct nginx *n, struct link *link)
{
	enum method_id method = link->method;
	struct upstream *up = &n->to[dsb_service_of(method)];

	dsb_receive_reply(link);
	up->idle[up->nr_idle++] = link;
	wl_run_about(LUA / 2 + (method == COMPOSE ? 0 : LUA_POSTS));
	wl_send(link->front->server, method == COMPOSE ? DSB_HTTP_OK : DSB_HTTP_OK + DSB_POSTS);
}

void dsb_nginx(void *arg)
{
	struct nginx *n = arg;
	struct wl_watch *watch = wl_watch();

	dsb_on_the_ccds(n->network);
	wl_footprint(DSB_FOOTPRINT);
	for (unsigned int i = 0; i < n->fronts; i++)
		wl_watch_add(watch, &(struct wl_poll) { .socket = n->front[i].server }, &n->front[i]);
	for (int s = COMPOSE_POST; s <= USER_TIMELINE; s++)
		for (unsigned int i = 0; i < n->to[s].size; i++)
			wl_watch_add(watch, &(struct wl_poll) { .socket = n->to[s].link[i].client }, &n->to[s].link[i]);
	wl_pipe_write(n->network->ready, 1);
	for (;;) {
		struct link *link = wl_watch_wait(watch, WL_NEVER);

		if (link->front)
			answer(n, link);
		else
			forward(n, link);
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
		for (unsigned int i = 0; i < me->fronts; i++)
			dsb_connect(&me->front[i]);
		for (int s = COMPOSE_POST; s <= USER_TIMELINE; s++) {
			struct upstream *up = &me->to[s];

			up->size = up->nr_idle = me->fronts;
			up->link = wl_new(struct link, up->size);
			up->idle = wl_new(struct link *, up->size);
			for (unsigned int i = 0; i < up->size; i++) {
				dsb_connect(&up->link[i]);
				up->idle[i] = &up->link[i];
				dsb_serves(&n->service[s], &up->link[i]);
			}
		}
	}
	return nginx;
}
