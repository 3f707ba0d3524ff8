// SPDX-License-Identifier: GPL-2.0-only
/*
 * What single operations cost: in the simulator what the machine file's constants come to,
 * on a host what they have to come to.  Of many short batches the fastest counts, so that
 * other work on a host disturbs little.
 */
#include "workload.h"

#define BATCH	200		/* operations timed together */
#define SLOW_BATCH	5	/* of those that take a tenth of a millisecond */
#define PAGE	4096UL

struct bench {
	unsigned int stop, word;
	int rounds, cpu, other;
	struct wl_pipe *pipe, *there, *back;
	struct wl_socket *end[2];
	struct wl_watch *watch;
	struct wl_watched *watched;
	unsigned int bytes;
	unsigned long long writing;	/* ns in the writes of round trips */
};

/* ns of one operation in the fastest batch */
static double fastest(struct bench *b, void (*batch)(struct bench *, int), int operations)
{
	unsigned long long best = WL_NEVER;

	for (int i = 0; i < b->rounds; i++) {
		unsigned long long start = wl_now(), took;

		batch(b, operations);
		took = wl_now() - start;
		if (took < best)
			best = took;
	}
	return (double)best / operations;
}

static void measure(struct bench *b, const char *name, void (*batch)(struct bench *, int), int operations)
{
	wl_result(name, fastest(b, batch, operations), "ns");
}

/* ------------------------------------------------------------------ one task alone */

static void syscalls(struct bench *b, int n)
{
	(void)b;
	while (n--)
		wl_syscall();
}

static void clock_reads(struct bench *b, int n)
{
	(void)b;
	while (n--)
		wl_now();
}

static void atomics(struct bench *b, int n)
{
	while (n--)
		wl_add(&b->word, 1);
}

static void cycles(struct bench *b, int n)
{
	(void)b;
	while (n--)
		wl_cycles(1000);
}

static void divisions(struct bench *b, int n)
{
	(void)b;
	while (n--)
		wl_divide(1000);
}

static void futex_wakes(struct bench *b, int n)
{
	while (n--)
		wl_futex_wake(&b->word, 1);
}

static void polls(struct bench *b, int n)
{
	struct wl_poll set = { .pipe = b->pipe };

	while (n--)
		wl_poll(&set, 1, 0);
}

static void pipe_turns(struct bench *b, int n)
{
	while (n--) {
		wl_pipe_write(b->pipe, b->bytes);
		wl_pipe_read(b->pipe, b->bytes);
	}
}

static void sends(struct bench *b, int n)
{
	while (n--)
		wl_send(b->end[0], 1);
}

static void receives(struct bench *b, int n)
{
	while (n--)
		wl_receive(b->end[1], 1);
}

enum protocol { UNIX, TCP, UDP };

static void open_socket(struct bench *b, enum protocol protocol)
{
	struct wl_listener *listener;

	if (protocol == UNIX) {
		wl_socketpair(b->end);
		return;
	}
	listener = wl_listen(protocol == TCP ? WL_TCP : WL_UDP);
	b->end[0] = wl_connect(listener, NULL);
	wl_accept(listener, &b->end[1]);
}

/* As many are under way as a batch has: receivers never wait. */
static void measure_socket(struct bench *b, enum protocol protocol, const char *send, const char *receive)
{
	double best_send = 0, best_receive = 0;

	open_socket(b, protocol);
	for (int i = 0; i < b->rounds; i++) {
		unsigned long long start = wl_now(), middle, end;
		double s, r;

		sends(b, SLOW_BATCH);
		middle = wl_now();
		receives(b, SLOW_BATCH);
		end = wl_now();
		s = (double)(middle - start) / SLOW_BATCH;
		r = (double)(end - middle) / SLOW_BATCH;
		if (!i || s < best_send)
			best_send = s;
		if (!i || r < best_receive)
			best_receive = r;
	}
	wl_result(send, best_send, "ns");
	wl_result(receive, best_receive, "ns");
}

/* ------------------------------------------------------------------ epoll, on the last socket */

static void looks(struct bench *b, int n)
{
	while (n--)
		wl_receive_now(b->end[1], 1);
}

static void changes(struct bench *b, int n)
{
	while (n--)
		wl_watch_for(b->watched, WL_READABLE);
}

static void additions(struct bench *b, int n)
{
	while (n--) {
		wl_watch_drop(b->watched);
		wl_watch_return(b->watched, WL_READABLE);
	}
}

static void waits(struct bench *b, int n)
{
	void *found;

	while (n--)
		wl_watch_several(b->watch, &found, 1, WL_NEVER);
}

static void measure_epoll(struct bench *b)
{
	b->watch = wl_watch();
	b->watched = wl_watch_add(b->watch, &(struct wl_poll) { .socket = b->end[1] }, b);
	measure(b, "receive of nothing", looks, BATCH);
	measure(b, "epoll change", changes, BATCH);
	measure(b, "epoll drop and add", additions, BATCH);
	wl_send(b->end[0], 1);
	measure(b, "epoll wait", waits, BATCH);
	wl_receive(b->end[1], 1);
}

/* ------------------------------------------------------------------ children */

static void nothing(void *arg)
{
	(void)arg;
}

static void exec_nothing(void *arg)
{
	wl_exec(nothing, arg);
}

