/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What all processes of a native run share: one file in memory, mapped at the same
 * address in each of them, also after exec().
 */
#ifndef POSIX_ARENA_H
#define POSIX_ARENA_H

#include <pthread.h>
#include <sys/types.h>
#include "../calls/backend.h"
#include "../registry/registry.h"

#define MAX_CPUS	1024
#define ARENA_SIZE	(16UL << 30)		/* reserved, not used */

struct wl_task {
	char		name[16];
	pid_t		pid;
	pthread_t	thread;
	int		is_thread;
	void		(*fn)(void *);
	void		*arg;
	unsigned long long chance;
	/* for the supervisor */
	volatile int	alive;
	volatile unsigned int steps;	/* changes with every wait and its end */
	volatile long	waits_for;	/* see task_waits_for(); 0: for nothing */
	struct wl_task	*holder;
	struct wl_task	*next, *previous;
	unsigned long	footprint, position;
};

struct result {
	struct result	*next;
	char		name[80], unit[12];
	double		value;
};

struct arena {
	unsigned long	used;			/* bytes, this structure included */
	pthread_mutex_t	lock;
	struct wl_task	*tasks;			/* not yet joined */
	char		workload[40];
	long long	number[WL_MAX_OPTIONS];
	char		*text[WL_MAX_OPTIONS];
	unsigned long long seed;
	double		iterations_per_ns;
	int		cpus, llcs, nodes;
	short		llc_of[MAX_CPUS], capacity[MAX_CPUS];
	unsigned long long began, ended;
	int		done;
	void		*prepared;
	struct result	*results, *last_result;
	/* Of TCP connections not yet accepted, by the port they come from. */
	void		*notes[65536];
};

extern struct arena *arena;
extern const struct workload *running;
extern int arena_fd;

void arena_create(void);
void arena_attach(int fd);		/* after exec() */
void arena_read_machine(void);		/* calls/machine.c */

void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));	/* main.c */

/* calls/tasks.c */
const char *task_waits_for(const struct wl_task *task);		/* in any process of the run */
void task_begin_main(void (*fn)(void));
void task_resume(struct wl_task *task, long fn_offset) __attribute__((noreturn));

/* calls/work.c */
double work_measure(double seconds);	/* iterations a ns, the best of some tries */

#endif
