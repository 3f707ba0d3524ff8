/* SPDX-License-Identifier: GPL-2.0-only */
/* The threads of rt-app, and the processes that they are of where a replay has several. */
#ifndef RT_APP_THREAD_H
#define RT_APP_THREAD_H

#include "rt-app.h"

struct run;

/* One that a replay's task began, for itself and its threads. */
struct process {
	int		id;			/* of the recording */
	unsigned int	threads;		/* that have not ended */
};

struct thread {
	struct rt_log	log;
	struct rt_task	*task;
	struct run	*run;
	struct wl_task	*handle;
	struct process	*process;		/* NULL: the run's own */
	int		leads;			/* it began its process */
	struct thread	*starter;		/* of the process that it began; NULL: the run's main */
	struct thread	*ended, *next_ended;	/* processes that it started and has not waited for */
	int		nr_ended;
	int		reaped;			/* it was waited for */
	struct wl_mutex	lock;			/* of these */
	unsigned long long first;		/* where timers begin */
	struct rt_timer	*timer;			/* its own */
	struct wl_region *buffer;		/* mem */
	struct wl_sched	sched;
	const struct rt_sched *in_force;
	const char	*cpus, *group;
	int		node;
	struct rt_replay replay;
};

struct run {
	struct rt_app	*app;
	unsigned long long began, zero;
	unsigned int	work;			/* ns in 1024 of its ns, on the reference CPU */
	unsigned int	over;
	unsigned int	threads;		/* that have not ended, of all processes */
	struct wl_barrier start;
	struct wl_mutex	lock;			/* of the app's logs */
	int		nr_threads;
};

void rt_thread_main(void *thread);			/* rt-app.c */

/* rt-app-process.c */
void rt_launch(struct thread *t, struct thread *by);	/* by: NULL: the run's main */
void rt_end(struct thread *t);				/* of a run of several processes */
void rt_reap(struct thread *t, int most);		/* if more than so many wait for it */
void rt_join(struct thread *t, struct rt_task *task);	/* waits for the end of a replay's task */
void rt_wait_for_processes(struct run *run);

#endif
