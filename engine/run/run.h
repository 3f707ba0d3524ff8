/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files that run a scenario share. */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include <stdint.h>
#include <stdio.h>
#include <jansson.h>
#include "hw.h"
#include "kern.h"

#define MSEC	1000000ULL
#define SEC	1000000000ULL

struct instance;

/* A task of the scenario's: of a program, or of a workload. */
struct task {
	union {
		struct kern_task kern;
		struct kern_task;
	};
	void		*arg;			/* of main() */
	int		is_thread, process;	/* the pid of its first task */
	struct kern_region *memory;		/* what its program touches */
	unsigned int	placed;			/* pid 1 has put it where it belongs; a futex */
	int		joined, released; /* nobody will ask for it again; the kernel has let go */
	/* as part of a workload (workloads/calls/) */
	struct instance	*instance;
	unsigned long long chance;		/* random state */
	simtime		alarm;
	const char	*waits_for;		/* NULL: for nothing that could keep it for ever */
	struct task	*waits_for_task;
	/* results */
	int		measured;
	unsigned long	ops;
	simtime		runtime_base, looked_runtime;
	int		wound_scans;		/* so many scans of its memory were asked for */
};

/* All that programs run in are tasks of the scenario's. */
static inline struct task *task_of(struct kern_task *task)
{
	return (struct task *)task;
}

static inline struct task *self(void)
{
	return (struct task *)hw_running_task();
}

#define for_each_task(t) \
	for (struct task *t = (struct task *)hw_first_task; t; t = (struct task *)t->next)

/* background.c */
void background_read(json_t *machine);
void background_start(void);

/* scenario.c */
void scenario_read(const char *path);
extern struct scenario scenario;

/* launch.c */
void scenario_main(struct kern_task *init);

/* task.c */
/* A new child of the calling task.  number < 0: named as given; -2: a thread. */
struct task *task_launch(const char *comm, int number, void (*main)(struct kern_task *), void *arg);
void task_belongs(struct task *task, struct instance *instance); /* from now on; NULL: to none */
void task_free(struct task *task);	/* unless its results are asked for */
void task_forget(struct task *task);		/* the task that waited for its end is done with it */
void task_released(struct kern_task *task);	/* the kernel has let go of it */
void task_no_memory(int node) __hw_noreturn;	/* for the running task; -1: on no node */
extern unsigned long tasks_started;

/* picture.c */
json_t *picture_json(void);		/* NULL: none was asked for */

/* results.c */
void results_window_begin(void);
json_t *results_json(const char *status, double wall, double cpu);
void results_write(json_t *results, const char *path);

#endif
