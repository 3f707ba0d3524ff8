// SPDX-License-Identifier: GPL-2.0-only
/*
 * stress-ng's pipe stressor: instances of a writer and a reader it forked, over a pipe in packet
 * mode, each message a slot of its own.  The writer fills each message anew and counts it when it
 * is written; the reader looks at its first bytes, with `verify` at all of them.
 */
#include "workload.h"

#define ASK_HOW_MUCH	512 /* reads; then the reader asks how many bytes there are (FIONREAD) */

struct stress {
	int instances, verify;
	unsigned int size;
	unsigned long long timeout;
	struct instance *instance;
};

struct instance {
	struct stress *stress;
	struct wl_pipe *pipe;
	unsigned int ops;
	unsigned int messages; /* with the last one, which tells the reader to stop; 0: not yet */
	double seconds;
};

/* Filled, or compared. */
static unsigned long long message(const struct stress *s)
{
	return s->size * wl_figure(WL_stress_ng_pipe_message_per_kb) / 1024;
}

static void reader(void *arg)
{
	struct instance *in = arg;
	const struct stress *s = in->stress;
	unsigned long long compared = s->verify ? message(s) : 0;

	for (unsigned int reads = 0; !reads || reads != wl_load(&in->messages); reads++) {
		wl_pipe_read(in->pipe, s->size);
		if (reads % ASK_HOW_MUCH == 0)
			wl_syscall();
		wl_cycles(wl_figure(WL_stress_ng_pipe_reader) + compared);
	}
}

static void write_message(const struct instance *in)
{
	wl_cycles(wl_figure(WL_stress_ng_pipe_writer) + message(in->stress));
	wl_pipe_write(in->pipe, in->stress->size);
}

static void stressor(void *arg)
{
	struct instance *in = arg;
	const struct stress *s = in->stress;
	struct wl_task *child = wl_fork("reader", reader, in);
	unsigned int unmeasured;
	unsigned long long start;

	for (unmeasured = 0; wl_warming(); unmeasured++)
		write_message(in);
	start = wl_now();
	wl_alarm(s->timeout);
	do {
		write_message(in);
		in->ops++;
	} while (!wl_alarm_rang());
	wl_store(&in->messages, unmeasured + in->ops + 1);
	wl_pipe_write(in->pipe, s->size);
	wl_join(child);
	in->seconds = (wl_now() - start) * 1e-9;
}

static void report(const struct stress *s)
{
	double seconds = 0;
	unsigned long ops = 0;

	for (int i = 0; i < s->instances; i++) {
		ops += s->instance[i].ops;
		seconds += s->instance[i].seconds / s->instances;
	}
	wl_result("bogo ops", ops, "");
	wl_result("real time", seconds, "s");
	wl_result("bogo ops/s", ops / seconds, "1/s");
	wl_result("pipe write rate", ops / seconds * s->size / (1 << 20) / s->instances, "MB/s");
}

static void stress_ng_pipe(void)
{
	struct stress *s = wl_new(struct stress, 1);
	struct wl_task **task;

	s->instances = wl_option("pipe") ? wl_option("pipe") : wl_cpus();
	s->size = wl_option("pipe-data-size");
	s->timeout = wl_option("timeout");
	s->verify = wl_option("verify");
	s->instance = wl_new(struct instance, s->instances);
	task = wl_new(struct wl_task *, s->instances);
	for (int i = 0; i < s->instances; i++) {
		s->instance[i].stress = s;
		s->instance[i].pipe = wl_packet_pipe(wl_option("pipe-size"));
	}
	wl_begin();
	for (int i = 0; i < s->instances; i++)
		task[i] = wl_fork("stress-ng-pipe", stressor, &s->instance[i]);
	for (int i = 0; i < s->instances; i++)
		wl_join(task[i]);
	wl_end();
	report(s);
}

static const struct wl_option options[] = {
	{ "pipe", 'p', WL_COUNT, 1, 0, 4096, NULL, "instances; 0: one for each CPU" },
	{ "timeout", 't', WL_TIME, 10 * WL_SEC, WL_MSEC, 86400 * WL_SEC, NULL, "how long each writes" },
	{ "pipe-data-size", 0, WL_SIZE, 512, 8, 4096, NULL, "size of a message" },
	{ "pipe-size", 0, WL_SIZE, 0, 0, 1 << 20, NULL, "of the pipe, a page for each message; 0: the usual 16" },
	{ "verify", 0, WL_FLAG, 0, 0, 1, NULL, "the reader compares what it gets" },
	{ }
};

WORKLOAD(stress_ng_pipe) = {
	.name = "stress-ng-pipe",
	.summary = "writers and readers over pipes in packet mode",
	.original = "stress-ng --pipe, stress-ng 0.15.06",
	.options = options,
	.main = stress_ng_pipe,
};
