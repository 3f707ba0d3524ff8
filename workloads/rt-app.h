/* SPDX-License-Identifier: GPL-2.0-only */
/* What an rt-app file describes: tasks of phases of events, and the resources they share. */
#ifndef WORKLOADS_RT_APP_H
#define WORKLOADS_RT_APP_H

#include "workload.h"

enum rt_kind {
	RT_RUN, RT_RUNTIME, RT_SLEEP, RT_TIMER, RT_LOCK, RT_UNLOCK, RT_WAIT, RT_SIGNAL, RT_BROAD,
	RT_SYNC, RT_BARRIER, RT_SUSPEND, RT_RESUME, RT_YIELD, RT_MEM, RT_IORUN, RT_FORK,
	RT_REPLAY,
};

struct rt_timer {
	unsigned long long next;
	int		begun, relative;
};

enum rt_type { RT_MUTEX, RT_CONDITION, RT_SHARED_TIMER, RT_OWN_TIMER, RT_MEETING, RT_FORKS };

/*
 * Known by its type and name, to all tasks.  A timer whose name begins with "unique" is one
 * of the task's, and each of its threads has its own.
 */
struct rt_resource {
	struct rt_resource *next;
	enum rt_type	type;
	const char	*name;
	int		index;			/* own timers: which of the thread's */
	struct wl_mutex	mutex;
	struct wl_condition condition;
	struct rt_timer	timer;
	unsigned int	expected;		/* barrier: threads before the last */
	unsigned int	to_come;		/* those that have yet to come */
	unsigned int	forks;
};

struct rt_event {
	enum rt_kind	kind;
	unsigned long long us;			/* run, runtime, sleep; period of a timer */
	unsigned long	bytes;			/* mem, iorun */
	struct rt_resource *what, *mutex;
	struct rt_task	*child;
	int		nr_steps;
	struct rt_step	*step;			/* replay */
};

/* What a task or phase says of its scheduling; what it leaves out stays as it is. */
struct rt_sched {
	int		has_policy, has_priority, has_slice;
	struct wl_sched	wanted;
};

struct rt_place {
	const char	*cpus;			/* "0,2,3", or NULL */
	const char	*group;			/* or NULL */
	int		node;			/* memory is taken from here; -1: from anywhere */
};

struct rt_phase {
	int		loop;			/* times, -1: for ever */
	int		nr;
	struct rt_event	*event;
	struct rt_sched	sched;
	struct rt_place	place;
};

/* What came from outside at a time, and is to be answered. */
struct rt_request {
	unsigned long long born;		/* 0: there is none */
	struct rt_class	*class;
};

/* Those that wakes of a task or messages of a channel handed on, in their order. */
struct rt_queue {
	unsigned int	size;			/* places: the wakes or messages of the file */
	unsigned int	put, taken;		/* so far */
	struct rt_handed *handed;
};

struct rt_task {
	const char	*name;
	int		instances, loop;
	int		first_cpu;		/* where it was as its recording began; -1: not known */
	int		process;		/* of the recording; 0: that of whoever starts it */
	unsigned long long delay_us;
	struct rt_sched	sched;
	struct rt_place	place;
	int		nr_phases;
	struct rt_phase	*phase;
	struct rt_resource *timers;		/* one of each for every thread */
	int		nr_timers;
	int		line, meets;		/* meets: has a barrier among its events */
	long long	id;			/* what its name ends in, -1: no number */
	unsigned int	wakes, asleep;		/* of its replay: those to come; it waits for one */
	unsigned long long woken;		/* when the last of them came */
	struct rt_queue	requests;		/* of the wakes to come */
	struct rt_class	*class;			/* of requests that it begins; NULL: it does not replay */
	int		starts, joins;		/* by words of the file */
	void		*thread;		/* of its replay */
	unsigned int	over, awaited;		/* it has ended; somebody may wait for that */
	unsigned long long done;		/* ns of work so far, items included */
};

struct rt_app {
	int		duration;		/* seconds; 0: until all threads have ended */
	int		nr_tasks, nr_threads;
	struct rt_task	*task, **by_id;
	struct rt_channel *channels;		/* over which replays send messages */
	struct rt_message *message;		/* by their numbers, from 1 */
	int		nr_messages;
	int		replays;		/* has a replay among its events */
	int		processes;		/* has tasks that are of a process of their own */
	int		recorded_cpus;		/* of the machine of the recording; 0: not known */
	unsigned int	nr_locks, nr_gates, nr_barriers, nr_pools, nr_items;	/* each from 1 */
	struct rt_gate	*gate;
	struct wl_mutex	*lock;
	struct wl_barrier *barrier;
	unsigned int	*barrier_size;
	struct rt_pool	*pool;
	struct rt_item	*item;
	struct rt_class	*classes;
	unsigned long long work;		/* ns, of all words of replays */
	unsigned int	ended;			/* parts of it that ended tasks had */
	double		rate;			/* ns of work in a ns, until some ended; 0: none did */
	struct wl_histogram *answered;		/* ns from the beginning of a request to its end */
	struct wl_histogram *woken;		/* ns from a wake to the task's next step */
	struct rt_resource *resources;
	int		reference; /* CPU whose speed makes a us of work a us, -1: the fastest */
	int		ns_per_loop;		/* of rt-app's loop, the unit of perf */
	unsigned long	mem_buffer;
	const char	*io_device;
	int		cumulative_slack;
	const char	*log_basename;
	struct rt_log	*logs, *last_log;
};

/* One line of a log, for one time through a phase; us, but for perf. */
struct rt_row {
	long long	perf, run, period, start, end, since_begin, slack, configured_run,
			configured_period, wakeup;
};

#define RT_ROWS 256

struct rt_rows {
	struct rt_rows	*next;
	int		nr;
	struct rt_row	row[RT_ROWS];
};

struct rt_log {
	struct rt_log	*next;
	const struct rt_task *task;
	int		index;			/* of the thread */
	int		fork; /* which of its task's, -1: there from the beginning */
	struct rt_rows	*rows, *last;
};

struct rt_app *rt_app_read(const char *path);		/* rt-app-file.c; refuses what is wrong */
const char *rt_policy_name(enum wl_policy policy);	/* rt-app-sched.c */

/* rt-app-replay.c: what a thread knows as it replays. */
struct rt_replay {
	void		*thread;
	void		(*start)(void *thread, struct rt_task *task);
	void		(*join)(void *thread, struct rt_task *task);
	struct rt_app	*app;
	const unsigned int *over;
	unsigned long long began, next;		/* next: point of a grid */
	struct rt_request request;		/* that it has */
	int		handed_on;
};
/* What its tasks share, before any thread runs. */
void rt_replay_connect(struct rt_app *app);
void rt_replay_report(const struct rt_app *app);
void rt_replay(struct rt_replay *replay, struct rt_task *self, const struct rt_event *event);

/* rt-app-log.c */
void rt_log_row(struct rt_log *log, const struct rt_row *row);
void rt_log_finish(void *app);				/* writes the files, reports the results */

#endif
