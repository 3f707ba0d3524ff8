// SPDX-License-Identifier: GPL-2.0-only
#include "sysbench.h"

#define LINE		64UL
#define HISTOGRAM	(1UL << 20)	/* sb_histogram: each event counts in a random slot */

static int more_events(struct sysbench *bench)
{
	if (bench->max_time && wl_now() - bench->start >= bench->max_time)
		return 0;
	return !bench->max_events || wl_add(&bench->events, 1) < bench->max_events;
}

/* sysbench's barrier; the last to arrive starts the clock. */
static void wait_for_all(struct sysbench *bench)
{
	wl_lock(&bench->lock);
	if (!--bench->missing) {
		if (bench->started)
			bench->started();
		bench->start = wl_now();
		wl_broadcast(&bench->all_here);
	}
	while (bench->missing)
		wl_condition_wait(&bench->all_here, &bench->lock, WL_NEVER);
	wl_unlock(&bench->lock);
}

static void worker(void *arg)
{
	struct sysbench_thread *thread = arg;
	struct sysbench *bench = thread->bench;

	wait_for_all(bench);
	while (more_events(bench)) {
		unsigned long long start = wl_now();

		if (!bench->event(thread))
			break;
		thread->events++;
		wl_touch(bench->histogram, wl_uniform(0, HISTOGRAM / LINE - 1) * LINE, LINE, WL_WRITE);
		wl_record(bench->latency, wl_now() - start);
	}
}

void sysbench_execute(struct sysbench *bench)
{
	struct sysbench_thread *thread = wl_new(struct sysbench_thread, bench->threads);
	struct wl_task **task = wl_new(struct wl_task *, bench->threads);

	bench->latency = wl_histogram();
	bench->histogram = wl_region(HISTOGRAM);
	bench->missing = bench->threads + 1;
	for (int i = 0; i < bench->threads; i++) {
		thread[i].bench = bench;
		task[i] = wl_thread("sysbench", worker, &thread[i]);
	}
	wait_for_all(bench);
	for (int i = 0; i < bench->threads; i++)
		wl_join(task[i]);
	bench->end = wl_now();
}

unsigned long sysbench_run(int (*event)(struct sysbench_thread *thread), void *test)
{
	struct sysbench *bench = wl_new(struct sysbench, 1);
	unsigned long events;

	bench->event = event;
	bench->test = test;
	bench->threads = wl_option("threads");
	bench->max_events = wl_option("events");
	bench->max_time = wl_option("time");
	bench->started = wl_begin;
	sysbench_execute(bench);
	wl_end();
	events = wl_count(bench->latency);
	wl_result("total time", wl_elapsed(), "s");
	wl_result("total number of events", events, "");
	wl_result("events per second", events / wl_elapsed(), "1/s");
	wl_result("latency avg", wl_mean(bench->latency) / WL_MSEC, "ms");
	wl_result("latency 95th percentile", (double)wl_percentile(bench->latency, 95) / WL_MSEC, "ms");
	wl_result("latency max", (double)wl_percentile(bench->latency, 100) / WL_MSEC, "ms");
	return events;
}

/* Each number is divided by 2, 3, ... until one divides it or its root is passed. */
unsigned long long sysbench_divisions(unsigned int max_prime)
{
	unsigned long long sum = 0;

	for (unsigned long number = 3; number < max_prime; number++)
		for (unsigned long divisor = 2; divisor * divisor <= number; divisor++) {
			sum++;
			if (number % divisor == 0)
				break;
		}
	return sum;
}
