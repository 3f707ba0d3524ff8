// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a wakeup costs and what an idle sibling gives, against the period of the wakeups:
 * a thread computes on one CPU of a core, irritators sleep on its other CPUs, and a waker
 * on another core wakes them again and again.
 */
#include <stdio.h>
#include <stdlib.h>
#include "workload.h"

#define OPS		65536ULL	/* Fibonacci numbers, between two looks at the clock */

#define MAX_IRRITATORS	64
#define STAMPS		131072		/* more than a pipe holds wakes */

struct irritator {
	struct bench	*bench;
	int		cpu;
	struct wl_pipe	*pipe;
	unsigned int	sent, received;
	unsigned long long *stamp;	/* of each wake, for its own sleeper */
	struct wl_histogram *latency, *sleep;
	struct wl_idle	*idle;		/* of its CPU's states, while it ran */
};

struct bench {
	unsigned long long period, end;
	int		nr_irritators;
	struct irritator irritator[MAX_IRRITATORS];
	unsigned long	ops, rounds, missed;
	unsigned long long working;	/* ns */
	unsigned int	stop;
};

static void pin(int cpu)
{
	wl_pin_cpus(cpu, 1);
}

static void work(void *arg)
{
	struct bench *b = arg;
	unsigned long long start, now = wl_now();

	pin(wl_option("wcpu"));
	while (now < b->end) {
		start = wl_now();
		wl_work(WL_cpuidle_smt_operations_65536);
		now = wl_now();
		b->ops += OPS;
		b->working += now - start;
	}
}

/* By the irritator itself: what its CPU counts is up to date while it is not idle. */
static void read_states(struct irritator *it)
{
	for (int state = 0; state < wl_idle_states(); state++) {
		struct wl_idle before = it->idle[state];

		wl_idle_read(it->cpu, state, &it->idle[state]);
		it->idle[state].usage -= before.usage;
		it->idle[state].time -= before.time;
	}
}

static void irritate(void *arg)
{
	struct irritator *it = arg;

	pin(it->cpu);
	read_states(it);
	while (!wl_load(&it->bench->stop)) {
		unsigned long long start = wl_now(), now;

		wl_pipe_read(it->pipe, 1);
		now = wl_now();
		wl_record(it->sleep, now - start);
		wl_record(it->latency, now - it->stamp[it->received++ % STAMPS]);
	}
	read_states(it);
}

static void wake_all(struct bench *b)
{
	for (int i = 0; i < b->nr_irritators; i++) {
		struct irritator *it = &b->irritator[i];

		if (it->sent != wl_load(&it->received))
			b->missed++;
		it->stamp[it->sent % STAMPS] = wl_now();
		it->sent++;
		wl_pipe_write(it->pipe, 1);
	}
}

static void wake(void *arg)
{
	struct bench *b = arg;

	pin(wl_option("acpu"));
	while (wl_now() < b->end) {
		wl_spin(b->period);
		wake_all(b);
		b->rounds++;
	}
	wl_store(&b->stop, 1);
	wake_all(b);
}

static void check_cpu(const char *option)
{
	if (wl_option(option) >= wl_cpus())
		wl_refuse("%s %lld: there is no such CPU", option, wl_option(option));
}

/* "10,12,14" */
static void read_irritators(struct bench *b)
{
	const char *at = wl_text("icpus");

	do {
		char *end;
		long cpu = strtol(at, &end, 10);

		if (end == at || (*end && *end != ',') || cpu < 0 || cpu >= wl_cpus())
			wl_refuse("icpus \"%s\": CPUs of 0 to %d are expected, as in 10,12,14",
				  wl_text("icpus"), wl_cpus() - 1);
		if (b->nr_irritators == MAX_IRRITATORS)
			wl_refuse("icpus \"%s\": more than %d", wl_text("icpus"), MAX_IRRITATORS);
		if (cpu == wl_option("wcpu") || cpu == wl_option("acpu"))
			wl_refuse("icpus \"%s\": CPU %ld is the workload's or the waker's",
				  wl_text("icpus"), cpu);
		b->irritator[b->nr_irritators++].cpu = cpu;
		at = end;
	} while (*at++);
}

