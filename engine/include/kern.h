/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel on the simulated hardware, for what runs a scenario on it.  engine/kernel/ uses
 * hw.h only; it notifies the floor above through handlers that are installed at boot.
 */
#ifndef KERN_H
#define KERN_H

#include "hw.h"

/* ------------------------------------------------------------------ tasks */

/*
 * What tasks touch all the time, in base pages: shared by a process, of a forked child, of a
 * thread.
 */
struct kern_touched {
	unsigned int	process, child, thread;
	unsigned long	stack;			/* bytes of a thread's mapping */
};

/* A program's task; kernel threads have one too. */
struct kern_task {
	union {
		struct hw_task hw;
		struct hw_task;
	};
	void		*kernel;		/* struct task_struct while it lives */
	void		(*main)(struct kern_task *);
	struct kern_touched touched;
	unsigned int	thread; /* its id while it lives, 0: a process; joined by futex */
	enum { KERN_ALIVE, KERN_KILLED, KERN_DYING } killed;
	int		zombie;
	struct kern_task *next_zombie;
	simtime		born, died, runtime;
};

static inline struct kern_task *kern_task_of(struct hw_task *task)
{
	return (struct kern_task *)task;
}

/* ------------------------------------------------------------------ boot */

/* A tracepoint of the kernel; the linker collects them. */
struct kern_tracepoint {
	const char	*system, *name;
	unsigned long	count;
	void		*probe;		/* ours, always called */
	void		*emit;		/* prints it into the trace */
	int		enabled;	/* printing asked for */
} __attribute__((aligned(64))); /* an array in its section, whatever the compiler aligns to */
extern struct kern_tracepoint __start_kern_tracepoints[], __stop_kern_tracepoints[];
/*
 * Those that some code raises, one or more times each: a header may have more, of files that are
 * not linked.
 */
extern struct kern_tracepoint *const __start_kern_raised[], *const __stop_kern_raised[];

/* What the kernel calls in the floor above. */
struct kern_handlers {
	void (*task_exits)(struct kern_task *task);	/* of a program */
	void (*task_released)(struct kern_task *task);	/* the kernel has let go of it */
	void (*no_memory)(int node) __hw_noreturn;	/* on that node; -1: on none */
	void (*traced)(const struct kern_tracepoint *tp, const char *flags, const char *text,
		       unsigned long len); /* flags: ftrace's four letters on the context */
};

/* As on the command line, before kern_boot(): sched_verbose, isolcpus=, nohz_full= */
void kern_show_domains(void);
#define KERN_ISOLCPUS 4096		/* of the list, with its end */
void kern_isolate(const char *isolated, const char *tickless);	/* NULL: none */
int kern_has_nohz_full(void);
/* Init runs as pid 1. */
void kern_boot(struct kern_task *init, const struct kern_handlers *handlers);

/* ------------------------------------------------------------------ files and groups */

int kern_write_file(const char *path, const char *value);	/* 0 or -errno */
long kern_read_file(const char *path, char *buf, unsigned long size);
/* -ENOENT: unknown. */
int kern_file_range(const char *path, long long *min, unsigned long long *max);
void kern_list_files(void (*file)(const char *path, int writable));
int kern_cgroup_create(const char *path, int cpuset);	/* with a cpuset of its own */
int kern_cgroup_write(const char *path, const char *file, const char *value);
long kern_cgroup_read(const char *path, const char *file, char *buf, unsigned long size);
void kern_list_cgroup_files(void (*file)(const char *name, int writable));
int kern_has_cpusets(void);
int kern_cpu_list(const char *list, char *buf, unsigned long size);	/* as files show it */
int kern_cgroup_attach(struct kern_task *task, const char *path);
void kern_setsid(void);			/* what the caller forks from now on is a session */

/* ------------------------------------------------ sched_ext: schedulers linked into the program */

/*
 * The one that is spoken of below: 0 is the root, others are its sub-schedulers, each of a group.
 * Its file; NULL: there is none of that number.
 */
const char *kern_scx_choose(unsigned int nr, const char *group);
int kern_scx_has_subs(void);		/* this kernel */
void kern_scx_set_up(void);		/* as its own program does, before others set tunables */
/* Before it is loaded; -ENOENT: it has none of that name, -EISDIR: that is a structure. */
int kern_scx_set(const char *tunable, const char *value);
void kern_scx_get(const char *tunable, char *buf, unsigned long size);
void kern_scx_list(void (*tunable)(const char *name));
int kern_scx_load(void);		/* by a task, in simulated time: 0 or -errno */
int kern_scx_is_loaded(void);
const char *kern_scx_refused(void);
void kern_scx_unload(void);		/* asked for from outside, done by a kworker */
void kern_scx_look(void);		/* now and then: at whether its watchdog looks */
const char *kern_scx_name(void);	/* under which the kernel runs the root, NULL: it does not */

/* -------------------------------------------------------------- what it has counted, and checks */

