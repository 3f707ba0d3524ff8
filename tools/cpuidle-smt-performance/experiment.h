/* SPDX-License-Identifier: GPL-2.0-only */
/* The experiment: one workload, irritators that sleep, a waker that wakes them each period. */
#ifndef EXPERIMENT_H
#define EXPERIMENT_H

#include <stdint.h>
#include <sys/types.h>
#include "histogram.h"
#include "idle.h"
#include "options.h"

struct workload {
	pid_t tid;
	uint64_t operations, elapsed;		/* Fibonacci numbers; ns it took them */
};

struct irritator {
	int cpu;
	pid_t tid;
	int out, in; /* pipe of wakes: the sleeper's end, the waker's end */
	struct histogram wakeup, sleep;
	uint64_t late;				/* wakes that found it awake */
	uint64_t lost;				/* wakes for which the pipe had no room */
} __attribute__((aligned(128)));		/* written from two CPUs, shared with no other */

struct waker {
	pid_t tid;
	struct histogram lateness;		/* of each round of wakes against its time */
	uint64_t missed;			/* periods without a wake */
};

struct experiment {
	const struct options *options;
	bool lowest_class;			/* the workload runs as SCHED_IDLE */
	struct workload workload;
	struct irritator *irritator;		/* options->nr_irritators of them */
	struct waker waker;
	uint64_t begin, end;			/* of what counts; `end` moves when interrupted */
	int interrupted;			/* by this signal */
	int nr_idle_cpus;			/* CPUs of irritators, each once */
	int idle_cpu[MAX_IRRITATORS];
	struct idle_states idle[MAX_IRRITATORS];
	uint64_t idle_elapsed;			/* ns between the two readings of the idle states */
};

/* Creates the threads and says who runs where through `placed`, then measures. */
void run_experiment(struct experiment *x, void (*placed)(const struct experiment *x));

#endif
