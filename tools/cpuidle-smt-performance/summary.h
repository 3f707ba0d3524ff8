/* SPDX-License-Identifier: GPL-2.0-only */
/* The figures of a finished experiment, over all irritators. */
#ifndef SUMMARY_H
#define SUMMARY_H

#include "experiment.h"

/* An idle state over the irritators' CPUs: sums, and the share of one CPU's time. */
struct state_sum {
	struct idle_state sum;
	int cpus;			/* that have it */
};

struct summary {
	double throughput;		/* Mops/s */
	struct histogram wakeup, sleep;
	uint64_t wakes, late, lost;
	double period;			/* ns from one round of wakes to the next, as it was */
	int nr_states;
	struct state_sum *state;	/* by name, in the order of the first CPU that has it */
};

/* Fails where nothing was measured. */
struct summary summarise(const struct experiment *x);

/* Part of the time between the two readings, in percent. */
double idle_percent(const struct experiment *x, double us);

#endif