static void forks(struct bench *b, int n)
{
	(void)b;
	while (n--)
		wl_join(wl_fork("child", nothing, NULL));
}

static void execs(struct bench *b, int n)
{
	(void)b;
	while (n--)
		wl_join(wl_fork("child", exec_nothing, NULL));
}

/* ------------------------------------------------------------------ two tasks */

static void echo(void *arg)
{
	struct bench *b = arg;

	wl_pin_cpus(b->other, 1);
	for (;;) {
		wl_pipe_read(b->there, 1);
		if (wl_load(&b->stop))
			break;
		wl_pipe_write(b->back, 1);
	}
}

static void round_trips(struct bench *b, int n)
{
	while (n--) {
		unsigned long long start = wl_now();

		wl_pipe_write(b->there, 1);
		b->writing += wl_now() - start;
		wl_pipe_read(b->back, 1);
	}
}

/* Round trips over two pipes with a task on that CPU, and what of the fastest the writes take. */
static void measure_echo(struct bench *b, const char *name, const char *write, int other)
{
	unsigned long long best = WL_NEVER, writing = 0;
	struct wl_task *task;
	int mine = b->other;

	b->other = other;
	wl_store(&b->stop, 0);
	task = wl_fork("echo", echo, b);
	for (int i = 0; i < b->rounds; i++) {
		unsigned long long start = wl_now(), took;

		b->writing = 0;
		round_trips(b, BATCH);
		took = wl_now() - start;
		if (took >= best)
			continue;
		best = took;
		writing = b->writing;
	}
	wl_result(name, (double)best / BATCH, "ns");
	wl_result(write, (double)writing / BATCH, "ns");
	wl_store(&b->stop, 1);
	wl_pipe_write(b->there, 1);
	wl_join(task);
	b->other = mine;
}

/* The line of the word goes to and fro: even turns are ours, odd ones theirs. */
static void take_turns(struct bench *b, unsigned int parity, int n)
{
	while (n && !wl_load(&b->stop)) {
		unsigned int turn = wl_load(&b->word);

		if (turn % 2 != parity)
			wl_relax();
		else if (wl_replace(&b->word, turn, turn + 1))
			n--;
	}
}

static void other_turns(void *arg)
{
	struct bench *b = arg;

	wl_pin_cpus(b->other, 1);
	take_turns(b, 1, 1 << 30);
}

static void own_turns(struct bench *b, int n)
{
	take_turns(b, 0, n);
}

/* Two transfers a turn and back */
static void measure_line(struct bench *b)
{
	struct wl_task *task;

	wl_store(&b->stop, 0);
	wl_store(&b->word, 0);
	task = wl_fork("turns", other_turns, b);
	wl_result("line", fastest(b, own_turns, BATCH) / 2, "ns");
	wl_store(&b->stop, 1);
	wl_join(task);
}

static void micro(void)
{
	struct bench *b = wl_new(struct bench, 1);

	b->rounds = wl_option("rounds");
	b->cpu = wl_option("cpu");
	b->other = wl_option("other");
	if (b->cpu >= wl_cpus() || b->other >= wl_cpus())
		wl_refuse("there are CPUs 0 to %d only", wl_cpus() - 1);
	b->pipe = wl_pipe();
	b->there = wl_pipe();
	b->back = wl_pipe();
	wl_pin_cpus(b->cpu, 1);
	wl_begin();
	measure(b, "syscall", syscalls, BATCH);
	measure(b, "clock read", clock_reads, BATCH);
	measure(b, "atomic", atomics, BATCH);
	measure(b, "1000 cycles", cycles, SLOW_BATCH);
	measure(b, "1000 divisions", divisions, SLOW_BATCH);
	measure(b, "futex wake", futex_wakes, BATCH);
	measure(b, "poll", polls, BATCH);
	b->bytes = 1;
	measure(b, "pipe turn", pipe_turns, BATCH);
	b->bytes = PAGE;
	measure(b, "pipe turn of a page", pipe_turns, BATCH);
	measure_socket(b, UNIX, "unix send", "unix receive");
	measure_socket(b, UDP, "udp send", "udp receive");
	measure_socket(b, TCP, "tcp send", "tcp receive");
	measure_epoll(b);
	measure(b, "fork, exit, wait", forks, SLOW_BATCH);
	measure(b, "fork, exec, exit, wait", execs, SLOW_BATCH);
	measure_echo(b, "round trip on one CPU", "write that wakes on one CPU", b->cpu);
	if (b->other != b->cpu) {
		measure_echo(b, "round trip to another CPU", "write that wakes another CPU", b->other);
		measure_line(b);
	}
	wl_end();
}

static const struct wl_option options[] = {
	{ "rounds", 'r', WL_COUNT, 100, 1, 1000000, NULL, "batches, of which the fastest counts" },
	{ "cpu", 'c', WL_COUNT, 0, 0, 4095, NULL, "where it runs" },
	{ "other", 'o', WL_COUNT, 1, 0, 4095, NULL, "where the other task of a pair runs" },
	{ }
};

WORKLOAD(micro) = {
	.name = "micro",
	.summary = "single operations: system calls, pipes, forks, wakeups, cache lines",
	.original = "lmbench's way of timing; the operations are those of the machine file's constants",
	.options = options,
	.main = micro,
};
