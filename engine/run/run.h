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

static inline struct hw_task *self(void)
{
	return hw_running_task();
}

/* background.c */
void background_read(json_t *machine);
void background_start(void);

/* calls/figures.c */
void figures_read(json_t *machine);	/* what programs take on this machine */

/* calls/region.c */
void refuse_memory(int node) __hw_noreturn;	/* -1: on no node */

/* scenario.c */
void scenario_read(const char *path);
extern struct scenario scenario;

/* launch.c */
void scenario_main(struct hw_task *init);

/* task.c */
/* A new child of the calling task.  number < 0: named as given; -2: a thread. */
struct hw_task *task_launch(const char *comm, int number, void (*main)(struct hw_task *), void *arg);
void task_belongs(struct hw_task *task, struct instance *instance);	/* from now on; NULL: to none */
void task_free(struct hw_task *task);	/* unless its results are asked for */
void task_forget(struct hw_task *task);		/* who waited for its end is done with it */
void task_released(struct hw_task *task);	/* the kernel has let go of it */
extern unsigned long tasks_started;

/* results.c */
void results_window_begin(void);
void results_write(const char *path, const char *status, double wall, double cpu);

#endif
