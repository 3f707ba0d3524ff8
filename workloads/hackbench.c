// SPDX-License-Identifier: GPL-2.0-only
/*
 * hackbench of rt-tests and its child, perf bench sched messaging: groups of senders and
 * receivers.  All report ready on one channel and wait in poll() on another; one byte in
 * it starts them all, and nobody reads it.
 */
#include "workload.h"

/* Threads have what they work with on the common heap: 400 had written on 30 pages of it. */
#define CONTEXT	307

enum { RECEIVER, SENDER };

struct channel {
	struct wl_pipe *pipe;
	struct wl_socket *end[2];
};

struct group {
	struct bench *bench;
	struct channel *fd;
	unsigned int warming;		/* senders that are */
	unsigned int extra;		/* rounds of its senders before the measured ones */
};

struct bench {
	int groups, fds, pipe, threads;
	unsigned int loops, datasize;
	struct channel ready, wakefd;
	struct wl_region *heap;		/* of threads */
	unsigned int read_before;	/* messages, while it warmed up */
};

struct role {
	struct group *group;
	int number;		/* in its group, of senders or receivers */
	int context;		/* of all tasks */
};

static void open_channel(struct bench *b, struct channel *c)
{
	if (b->pipe)
		c->pipe = wl_pipe();
	else
		wl_socketpair(c->end);
}

static void put(struct channel *c, unsigned int bytes)
{
	if (c->pipe)
		wl_pipe_write(c->pipe, bytes);
	else
		wl_send(c->end[0], bytes);
}

static void take(struct channel *c, unsigned int bytes)
{
	if (c->pipe)
		wl_pipe_read(c->pipe, bytes);
	else
		wl_receive(c->end[1], bytes);
}

static void ready(const struct role *role)
{
	struct bench *b = role->group->bench;
	struct wl_poll start = { b->wakefd.pipe, b->wakefd.end[1] };

	if (b->threads)
		wl_working_set(b->heap, (unsigned long)role->context * CONTEXT, CONTEXT);
	put(&b->ready, 1);
	wl_poll(&start, 1, WL_NEVER);
}

static void receiver(void *arg)
{
	struct role *role = arg;
	struct bench *b = role->group->bench;
	struct channel *c = &role->group->fd[role->number];
	unsigned long messages = (unsigned long)b->fds * b->loops;

	struct group *g = role->group;
	unsigned long before = 0;

	ready(role);
	for (unsigned long i = 0; wl_load(&g->warming) || i < messages + wl_load(&g->extra); i++) {
		before += wl_warming();
		take(c, b->datasize);
	}
	if (before)
		wl_add(&b->read_before, before);
}

static void send_round(struct group *g)
{
	for (int r = 0; r < g->bench->fds; r++)
		put(&g->fd[r], g->bench->datasize);
}

/*
 * Not in hackbench: its rounds go on before those that are measured, until the state is the load's.
 */
static void warm_up(struct group *g)
{
	unsigned int rounds = 0;

	wl_add(&g->warming, 1);
	for (; wl_warming(); rounds++)
		send_round(g);
	wl_add(&g->extra, rounds);
	wl_add(&g->warming, -1);
}

static void sender(void *arg)
{
	struct role *role = arg;
	struct group *g = role->group;

	ready(role);
	if (wl_warming())
		warm_up(g);
	for (unsigned int i = 0; i < g->bench->loops; i++)
		send_round(g);
}

/*
 * What was measured, of as many messages as hackbench's rounds are: in a warm run those that lay in
 * the channels when it began are read as well.
 */
static double own_time(const struct bench *b, const struct group *const *group)
{
	double own = (double)b->groups * b->fds * b->fds * b->loops, all = own - b->read_before;

	for (int i = 0; i < b->groups; i++)
		all += (double)group[i]->extra * b->fds;
	return wl_elapsed() * (own / all);
}

static struct wl_task *create(const struct bench *b, int role, struct role *arg)
{
	const char *name = role == SENDER ? "sender" : "receiver";
	void (*fn)(void *) = role == SENDER ? sender : receiver;

	return b->threads ? wl_thread(name, fn, arg) : wl_fork(name, fn, arg);
}

