/* SPDX-License-Identifier: GPL-2.0-only */
/* The command line. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#define MAX_IRRITATORS	1024

struct options {
	int workload_cpu, waker_cpu;		/* -1: not given */
	int irritator_cpu[MAX_IRRITATORS], nr_irritators;
	uint64_t period, duration, warmup;	/* ns */
	bool sleeping_waker, from_last_wake, verbose, json, self_test;
};

/* Fails where the words make no sense. */
struct options read_options(int argc, char **argv);

#endif