/* Core scheduling: siblings that ran tasks of two cookies for a moment. */
struct kern_core_sched {
	simtime		mixed_ns, longest_ns;
};
extern struct kern_core_sched kern_core_stats;
unsigned long kern_core_cookie(void);
void kern_core_sched(unsigned long cookie);	/* of the caller; 0: a new one */
simtime kern_forced_idle(void);			/* ns of all CPUs since boot */
void kern_isolated(char *buf, unsigned long size);	/* CPUs without domains, by isolcpus */
void kern_tickless(char *buf, unsigned long size);	/* by nohz_full */
int kern_defers_rearming(void);
int kern_psi_option(const char *value);	/* psi=, before boot: -EOPNOTSUPP without CONFIG_PSI */
int kern_has_psi(void);
void kern_check(void);			/* invariants of CPUs and tasks */
extern int kern_highest_cid;		/* of all threads that ran, with SCHED_MM_CID; else -1 */
void kern_start_housekeeping(simtime period, simtime takes);	/* a work in every CPU's kworker */
void kern_spread_balance(void);		/* phases of a machine that has been up for a while */
void kern_collect(struct kern_task *task);
/* The CPU it is queued at, -1: it runs or sleeps. */
int kern_waits_for(const struct kern_task *task);
void kern_print_domain(int cpu, int level, char *buf, unsigned long size); /* span and groups */

/* /proc/vmstat's counters of NUMA balancing, ended by one without name. */
struct kern_vm_counter {
	const char	*name;
	unsigned long	count;
};
extern struct kern_vm_counter kern_vm_counters[];

/* Sums over all CPUs since boot, from the kernel's own counters. */
struct kern_balance {
	char		name[16];
	unsigned long	calls[3], pulls[3];	/* busy, idle, newly idle */
};
/*
 * Newidle balancing in the measured time: how often it began, why it left at once, how often it
 * found a task.
 */
struct kern_newidle {
	unsigned long	entries;
	unsigned long	pending;		/* a wakeup was on its way to the CPU */
	unsigned long	calm;			/* no CPU of the root domain had a task to spare */
	unsigned long	brief; /* avg_idle was less than the lowest domain's max_newidle_lb_cost */
	unsigned long	found;
	simtime		avg_idle;		/* sum of what it was at each entry */
};
extern struct kern_newidle kern_newidle;
struct kern_idle {				/* of a CPU's idle state, as in sysfs */
	unsigned long	usage, above, below, rejected;
	simtime		time_ns;
};
#define KERN_MAX_DOMAINS 16			/* different names; the last one is always empty */
int kern_counts_balance(void);
void kern_balance_stats(struct kern_balance stats[KERN_MAX_DOMAINS]);
void kern_idle_stats(int cpu, int state, struct kern_idle *stats);
extern const int kern_hz;
extern const char kern_release[];

/* ------------------------------------------------------------------ the slow state */

#define KERN_ROUNDS	2 /* so often a domain is to be balanced under the load */
#define KERN_HALF_LIVES	10 /* of a load average, until nothing is left of what was */

struct kern_domain {				/* of one level, all its spans and CPUs together */
	char		name[16];
	int		level, is_llc, weight;
	int		spans, gone_round;	/* how many there are, and were balanced so often */
	simtime		busy_interval;		/* the longest between two balances by a busy CPU */
	simtime		newidle_cost;		/* sum of max_newidle_lb_cost */
	/* CPUs whose avg_idle is less than that: they do not balance here. */
	int		too_dear;
};
struct kern_slow_state {			/* sums over CPUs and groups */
	struct kern_domain domain[KERN_MAX_DOMAINS];
	unsigned long	utilisation, load;	/* of the root */
	unsigned long	group_load;		/* tg->load_avg of all others */
	int		llcs, idle_scan;	/* nr_idle_scan, where SIS_UTIL is on */
};
extern const simtime kern_load_half_life;
void kern_look(struct kern_slow_state *state);
void kern_load_begins(void);
void kern_averages_are_built(void);
int kern_numa_scans(const struct kern_task *task);	/* -1: NUMA balancing leaves it alone */
void kern_wind_scan(struct kern_task *task, simtime ran);
simtime kern_longest_scan_period(void);		/* 0: NUMA balancing is off */
void kern_wind_balance(simtime within);
void kern_spread_busy_balance(void);

/* ------------------------------------------------------------------ what programs call */

struct kern_attr {
	int		policy;			/* SCHED_* */
	int		nice;
	int		rt_priority;
	simtime		dl_runtime;		/* of fair tasks their slice, 0: the usual one */
	simtime		dl_deadline, dl_period;
	int		uclamp_min, uclamp_max;	/* -1: not set */
};

enum { KERN_THREAD = 1 };			/* shares the parent's address space */