static int start_group(struct bench *b, struct group *g, int number, struct wl_task **task)
{
	struct role *roles = wl_new(struct role, 2 * b->fds);
	int first = number * 2 * b->fds;
	int n = 0;

	g->bench = b;
	g->fd = wl_new(struct channel, b->fds);
	for (int i = 0; i < b->fds; i++) {
		roles[n] = (struct role) { g, i, first + n };
		open_channel(b, &g->fd[i]);
		task[n] = create(b, RECEIVER, &roles[n]);
		n++;
	}
	for (int i = 0; i < b->fds; i++, n++) {
		roles[n] = (struct role) { g, i, first + n };
		task[n] = create(b, SENDER, &roles[n]);
	}
	return n;
}

static void run(struct bench *b)
{
	struct wl_task **task = wl_new(struct wl_task *, b->groups * 2 * b->fds);
	struct group **group = wl_new(struct group *, b->groups);
	int total = 0;

	if (b->threads)
		b->heap = wl_region((unsigned long)b->groups * 2 * b->fds * CONTEXT);
	open_channel(b, &b->ready);
	open_channel(b, &b->wakefd);
	for (int i = 0; i < b->groups; i++) {
		group[i] = wl_new(struct group, 1);
		total += start_group(b, group[i], i, task + total);
	}
	for (int i = 0; i < total; i++)
		take(&b->ready, 1);
	wl_begin();
	put(&b->wakefd, 1);
	for (int i = 0; i < total; i++) {
		if (b->threads)
			wl_join(task[i]);
		else
			wl_wait();
	}
	wl_end();
	wl_result("time", own_time(b, (const struct group *const *)group), "s");
	wl_result("messages", (double)b->groups * b->fds * b->fds * b->loops, "");
}

static void hackbench(void)
{
	struct bench *b = wl_new(struct bench, 1);

	b->groups = wl_option("groups");
	b->fds = wl_option("fds");
	b->loops = wl_option("loops");
	b->datasize = wl_option("datasize");
	b->pipe = wl_option("pipe");
	b->threads = wl_option("threads");
	run(b);
}

static void sched_messaging(void)
{
	struct bench *b = wl_new(struct bench, 1);

	b->groups = wl_option("groups");
	b->fds = 20;
	b->loops = wl_option("nr_loops");
	b->datasize = 100;
	b->pipe = wl_option("pipe");
	b->threads = wl_option("thread");
	run(b);
}

static const struct wl_option hackbench_options[] = {
	{ "groups", 'g', WL_COUNT, 10, 1, 4096, NULL, "groups of senders and receivers" },
	{ "fds", 'f', WL_COUNT, 20, 1, 1000, NULL, "senders, and receivers, of a group" },
	{ "loops", 'l', WL_COUNT, 100, 1, 1 << 30, NULL, "messages from each sender to each receiver" },
	{ "datasize", 's', WL_SIZE, 100, 1, 65536, NULL, "size of a message" },
	{ "pipe", 'p', WL_FLAG, 0, 0, 1, NULL, "pipes instead of socket pairs" },
	{ "threads", 'T', WL_FLAG, 0, 0, 1, NULL, "threads instead of processes" },
	{ }
};

WORKLOAD(hackbench) = {
	.name = "hackbench",
	.summary = "groups of tasks sending small messages to each other",
	.original = "hackbench, rt-tests 2.4",
	.options = hackbench_options,
	.main = hackbench,
	.working_set = { .process = 2, .child = 4, .thread = 2, .stack = 16 << 10 },
};

/* perf's own --group is short for --groups: a scenario's "group" is the tasks' control group. */
static const struct wl_option messaging_options[] = {
	{ "groups", 'g', WL_COUNT, 10, 1, 4096, NULL, "groups of 20 senders and 20 receivers" },
	{ "nr_loops", 'l', WL_COUNT, 100, 1, 1 << 30, NULL, "messages from each sender to each receiver" },
	{ "pipe", 'p', WL_FLAG, 0, 0, 1, NULL, "pipes instead of socket pairs" },
	{ "thread", 't', WL_FLAG, 0, 0, 1, NULL, "threads instead of processes" },
	{ }
};

WORKLOAD(sched_messaging) = {
	.name = "sched-messaging",
	.summary = "groups of tasks sending small messages to each other",
	.original = "perf bench sched messaging, Linux 6.1",
	.options = messaging_options,
	.main = sched_messaging,
	.working_set = { .process = 2, .child = 5, .thread = 2, .stack = 16 << 10 },
};
