/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The calls a workload may make.  The same source runs in the simulator (coroutines on
 * simulated CPUs, through the kernel's own wait, wake, fork and exit paths) and on a host
 * (real processes, threads, pipes, sockets and futexes).  calls/ has each call for both.
 *
 * A WORKLOAD() has a table of options and a main function, which is its first task.  It keeps no
 * global state: what its tasks share lies in memory from wl_alloc(), and each gets its place in it
 * as its argument.  When main returns, all tasks of the workload that still live are ended.
 *
 * Times are nanoseconds, amounts of memory bytes.  A call that fails ends the run with
 * a message; no call returns an error the caller would have to check.
 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include <stddef.h>
#include "figures.h"		/* made of figures.toml */

#define WL_USEC		1000ULL
#define WL_MSEC		1000000ULL
#define WL_SEC		1000000000ULL
#define WL_NEVER	(~0ULL)

/* ------------------------------------------------------------------ what a workload is */

enum wl_kind {
	WL_COUNT,		/* a whole number */
	WL_FLAG,		/* given or not */
	WL_TIME,		/* "1.5us", on a command line also plain seconds */
	WL_SIZE,		/* bytes: "64KiB" */
	WL_FRACTION,		/* "0.95", in millionths */
	WL_WORD,		/* one of `words` */
	WL_TEXT,		/* a list */
	WL_PATH, /* a file or folder; in a scenario, seen from the scenario's folder */
};

struct wl_option {
	const char	*name;		/* as the original calls it */
	char		letter;		/* the original's short form, or 0 */
	enum wl_kind	kind;
	long long	standard;	/* when not given; WL_WORD: index into words */
	long long	min, max;
	const char	*words;		/* "mutex|spin" */
	const char	*help;
};

/*
 * Memory all tasks of a program touch as they work, beside its regions, in pages of 4 KiB: data and
 * heap of a process, what of it a forked child has copied, stack and thread-local data of a thread.
 * Measured as pages that are private, dirty and referenced within a second
 * (docs/studies/numa-balancing.md).
 */
struct wl_working_set {
	unsigned int	process, child, thread;
	unsigned long	stack;			/* bytes mapped for a thread's stack */
};

struct workload {
	const char	*name;
	const char	*summary;	/* one line */
	const char	*original;	/* the program whose structure it has, with its version */
	const struct wl_option *options;	/* ended by an empty one */
	void		*(*prepare)(void);	/* reads files before anything starts; or NULL */
	void		(*main)(void);
	void		(*finish)(void *prepared);	/* writes files when all is over; or NULL */
	struct wl_working_set working_set;
};

/* Defines a workload; the linker gathers all of them. */
#define WORKLOAD(name) \
	static const struct workload name##_workload; \
	static const struct workload *const name##_listed \
		__attribute__((used, section("workloads"))) = &name##_workload; \
	static const struct workload name##_workload

/* Values of the running workload's options. */
long long wl_option(const char *name);
const char *wl_text(const char *name);		/* WL_WORD, WL_TEXT, WL_PATH; "" when not given */

/* What prepare() returned.  It and finish() have the C library, but neither tasks nor time. */
void *wl_prepared(void);

/* Bad combination of options: one message, nothing has been started. */
void wl_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* ------------------------------------------------------------------ the machine */

int wl_cpus(void);			/* online */
int wl_llcs(void);
int wl_nodes(void);

/* Allows the calling task these CPUs only; children inherit it. */
void wl_pin_cpus(int first, int count);		/* by number */
void wl_pin_llcs(int first, int count);		/* LLCs in the order of their first CPUs */
void wl_pin_list(const char *list);		/* "0-3,8" */
/* Moves the calling task to a CPU, if it may run there; it may go elsewhere afterwards. */
void wl_move_to(int cpu);
int wl_cpu(void);				/* where the caller runs now */
int wl_capacity(int cpu);			/* 1024 = the biggest */
int wl_speed(int cpu); /* of plain work at its highest frequency; 1024 = the fastest */

/* Idle states as the kernel's cpuidle counts them; none where the machine has none. */
struct wl_idle { unsigned long long usage, time; };	/* entries, ns */
int wl_idle_states(void);
const char *wl_idle_name(int state);
void wl_idle_read(int cpu, int state, struct wl_idle *idle);

/* ------------------------------------------------------------------ memory shared by all tasks */

void *wl_alloc(unsigned long bytes);		/* zeroed; lives as long as the workload */
#define wl_new(type, n)		((type *)wl_alloc(sizeof(type) * (unsigned long)(n)))

/* One word that several tasks change: costs what moving its cache line costs. */
unsigned int wl_load(const unsigned int *word);
void wl_store(unsigned int *word, unsigned int value);
unsigned int wl_add(unsigned int *word, int n);			/* returns the value before */
unsigned int wl_exchange(unsigned int *word, unsigned int value); /* returns the value before */
int wl_replace(unsigned int *word, unsigned int expected, unsigned int value);	/* 1: it was */
/*
 * So many stores all over a small block, a power of two, each to another line than the one before.
 */
void wl_scatter(void *block, unsigned long bytes, unsigned int stores);

/* ------------------------------------------------------------------ tasks */

struct wl_task;

struct wl_task *wl_fork(const char *name, void (*fn)(void *), void *arg);
struct wl_task *wl_thread(const char *name, void (*fn)(void *), void *arg);
void wl_join(struct wl_task *task);		/* waitpid(), pthread_join() */
int wl_wait(void);				/* any child process: 1, or 0 when there is none */
void wl_exec(void (*fn)(void *), void *arg) __attribute__((noreturn)); /* the program anew, at fn */
void wl_exit(void) __attribute__((noreturn));

enum wl_policy { WL_NORMAL, WL_BATCH, WL_IDLE, WL_FIFO, WL_RR, WL_DEADLINE };

struct wl_sched {
	enum wl_policy	policy;
	int		nice;
	int		priority;			/* FIFO, RR */
	unsigned long long runtime;			/* DEADLINE; NORMAL and BATCH: the slice, 0: the kernel's */
	unsigned long long deadline, period;		/* DEADLINE */
	int		util_min, util_max;		/* 0..1024, -1: as it is */
};
void wl_sched(const struct wl_sched *sched);	/* of the calling task */
void wl_group(const char *path);		/* into this task group, made when absent */

/* ------------------------------------------------------------------ time and work */

unsigned long long wl_now(void);		/* costs what reading the clock costs */
void wl_alarm(unsigned long long ns);		/* of the calling process: a signal after so long */
int wl_alarm_rang(void);			/* looks at no clock */
/* Plain work of so many cycles: what a program's own code is. */
void wl_cycles(unsigned long long n);
/* Work as long as it takes the fastest CPU, alone: what is set as a time. */
void wl_run(unsigned long long ns);
void wl_divide(unsigned long long n);		/* so many integer divisions, one after another */
void wl_spin(unsigned long long ns);		/* until the clock has moved so far */
void wl_relax(void);				/* one turn of a loop that waits for a word */
void wl_sleep(unsigned long long ns);
void wl_sleep_until(unsigned long long time);
void wl_yield(void);
void wl_syscall(void);				/* one that does nothing */
void wl_footprint(unsigned long bytes);		/* the caller's work goes over so much memory */

/*
 * What a workload's program does for itself, by figures.toml, which says where each figure comes
 * from; simulated, the machine's ledger has them, and a run may draw them from their ranges.
 */
enum wl_figure {
	WL_NOTHING,
#define WL_ENTRY(workload, figure, value)	WL_##workload##_##figure,
	WL_FIGURES(WL_ENTRY)
#undef WL_ENTRY
	WL_NR_FIGURES
};
/* As it stands there: cycles, a count, or ns of a time. */
unsigned long long wl_figure(enum wl_figure figure);
#define wl_work(figure)		wl_cycles(wl_figure(figure))
#define wl_work_about(figure)	wl_cycles_about(wl_figure(figure))

/* ------------------------------------------------------------------ a disk */

/*
 * A log on disk, made before the processes that share it.  A flush writes a block and waits for it,
 * as pwrite() and fdatasync() do; simulated it takes `flush`, a time, and of that the CPU `work`.
 */
struct wl_log;
struct wl_log *wl_log(enum wl_figure flush, enum wl_figure work);
void wl_flush(struct wl_log *log);

/* ------------------------------------------------------------------ messages */

/* Pipes and socket pairs are made before the processes that use them. */
struct wl_pipe;
struct wl_pipe *wl_pipe(void);
/* O_DIRECT: a page for each message; 0: the usual size. */
struct wl_pipe *wl_packet_pipe(unsigned int bytes);
void wl_pipe_write(struct wl_pipe *pipe, unsigned int bytes);
void wl_pipe_read(struct wl_pipe *pipe, unsigned int bytes);	/* all of them */

struct wl_socket;
void wl_socketpair(struct wl_socket *end[2]);			/* unix, stream */
void wl_send(struct wl_socket *socket, unsigned int bytes);
int wl_receive(struct wl_socket *socket, unsigned int bytes); /* all of them; 0: closed and empty */
/* What is there, without waiting; 0: closed and empty; -1: there is nothing yet. */
int wl_receive_now(struct wl_socket *socket, unsigned int most);
void wl_close(struct wl_socket *socket); /* the other end reads to the end, then 0 */
void wl_drop(struct wl_socket *socket); /* by a process whose child goes on with it */

/*
 * Connections over loopback are made by who asks and accepted by who serves, each in its own
 * process.  A note goes with a TCP connection, free of charge.  Datagrams need no accepting: a UDP
 * listener has one client, and is that client's other end.
 */
enum wl_protocol { WL_TCP, WL_UDP };
struct wl_listener;
/* Used by its process, and its later children. */
struct wl_listener *wl_listen(enum wl_protocol protocol);
struct wl_socket *wl_connect(struct wl_listener *listener, void *note); /* from any process */
void *wl_accept(struct wl_listener *listener, struct wl_socket **socket); /* returns the note */

/* A file, made before the processes that share it. */
struct wl_file;
struct wl_file *wl_file(void);
void wl_dup(struct wl_file *file);	/* and close(): both change how many users it has */


/* Waits until one of them can be read: its index, or -1 after the timeout. */
struct wl_poll {
	struct wl_pipe	*pipe;			/* one of the two */
	struct wl_socket *socket;
};
int wl_poll(const struct wl_poll *set, int nr, unsigned long long timeout);

/* As epoll: what is watched stays so.  Made by the process that waits on it. */
struct wl_watch;
struct wl_watch *wl_watch(void);
struct wl_watched;
struct wl_watched *wl_watch_add(struct wl_watch *watch, const struct wl_poll *what, void *data);
void *wl_watch_wait(struct wl_watch *watch, unsigned long long timeout); /* data of one, or NULL */
#define WL_MOST_READABLE	64
/* Of all that can be read, at most so many, by one call: how many. */
int wl_watch_several(struct wl_watch *watch, void **data, int most, unsigned long long timeout);
/* What is waited for is changed: of a socket, whether it can be written to, as well or instead. */
enum { WL_READABLE = 1, WL_WRITABLE = 2 };
void wl_watch_for(struct wl_watched *watched, unsigned int events);
void wl_watch_drop(struct wl_watched *watched);
void wl_watch_return(struct wl_watched *watched, unsigned int events);	/* one that was dropped */
/* EPOLLONESHOT: found readable once, then not before wl_watch_again(). */
struct wl_watched *wl_watch_once(struct wl_watch *watch, const struct wl_poll *what, void *data);
void wl_watch_again(struct wl_watched *watched);

/* ------------------------------------------------------------------ waiting for each other */

/* As the system call: sleeps if *word is value; 0: timed out. */
int wl_futex_wait(unsigned int *word, unsigned int value, unsigned long long timeout);
int wl_futex_wake(unsigned int *word, int nr);	/* how many were woken */

/* As glibc makes them of futexes. */
struct wl_mutex { unsigned int word; struct wl_task *holder; };
void wl_lock(struct wl_mutex *mutex);
int wl_trylock(struct wl_mutex *mutex);			/* 1: it is the caller's */
void wl_unlock(struct wl_mutex *mutex);

struct wl_condition { unsigned int sequence, waiting; };
int wl_condition_wait(struct wl_condition *condition, struct wl_mutex *mutex,
		      unsigned long long timeout);		/* 0: timed out */
void wl_signal(struct wl_condition *condition);
void wl_broadcast(struct wl_condition *condition);

struct wl_barrier { unsigned int round, arrived, size; };
void wl_barrier_init(struct wl_barrier *barrier, unsigned int size);
void wl_barrier_wait(struct wl_barrier *barrier);

/* ------------------------------------------------------------------ memory with a place */

struct wl_region;
struct wl_region *wl_region(unsigned long bytes); /* of the calling process; no page is there yet */
/* And of the processes it forks later, and theirs. */
struct wl_region *wl_shared_region(unsigned long bytes);
void wl_bind(struct wl_region *region, int node); /* before the first touch; -1: interleaved */
enum wl_access { WL_READ, WL_WRITE };
void wl_working_set(struct wl_region *region, unsigned long offset,
		    unsigned long bytes);	/* the caller works on this part from now on */
void wl_touch(struct wl_region *region, unsigned long offset, unsigned long bytes,
	      enum wl_access access);	/* all of it, once, at memory's speed; of one
							   line its page matters, not its time */
enum wl_kernel { WL_COPY, WL_SCALE, WL_SUM, WL_TRIAD };
void wl_stream(enum wl_kernel kernel, struct wl_region *to, struct wl_region *from,
	       struct wl_region *from2, unsigned long offset, unsigned long bytes);

/* ------------------------------------------------------------------ chance, from the run's seed */

unsigned long long wl_random(void);
unsigned long long wl_uniform(unsigned long long low, unsigned long long high);	/* both included */
unsigned long long wl_exponential(unsigned long long mean);
void wl_cycles_about(unsigned long long n); /* wl_cycles(), give or take a quarter: data differ */

/* ------------------------------------------------------------------ results */

/*
 * 1 while the load is to go on without being measured, until the scheduler's slow state is that of
 * the load.  What began before then is forgotten.  On a host 0: a run there is long against it.
 */
int wl_warming(void);
int wl_warm_up(void);			/* sleeps until it is over; 0: it was */

void wl_begin(void);			/* the measured part */
void wl_end(void);
double wl_elapsed(void);		/* seconds from wl_begin() to wl_end(), or to now */

struct wl_histogram;
struct wl_histogram *wl_histogram(void);
void wl_record(struct wl_histogram *histogram, unsigned long long value); /* ns, or any number */
unsigned long wl_count(const struct wl_histogram *histogram);
double wl_mean(const struct wl_histogram *histogram);
unsigned long long wl_percentile(const struct wl_histogram *histogram, double percent);

void wl_result(const char *name, double value, const char *unit);
/* Mean, percentiles, max. */
void wl_result_latency(const char *name, const struct wl_histogram *histogram);

#endif
