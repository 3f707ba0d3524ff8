/* SPDX-License-Identifier: GPL-2.0-only */
/* A scenario as read: what to set, which tasks to run, what happens when. */
#ifndef RUN_SCENARIO_H
#define RUN_SCENARIO_H

#include "run.h"

#define CGROUPS	"/sys/fs/cgroup"

struct path;

enum phase_kind {
	PHASE_RUN, PHASE_SPIN, PHASE_SLEEP, PHASE_YIELD, PHASE_EXEC, PHASE_LOOP, PHASE_FORK,
	PHASE_PIPE_WRITE, PHASE_PIPE_READ, PHASE_SEND, PHASE_RECEIVE, PHASE_WAIT, PHASE_WAKE,
	PHASE_TOUCH, PHASE_HOLD,
};

struct phase {
	enum phase_kind	kind;
	simtime		min, max;		/* durations: uniform between them */
	unsigned long	count;			/* loop: times (0: for ever); wake: how many */
	unsigned int	bytes;
	unsigned long	offset, size;		/* of touched memory */
	void		*object;		/* pipe, socket, futex, mutex */
	struct program	*body;			/* loop, fork, hold */
};

struct program {
	int		nr;
	struct phase	*phase;
};

/* Of core scheduling: tasks that name one share it; `process`: each process has its own. */
struct cookie {
	const char	*name;
	unsigned long	value;			/* 0: a new one for each */
	struct cookie	*next;
};

#define EACH_PROCESS	"process"

struct task_spec {
	const char	*name;
	int		count;
	simtime		start, stagger;
	int		has_attr;
	struct kern_attr attr;
	unsigned long	affinity[HW_MAX_CPUS / 64];
	int		has_affinity;
	const char	*group;
	const struct cookie *cookie;
	unsigned int	footprint_kb, slow_ratio, memory_share;
	int		mm;			/* -1: none */
	struct program	program;
	unsigned long	loops;			/* of the whole program, 0: for ever */
};

enum action_kind { ACTION_OFFLINE, ACTION_ONLINE, ACTION_MOVE, ACTION_WRITE, ACTION_ATTR,
		   ACTION_AFFINITY };

struct action {
	simtime		at;
	enum action_kind kind;
	int		cpu;
	const char	*task, *group, *path, *value;
	struct kern_attr attr;
	unsigned long	affinity[HW_MAX_CPUS / 64];
	int		done;
};

struct group_file {
	const char	*name, *value;
};

struct group_spec {
	const char	*path;
	int		nr_files;
	int		has_cpuset;		/* one of them is the cpuset controller's */
	struct group_file file[8];
};

struct memory_spec {
	unsigned long	bytes;
	int		huge;			/* pages of 2 MiB */
	int		node;			/* -1: spread over all */
	struct kern_region *region;
};

struct scenario {
	simtime		duration, warmup, settle, max_simulated;
	int		until_settled;		/* warm-up ends when the state has settled */
	int		wind;			/* and its clocks are wound on meanwhile */
	double		max_host;
	const char	*isolcpus, *nohz_full;	/* or NULL */
	int		end_when_done;
	int		background;
	int		sets_psi;		/* psi= on the kernel's command line */
	json_t		*features, *knobs, *cpuidle, *cpufreq;
	const char	*scheduler; /* of sched_ext, its source's file; NULL: none is loaded */
	json_t		*sched_ext_tunables;
	json_t		*sub_schedulers;	/* by group, their sources' files */
	struct task_spec *tasks;
	struct instance	*workloads;
	struct action	*actions;
	struct group_spec *groups;
	struct memory_spec *memory;
	struct cookie	*cookies;
	const struct cookie *workloads_cookie;	/* of those that name none */
	const char	*workloads_group;	/* likewise */
	struct kern_attr workloads_attr;	/* likewise */
	const char	*workloads_policy;	/* that in words, or NULL */
	int		nr_memory;
	int		nr_tasks, nr_workloads, nr_actions, nr_groups;
};

/* scenario.c */
extern simtime origin;			/* simulated time 0 of the scenario */
int has_own_cpuset(const char *group);

/* program.c */
void program_read(json_t *list, const struct path *at, struct program *program);
void program_main(struct kern_task *task);
int waits_to_be_placed(const struct task_spec *spec);

/* launch.c */
void actions_check(void);		/* one that was to happen and did not ends the run */

/* settings.c: a value that is refused or reads back differently ends the run */
void settings_apply(void);
json_t *settings_json(void);		/* path -> text read after all were written */
void setting_write(const char *path, const char *value);
void group_write(const char *group, const char *file, const char *value);
void group_check(const char *group, const char *file, const char *value);
void partitions_check(void);		/* one that did not last ends the run */
void setting_check(const char *path, const char *value);

/* sched_ext.c */
void sched_ext_load(json_t *found); /* and set its tunables; found: what was set, as read back */
void sched_ext_load_below(void);	/* its sub-schedulers, when their groups are there */
int sched_ext_fails(void);		/* the kernel is taking it away, which will end the run */

/* refusal.c */
int would_divide_by_zero(const char *file, const char *value);
const char *takes(const char *file);
const char *refusal(const char *file, int err);

#endif
