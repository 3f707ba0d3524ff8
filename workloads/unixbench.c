// SPDX-License-Identifier: GPL-2.0-only
/*
 * Six tests of UnixBench: copies of one program, each counting how often it gets round
 * its loop.  `Run` starts the copies one after the other and adds up their counts.
 */
#include "workload.h"

#define DHRYSTONES	40000ULL	/* between two looks for the alarm */

#define PIPE_BYTES	512

#define WARM_LOOK	(10 * WL_MSEC)	/* while it warms up, so often it looks whether it has */

enum { DHRY2REG, SYSCALL, PIPE, CONTEXT1, SPAWN, EXECL };

struct bench {
	int test;
	unsigned long long duration;
	struct wl_file *input;		/* all copies have it open */
};

struct copy {
	struct bench *bench;
	unsigned long long start, elapsed;
	unsigned long loops;
	struct wl_pipe *there, *back;	/* to its partner, and from it */
	unsigned int over;
};

static void dhry2reg(struct copy *c)
{
	for (; !wl_alarm_rang(); c->loops += DHRYSTONES)
		wl_cycles(DHRYSTONES * wl_figure(WL_unixbench_dhrystone));
}

/* The mix of 5.1.3, which makes its copies of standard input. */
static void syscall_mix(struct copy *c)
{
	for (; !wl_alarm_rang(); c->loops++) {
		wl_dup(c->bench->input);
		wl_syscall();		/* getpid() */
		wl_syscall();		/* getuid() */
		wl_syscall();		/* umask() */
	}
}

static void pipe_throughput(struct copy *c)
{
	struct wl_pipe *pipe = wl_pipe();

	for (; !wl_alarm_rang(); c->loops++) {
		wl_pipe_write(pipe, PIPE_BYTES);
		wl_pipe_read(pipe, PIPE_BYTES);
	}
}

static void partner(void *arg)
{
	struct copy *c = arg;

	for (;;) {
		wl_pipe_read(c->there, sizeof(long));
		if (wl_load(&c->over))
			return;
		wl_pipe_write(c->back, sizeof(long));
	}
}

/* A counter goes to and fro; the partner lives as long as the copy. */
static void pipe_context_switching(struct copy *c)
{
	if (!c->there) {
		c->there = wl_pipe();
		c->back = wl_pipe();
		wl_fork("context1", partner, c);
	}
	for (; !wl_alarm_rang(); c->loops++) {
		wl_pipe_write(c->there, sizeof(long));
		wl_pipe_read(c->back, sizeof(long));
	}
}

static void end_partner(struct copy *c)
{
	wl_store(&c->over, 1);
	wl_pipe_write(c->there, sizeof(long));
	wl_wait();
}

static void nothing(void *arg)
{
	(void)arg;
}

static void spawn(struct copy *c)
{
	for (; !wl_alarm_rang(); c->loops++) {
		wl_fork("spawn", nothing, NULL);
		wl_wait();
	}
}

static void until_alarm(void *arg)
{
	static void (*const tests[])(struct copy *) = {
		[DHRY2REG] = dhry2reg, [SYSCALL] = syscall_mix, [PIPE] = pipe_throughput,
		[CONTEXT1] = pipe_context_switching, [SPAWN] = spawn,
	};
	struct copy *c = arg;

	while (wl_warming()) {
		wl_alarm(WARM_LOOK);
		tests[c->bench->test](c);
		c->loops = 0;
	}
	c->start = wl_now();
	wl_alarm(c->bench->duration);
	tests[c->bench->test](c);
	c->elapsed = wl_now() - c->start;
	if (c->there)
		end_partner(c);
}

/* What the program does when it has been executed by itself: an alarm would not outlive that. */
static void executed(void *arg)
{
	struct copy *c = arg;

	if (wl_warming()) {
		c->start = wl_now();
		wl_exec(executed, c);
	}
	c->loops++;
	c->elapsed = wl_now() - c->start;
	if (c->elapsed < c->bench->duration)
		wl_exec(executed, c);
}

static void execl_throughput(void *arg)
{
	struct copy *c = arg;

	c->start = wl_now();
	wl_exec(executed, c);
}

static void start_program(void *arg)
{
	struct copy *c = arg;

	wl_exec(c->bench->test == EXECL ? execl_throughput : until_alarm, c);
}

static void unixbench(void)
{
	struct bench *b = wl_new(struct bench, 1);
	int copies = wl_option("copies");
	struct copy *copy = wl_new(struct copy, copies);
	double loops = 0, seconds = 0;

	b->test = wl_option("test");
	b->duration = wl_option("duration");
	b->input = wl_file();
	wl_begin();
	for (int i = 0; i < copies; i++) {
		copy[i].bench = b;
		wl_fork(wl_text("test"), start_program, &copy[i]);
	}
	while (wl_wait())
		;
	wl_end();
	for (int i = 0; i < copies; i++) {
		loops += copy[i].loops;
		seconds += copy[i].elapsed / 1e9;
	}
	wl_result("lps", loops / (seconds / copies), "1/s");
}

static const struct wl_option options[] = {
	{ "test", 't', WL_WORD, 0, 0, 0, "dhry2reg|syscall|pipe|context1|spawn|execl", "which of UnixBench's tests" },
	{ "copies", 'c', WL_COUNT, 1, 1, 8192, NULL, "so many at a time" },
	{ "duration", 0, WL_TIME, 10 * (long long)WL_SEC, WL_MSEC, 3600 * (long long)WL_SEC, NULL,
	  "how long each counts" },
	{ }
};

WORKLOAD(unixbench) = {
	.name = "unixbench",
	.summary = "loops of work, system calls, pipes, fork and exec",
	.original = "UnixBench 5.1.3",
	.options = options,
	.main = unixbench,
};
