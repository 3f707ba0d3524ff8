// SPDX-License-Identifier: GPL-2.0-only
/* Clients in closed loops: when they are measured, and what of them. */
#include "applications.h"

struct loops *loops_new(void)
{
	struct loops *l = wl_new(struct loops, 1);

	l->latency = wl_histogram();
	return l;
}

int loops_answered(struct loops *l, unsigned long long sent)
{
	if (l->measuring)
		wl_record(l->latency, wl_now() - sent);
	return !l->over;
}

/* All clients are under way a tenth of the time after they were started. */
void loops_measure(struct loops *l, unsigned long long time)
{
	wl_warm_up();
	wl_sleep(time / 10);
	wl_begin();
	l->measuring = 1;
	wl_sleep(time);
	l->measuring = 0;
	wl_end();
	l->over = 1;
}

void loops_results(const struct loops *l)
{
	wl_result("throughput", wl_count(l->latency) / wl_elapsed(), "1/s");
	wl_result("requests", wl_count(l->latency), "");
	wl_result_latency("latency", l->latency);
}

void loops_run(struct loops *l, const char *name, void (*thread)(void *), void *server,
	       int threads, int connections)
{
	struct loops_thread *each = wl_new(struct loops_thread, threads);
	struct wl_task **task = wl_new(struct wl_task *, threads);
	int first = 0;

	for (int i = 0; i < threads; i++) {
		int own = connections / threads + (i < connections % threads);

		each[i] = (struct loops_thread) { server, first, own };
		first += own;
		task[i] = wl_thread(name, thread, &each[i]);
	}
	loops_measure(l, wl_option("time"));
	for (int i = 0; i < threads; i++)
		wl_join(task[i]);
	loops_results(l);
}