int kern_fork(struct kern_task *child, unsigned int flags);
void kern_exec(void);
void kern_begin_here(void); /* as kern_exec() for the CPUs it may run on, at no cost */
int kern_bounds_cids(void);
void kern_exit(void) __hw_noreturn;
struct kern_task *kern_wait_child(struct kern_task *which);		/* NULL: any */
void kern_kill(struct kern_task *task);
int kern_is_blocked(const struct kern_task *task);
void kern_sync(void);				/* the others have come up to the caller's time */
void kern_syscall(struct hw_line *count);	/* changes this count of users, or nothing */
void kern_run(simtime ns);
void kern_run_clock(simtime ns);
void kern_sleep(simtime ns);
simtime kern_sleep_until(simtime t);
/* Until a device has done what it was asked for; the CPU is at it for a part of the time. */
void kern_device_wait(simtime ns, simtime work);
void kern_yield(void);
int kern_setattr(struct kern_task *task, const struct kern_attr *attr);
struct kern_setup {
	int		nice, policy, rt_priority, uclamp_min, uclamp_max;
	char		cpus[4096];	/* that it may run on, as a list */
};
int kern_get_setup(const struct kern_task *task, struct kern_setup *setup);
int kern_has_slices(void);		/* sched_setattr() takes them of fair tasks */
int kern_setaffinity(struct kern_task *task, const unsigned long *mask, unsigned int bits);
int kern_cpu_down(int cpu);
int kern_cpu_up(int cpu);
simtime kern_now(void);

struct kern_pipe;
struct kern_pipe *kern_pipe_create(void);
/* A read takes what one write wrote; 0: the usual size. */
struct kern_pipe *kern_packet_pipe_create(unsigned int bytes);
void kern_pipe_write(struct kern_pipe *pipe, unsigned int bytes);
int kern_pipe_read(struct kern_pipe *pipe, unsigned int bytes);	/* what is there */

struct kern_socket;				/* one direction of a connection */
struct kern_socket *kern_socket_create(enum hw_protocol protocol);
void kern_socket_send(struct kern_socket *sock, unsigned int bytes);
/* What is there; 0: closed, empty. */
int kern_socket_receive(struct kern_socket *sock, unsigned int bytes);
int kern_socket_look(struct kern_socket *sock, unsigned int bytes);
void kern_socket_close(struct kern_socket *sock);

/* A TCP connection as it is made; the two directions come from kern_socket_create(). */
struct kern_connection {
	struct kern_connection *next;
	struct kern_socket *there, *back;
	void *note;				/* the caller's */
};
struct kern_listener;
struct kern_listener *kern_listen(void);
void kern_connect(struct kern_listener *listener, struct kern_connection *connection);
struct kern_connection *kern_accept(struct kern_listener *listener);

struct kern_pollable {				/* one of the two */
	struct kern_pipe *pipe;
	struct kern_socket *socket, *out;	/* out: where it can be written to */
};
int kern_poll(const struct kern_pollable *set, int nr, simtime timeout);

struct kern_watch;				/* epoll */
struct kern_watch *kern_watch_create(void);
struct kern_watched;				/* one of those it watches */
enum kern_event { KERN_READABLE = 1, KERN_WRITABLE = 2 };
/* Readable; once: after each time it is found so, not again before kern_watch_again() */
struct kern_watched *kern_watch_add(struct kern_watch *watch, const struct kern_pollable *what, void *data,
				    int once);
void kern_watch_again(struct kern_watched *watched);
void kern_watch_for(struct kern_watched *watched, unsigned int events);
void kern_watch_drop(struct kern_watched *watched);
void kern_watch_return(struct kern_watched *watched, unsigned int events);	/* one that was dropped */
/* The data of as many as are ready, at most `most`; how many: 0: timed out. */
int kern_watch_wait(struct kern_watch *watch, void **data, int most, simtime timeout);

int kern_futex_wait(const unsigned int *word, unsigned int value, simtime timeout);
void kern_futex_wait_end(const unsigned int *thread, unsigned int id);
int kern_futex_wake(const unsigned int *word, int nr);
void kern_futex_forget(const unsigned int *word);

struct kern_mutex;				/* of the kernel's own, which a system call holds */
struct kern_mutex *kern_mutex_create(const char *name);
/* held: in a call that holds another one already */
void kern_mutex_take(struct kern_mutex *mutex, int held);
void kern_mutex_give(struct kern_mutex *mutex, int held);
void kern_work(simtime ns);			/* in that call */
void kern_work_sleep(simtime ns);

struct kern_region; /* of the calling process and its threads; shared: of later children too */
struct kern_region *kern_region_create(unsigned long bytes, int shared); /* no page is there yet */
void kern_region_bind(struct kern_region *region, int node);	/* -1: over all nodes in turn */
/* Takes the faults; returns how many bytes from offset on are on one node, which *node is. */
unsigned long kern_touch(struct kern_region *region, unsigned long offset, unsigned long bytes, int *node);
/* Takes the fault, if there is one. */
void kern_touch_line(struct kern_region *region, unsigned long offset);
/* An address space whose pages are all there. */
struct kern_region *kern_memory_create(unsigned long bytes, int huge, int node);
void kern_working_set(struct kern_region *region, unsigned long offset, unsigned long bytes);
void kern_memory_use(struct kern_region *region);

#endif
