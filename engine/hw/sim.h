/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the sim side share. */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include <stdint.h>
#include <stdio.h>
#include <jansson.h>
#include "engine_if.h"

#define MSEC	1000000ULL
#define SEC	1000000000ULL

/* cpu.c */
enum cpu_state { CPU_OFF, CPU_KERNEL, CPU_USER, CPU_HALT, CPU_POLL, CPU_CHANGE };

/* The first line is what a change of CPUs needs, the next what a stop in user mode or idle does. */
struct cpu {
	void		*sp, *current_task;
	simtime		clk;			/* when it stopped */
	simtime		irq_due;		/* the first of the vectors that interrupt */
	struct copy	*copies;		/* cache_copies() of this CPU */
	unsigned int	slowdown;		/* of kernel code, 1024 = none */
	int		held;
	unsigned int	irq_on;
	enum cpu_state	state;
	int		id;
	unsigned int	rate;			/* user work per ns, 65536 = nominal */
	simtime		resume;			/* user work done, or kernel wait over */
	simtime		since;			/* user work counted up to here */
	simtime		mark;			/* time accounted up to here */
	struct sim_task	*task;
	simtime		vector[SIM_NR_VECTORS];	/* arrival, or SIM_NEVER */
	simtime		user_ns, kernel_ns, idle_ns, off_ns;
	enum sim_entry	entry;
	unsigned int	share;			/* of the core, beside its siblings */
	unsigned int	traffic;		/* MB/s its task wants of a node's memory */
	int		traffic_node;
	simtime		started;
} __attribute__((aligned(64)));
extern struct cpu cpus[SIM_MAX_CPUS];
extern unsigned long sim_events;
static inline struct sim_task *self(void)	/* of the running CPU; NULL: before its first switch */
{
	return cpus[sim.cpu].task;
}
void cpu_init(void);
void cpu_update_rate(int cpu);
extern simtime kernel_by_entry[SIM_NR_ENTRIES];
void cpu_settle_accounts(void);
void cpu_run(simtime t);
void cpu_ask_control(simtime t);	/* of a CPU: the engine's own loop runs at t, or before */
void *cpu_resumer(int *cpu);		/* stack of who gave the host; cpu -1: the engine's loop */

/* speed.c */
unsigned int speed_of(const struct cpu *c, const struct sim_task *task);
void speed_cpu_changed(int cpu);
void speed_siblings_changed(int cpu);
void speed_task_starts(struct cpu *c);
void speed_task_stops(struct cpu *c);

/* fabric.c */
void fabric_read(json_t *obj);
void fabric_pass(int owner, unsigned int lines);	/* lines come from there to the running CPU */
extern simtime fabric_wait_ns;

/* background.c */
void background_read(json_t *obj);
void background_start(void);

/* boost.c */
void boost_read(json_t *obj);		/* of the machine file, when its CPUs are known */
void boost_thread(int cpu);		/* its state may have changed */
void boost_look(int cpu);

/* thermal.c */
void thermal_read(json_t *zone);		/* of the machine file, when its CPUs are known */
void thermal_count(void);		/* up to now, at the present frequencies */

/* memory.c */
void memory_init(void);

/* cache.c */
void cache_init(void);
struct copy {				/* what an LLC has of a runqueue */
	unsigned int	version;		/* + 1 */
	sim_lines	lines;
};
struct copy *cache_copies(int cpu);	/* of the CPU's LLC, by runqueue */
extern struct copy *copies_here;	/* those of the running CPU */
struct grain {				/* of a region: what an LLC has of it */
	unsigned int	from, to;
	int		llc;			/* number + 1 */
	unsigned long	seen;
	struct grain	*next;			/* another LLC's copy */
};
/* Takes bytes into the running CPU's LLC; gives how many of them it had not, to write them to itself. */
unsigned long cache_fill(struct grain *grain, unsigned int from, unsigned int to, int write);
struct sim_line *cache_user_line(const void *addr);	/* of any memory */
void cache_scatter(struct sim_line *line, unsigned int stores);
extern unsigned long cache_lookups, cache_misses, lock_waits, lock_refusals, hot_waits, hot_retries;
extern simtime lock_wait_ns, hot_wait_ns, refill_ns;
extern unsigned long spins, catch_ups;

/* machine.c */
struct machine {
	const char	*name, *title;
	unsigned int	l2_kb, llc_kb;
	unsigned int	smt_speed[8];		/* by busy siblings, 65536 = alone */
	unsigned int	smt_polling;		/* a polling sibling counts as this much of a busy one */
	unsigned int	bandwidth_mbs[SIM_MAX_NODES];
	unsigned int	thread_bandwidth_mbs, cache_bandwidth_mbs;
	unsigned int	frequency[SIM_MAX_CPUS];	/* at present, 1024 = highest */
	const char	*session;		/* cgroup of what pid 1 starts, NULL: the root */
	unsigned int	core_khz;		/* the highest there is */
	unsigned int	cpu_speed[SIM_MAX_CPUS];	/* of plain work, 65536 = fastest */
	int		siblings[SIM_MAX_CPUS][8], nr_siblings[SIM_MAX_CPUS];
	simtime		catch_up_ns, spin_ns;
};
extern struct machine machine;
void machine_read(const char *path);
void figures_read(json_t *work);	/* calls/figures.c: what programs take on this machine */

/* scenario.c */
void scenario_read(const char *path);
extern struct scenario scenario;

/* launch.c */
void scenario_main(struct sim_task *init);

/* task.c */
/* A new child of the calling task.  number < 0: named as given; -2: a thread. */
struct sim_task *task_launch(const char *comm, int number, void (*main)(struct sim_task *), void *arg);
void task_free(struct sim_task *task);	/* unless its results are asked for */
void task_forget(struct sim_task *task);	/* who waited for its end is done with it */
extern struct sim_task *all_tasks;
extern unsigned long tasks_started;

/* results.c */
void results_window_begin(void);
void results_write(const char *path, const char *status, double wall, double cpu);
extern unsigned long long results_hash;

/* rng.c */
void rng_seed(uint64_t seed);
uint64_t rng_next(uint64_t *state);

/* fail.c */
void fail_init(double host_seconds);
extern int verbose;

/* usage.c */
void usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

/* symbols.c */
const char *symbol_of(const void *addr, unsigned long *offset);	/* NULL: none */

#endif
