// SPDX-License-Identifier: GPL-2.0-only
/* Ready-made workloads, written as the originals are: blocking calls, one function per role. */
#include <string.h>
#include "scenario.h"

/* ------------------------------------------------------------------ hackbench */

struct channel {
	struct kern_pipe *pipe;
	struct kern_socket *socket;
};

struct bench {
	struct workload *w;
	struct kern_futex *go;
	int started;
	struct hb_group {
		struct bench *bench;
		struct channel *fd;
		int next_receiver;
	} *group;
};

static void ready(struct bench *b)
{
	b->started++;
	kern_futex_wait(b->go);
}

/* One receiver: every sender of its group writes `loops` messages into its descriptor. */
static void receiver(struct sim_task *task)
{
	struct hb_group *g = task->arg;
	const struct workload *w = g->bench->w;
	struct channel *ch = &g->fd[g->next_receiver++];
	long messages = (long)w->fds * w->loops;

	ready(g->bench);
	for (long i = 0; i < messages; i++) {
		if (w->pipe)
			kern_pipe_read(ch->pipe, w->datasize);
		else
			kern_socket_receive(ch->socket, w->datasize);
		task->ops++;
	}
}

/* One sender: `loops` rounds, one message to each receiver of the group. */
static void sender(struct sim_task *task)
{
	struct hb_group *g = task->arg;
	const struct workload *w = g->bench->w;

	ready(g->bench);
	for (int i = 0; i < w->loops; i++) {
		for (int r = 0; r < w->fds; r++) {
			if (w->pipe)
				kern_pipe_write(g->fd[r].pipe, w->datasize);
			else
				kern_socket_send(g->fd[r].socket, w->datasize);
		}
	}
}

static void hackbench(struct sim_task *task)
{
	struct workload *w = task->arg;
	struct bench b = { .w = w, .go = kern_futex_create() };
	int total = w->groups * 2 * w->fds;

	b.group = sim_zalloc(sizeof(*b.group) * w->groups, 64);
	for (int i = 0; i < w->groups; i++) {
		struct hb_group *g = &b.group[i];

		g->bench = &b;
		g->fd = sim_zalloc(sizeof(*g->fd) * w->fds, 64);
		for (int k = 0; k < w->fds; k++) {
			if (w->pipe)
				g->fd[k].pipe = kern_pipe_create();
			else
				g->fd[k].socket = kern_socket_create();
		}
		for (int k = 0; k < w->fds; k++)
			launch_task("receiver", w->threads ? -2 : -1, receiver, g);
		for (int k = 0; k < w->fds; k++)
			launch_task("sender", w->threads ? -2 : -1, sender, g);
	}
	while (b.started < total)
		kern_sleep(MSEC / 10);
	kern_sleep(MSEC);		/* the last one is on its way to its wait */
	w->began = kern_now();
	kern_futex_wake(b.go, total);
	while (kern_wait_child() >= 0)
		;
	w->ended = kern_now();
	w->ops = (unsigned long)w->groups * w->fds * w->fds * w->loops;
	workload_done();
}

/* ------------------------------------------------------------------ pingpong */

struct pair {
	struct workload *w;
	struct kern_pipe *there, *back;
};

static void pong(struct sim_task *task)
{
	struct pair *p = task->arg;

	for (int i = 0; i < p->w->loops; i++) {
		kern_pipe_read(p->there, p->w->datasize);
		kern_run(p->w->run);
		kern_pipe_write(p->back, p->w->datasize);
	}
}

static void ping(struct sim_task *task)
{
	struct pair *p = task->arg;

	for (int i = 0; i < p->w->loops; i++) {
		kern_run(p->w->run);
		kern_pipe_write(p->there, p->w->datasize);
		kern_pipe_read(p->back, p->w->datasize);
		task->ops++;
	}
}

static void pingpong(struct sim_task *task)
{
	struct workload *w = task->arg;
	struct pair *pairs = sim_zalloc(sizeof(*pairs) * w->pairs, 64);

	w->began = kern_now();
	for (int i = 0; i < w->pairs; i++) {
		pairs[i] = (struct pair) { w, kern_pipe_create(), kern_pipe_create() };
		launch_task("pong", w->threads ? -2 : -1, pong, &pairs[i]);
		launch_task("ping", w->threads ? -2 : -1, ping, &pairs[i]);
	}
	while (kern_wait_child() >= 0)
		;
	w->ended = kern_now();
	w->ops = (unsigned long)w->pairs * w->loops;
	workload_done();
}

void workload_start(struct workload *w)
{
	if (!strcmp(w->kind, "hackbench"))
		launch_task("hackbench", 0, hackbench, w);
	else
		launch_task("pingpong", 0, pingpong, w);
}
