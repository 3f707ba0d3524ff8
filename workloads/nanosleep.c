// SPDX-License-Identifier: GPL-2.0-only
/* Processes that do nothing but sleep for a moment: timers, idle entries and wakeups. */
#include "workload.h"

struct bench {
	unsigned long long sleep, end;
	struct wl_histogram *over;
};

static void sleeper(void *arg)
{
	struct bench *b = arg;
	unsigned long long now = wl_now();

	while (now < b->end) {
		unsigned long long start = now;

		wl_sleep(b->sleep);
		now = wl_now();
		wl_record(b->over, now - start - b->sleep);
	}
}

static void nanosleep_stress(void)
{
	struct bench *b = wl_new(struct bench, 1);
	int processes = wl_option("processes") ? wl_option("processes") : wl_cpus();

	b->sleep = wl_option("sleep");
	b->over = wl_histogram();
	wl_begin();
	b->end = wl_now() + wl_option("time");
	for (int i = 0; i < processes; i++)
		wl_fork("nanosleep", sleeper, b);
	while (wl_wait())
		;
	wl_end();
	wl_result("loops", wl_count(b->over), "");
	wl_result("loops per second", wl_count(b->over) / wl_elapsed(), "1/s");
	wl_result_latency("oversleep", b->over);
}

static const struct wl_option options[] = {
	{ "processes", 'p', WL_COUNT, 0, 0, 100000, NULL, "processes; 0: one a CPU" },
	{ "sleep", 's', WL_TIME, WL_USEC, 1, WL_SEC, NULL, "how long each sleeps at a time" },
	{ "time", 't', WL_TIME, 10 * WL_SEC, WL_USEC, 86400 * WL_SEC, NULL, "how long it runs" },
	{ }
};

WORKLOAD(nanosleep) = {
	.name = "nanosleep",
	.summary = "processes that sleep a microsecond at a time",
	.original = "a loop of nanosleep() in every process, as stress-ng's nanosleep stressor",
	.options = options,
	.main = nanosleep_stress,
};