/* The mean of the irritators' CPUs, as the original prints it. */
static void report_states(const struct bench *b)
{
	char name[80];

	for (int state = 0; state < wl_idle_states(); state++) {
		double usage = 0, us = 0;

		for (int i = 0; i < b->nr_irritators; i++) {
			usage += b->irritator[i].idle[state].usage;
			us += b->irritator[i].idle[state].time / 1e3;
		}
		snprintf(name, sizeof(name), "%s usage", wl_idle_name(state));
		wl_result(name, usage / b->nr_irritators, "");
		snprintf(name, sizeof(name), "%s time", wl_idle_name(state));
		wl_result(name, us / b->nr_irritators, "us");
		snprintf(name, sizeof(name), "%s share", wl_idle_name(state));
		wl_result(name, us / b->nr_irritators / wl_elapsed() / 1e4, "%");
	}
}

static void cpuidle_smt(void)
{
	struct bench *b = wl_new(struct bench, 1);
	struct wl_histogram *latency = wl_histogram(), *sleep = wl_histogram();
	struct wl_task *worker, *waker, *irritator[MAX_IRRITATORS];

	if (wl_option("wcpu") == wl_option("acpu"))
		wl_refuse("wcpu and acpu: both are CPU %lld", wl_option("wcpu"));
	check_cpu("wcpu");
	check_cpu("acpu");
	read_irritators(b);
	b->period = wl_option("period");
	for (int i = 0; i < b->nr_irritators; i++) {
		struct irritator *it = &b->irritator[i];

		it->bench = b;
		it->pipe = wl_pipe();
		it->stamp = wl_new(unsigned long long, STAMPS);
		it->latency = latency;
		it->sleep = sleep;
		it->idle = wl_new(struct wl_idle, wl_idle_states() + 1);
	}
	wl_begin();
	b->end = wl_now() + wl_option("duration");
	worker = wl_thread("workload", work, b);
	for (int i = 0; i < b->nr_irritators; i++)
		irritator[i] = wl_thread("irritator", irritate, &b->irritator[i]);
	waker = wl_thread("waker", wake, b);
	wl_join(waker);
	wl_end();
	wl_join(worker);
	for (int i = 0; i < b->nr_irritators; i++)
		wl_join(irritator[i]);
	wl_result("throughput", b->ops * 1e3 / b->working, "Mops/s");
	wl_result_latency("wakeup latency", latency);
	wl_result_latency("sleep duration", sleep);
	wl_result("wake period", wl_elapsed() * 1e6 / b->rounds, "us");
	wl_result("missed", b->missed, "");
	report_states(b);
}

static const struct wl_option options[] = {
	{ "wcpu", 'w', WL_COUNT, 0, 0, 65535, NULL, "CPU of the workload" },
	{ "icpus", 'i', WL_TEXT, 0, 0, 0, NULL, "CPUs of the irritators: 10,12,14" },
	{ "acpu", 'a', WL_COUNT, 1, 0, 65535, NULL, "CPU of the waker" },
	{ "period", 'r', WL_TIME, 100 * WL_USEC, WL_USEC, WL_SEC, NULL, "pause between two rounds of wakeups" },
	{ "duration", 't', WL_TIME, 5 * WL_SEC, WL_MSEC, 86400 * WL_SEC, NULL, "how long it runs" },
	{ }
};

WORKLOAD(cpuidle_smt) = {
	.name = "cpuidle-smt",
	.summary = "work beside siblings that sleep and are woken",
	.original = "cpuidle-smt-performance (2021)",
	.options = options,
	.main = cpuidle_smt,
};
