/* SPDX-License-Identifier: GPL-2.0-only */
/* What the models of servers share: clients in closed loops, and a log that commits wait for. */
#ifndef APPLICATIONS_H
#define APPLICATIONS_H

#include "workload.h"

/* ------------------------------------------------------------------ closed loops (applications.c) */

/* Each client has one request under way; those that end in the measured part count. */
struct loops {
	volatile int measuring, over;
	struct wl_histogram *latency;
};

struct loops *loops_new(void);
int loops_answered(struct loops *loops, unsigned long long sent);	/* 1: the client asks again */
void loops_measure(struct loops *loops, unsigned long long time);
void loops_results(const struct loops *loops);

/* Of a thread of clients: its connections, of all those to a server. */
struct loops_thread {
	void *server;
	int first, connections;
};

/* Deals the connections out to threads, measures, and waits for their end. */
void loops_run(struct loops *loops, const char *name, void (*thread)(void *), void *server,
	       int threads, int connections);

/* ------------------------------------------------------------------ commits (group-commit.c) */

/*
 * The first that commits writes what all have logged and waits for the disk; who commits meanwhile
 * waits for it, and is woken when it is done.
 */
struct commits;

enum wakes {
	ALL,		/* every waiter, who looks for itself whether it is done: PostgreSQL's LWLock */
	DONE_AND_NEXT,	/* those that are done, and one more to write for the rest: InnoDB's */
};
/* Figures: how long the disk takes, and how much of that the CPU works. */
struct commits *commits_new(enum wakes wakes, enum wl_figure flush, enum wl_figure work);

struct committer {			/* a task that commits */
	struct committer *next;
	unsigned int woken, record;
};
/* A record of the caller's, in memory. */
void commits_log(struct commits *commits, struct committer *own);
/* Until the caller's last record is on disk. */
void commits_wait(struct commits *commits, struct committer *own);

#endif
