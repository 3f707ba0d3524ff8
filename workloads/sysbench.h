/* SPDX-License-Identifier: GPL-2.0-only */
/* sysbench's frame: threads that take events until the time or the events are used up. */
#ifndef SYSBENCH_H
#define SYSBENCH_H

#include "workload.h"

/* Program and libraries' data, heap; a thread's stack of --thread-stack-size. */
#define SYSBENCH_WORKING_SET { .process = 5, .thread = 2, .stack = 64 << 10 }

#define SYSBENCH_OPTIONS								\
	{ "threads", 0, WL_COUNT, 1, 1, 100000, NULL, "number of threads" },		\
	{ "events", 0, WL_COUNT, 0, 0, 1 << 30, NULL, "limit of events; 0: none" },	\
	{ "time", 0, WL_TIME, 10 * WL_SEC, 0, 86400 * WL_SEC, NULL, "limit of time; 0: none" }

struct sysbench_thread {
	struct sysbench	*bench;
	unsigned long	events;			/* done by this thread */
};

struct sysbench {
	int		(*event)(struct sysbench_thread *thread);	/* 0: this thread is done */
	void		*test;			/* what the threads share */
	int		threads;
	unsigned int	max_events;		/* 0: no limit */
	unsigned long long max_time;		/* 0: no limit */
	void		(*started)(void);	/* when all threads are there, or NULL */
	/* found */
	unsigned long long start, end;
	struct wl_histogram *latency;
	struct wl_region *histogram;		/* sysbench's own, that all threads write */
	/* the frame's own */
	unsigned int	events;
	struct wl_mutex	lock;
	struct wl_condition all_here;
	int		missing;
};

/* Runs one, whose first group of fields is filled in. */
void sysbench_execute(struct sysbench *bench);

/*
 * A test that is all of a run, with the options above: writes sysbench's results and
 * returns the number of events.
 */
unsigned long sysbench_run(int (*event)(struct sysbench_thread *thread), void *test);

/* Divisions of an event of sysbench's cpu test. */
unsigned long long sysbench_divisions(unsigned int max_prime);

#endif
