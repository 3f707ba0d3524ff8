/* SPDX-License-Identifier: GPL-2.0-only */
/* A workload of the scenario: as read, while it runs, and what it has reported. */
#ifndef RUN_INSTANCE_H
#define RUN_INSTANCE_H

#include "run.h"
#include "../../workloads/registry/registry.h"

struct cookie;

struct instance {
	const char	*label, *group;
	const struct cookie *cookie;		/* of core scheduling, or NULL */
	simtime		start;
	unsigned long	affinity[HW_MAX_CPUS / 64];
	int		has_affinity;
	struct kern_attr attr; /* of its first task, which all others are forked from */
	int		has_attr;
	int		begins_as_all;		/* it is the scenario's for all workloads */
	struct wl_values values;
	int		measures;		/* its measured part is the scenario's window */
	void		*prepared;
	int		done;
	int		warms_up;		/* by itself: it asks whether it has to */
	simtime		began, ended;
	int		in_window;		/* the window is the measured part of its call */
	json_t		*results;		/* [{ name, value, unit }] */
};

struct instance *instance_running(void);	/* whose task, or hook, runs */
extern int instances_warm;			/* what they do counts from now on */
void instances_prepare(void);			/* before the run */
void instance_start(struct instance *instance);
int instances_running(void);			/* how many are not done */
void instances_finish(void);			/* after the run */
int instances_warmed_up(void); /* what they do counts; is a call's measured part under way? */
int cookie_of_each_process(const struct instance *instance);
void instances_check(void);			/* do all tasks of one wait for each other? */

#endif
