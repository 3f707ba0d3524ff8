/* SPDX-License-Identifier: GPL-2.0-only */
/* What the files of the hardware share. */
#ifndef HW_INSIDE_H
#define HW_INSIDE_H

#include <stdint.h>
#include <stdio.h>
#include <jansson.h>
#include <ucontext.h>
#include "hw.h"

#define MSEC	1000000ULL
#define SEC	1000000000ULL

/* cpu.c */
/* User work per ns with one cause after another, 65536 = nominal. */
struct pace {
	unsigned int	capacity, frequency, sibling;
	unsigned int	all;			/* and with its memory: how fast it is */
};

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
	simtime		spins_from, spins_to;	/* without anything between */
	simtime		resume;			/* user work done, or kernel wait over */
	simtime		since;			/* user work counted up to here */
	simtime		mark;			/* time accounted up to here */
	simtime		ran_from;		/* its task's time counted up to here */
	simtime		pictured;		/* and in the picture */
	struct hw_task	*task, *spender; /* spender: the task if its time is accounted, else NULL */
	struct pace	pace;			/* of its user code */
	unsigned int	waited_rest;		/* of waits for lines, in REFILL_PARTS of a ns */
	unsigned int	spent_rest[4];		/* of the divisions of spent_in_user() */
	simtime		vector[HW_NR_VECTORS];	/* arrival, or HW_NEVER */
	simtime		user_ns, kernel_ns, idle_ns, off_ns;
	enum hw_entry	entry;
	unsigned int	share;			/* of the core, beside its siblings */
	unsigned int	traffic;		/* MB/s its task wants of a node's memory */
	int		traffic_node;
	simtime		started;
} __attribute__((aligned(64)));
extern struct cpu cpus[HW_MAX_CPUS];
extern unsigned long events;
void cpu_update_rate(int cpu);
void cpu_count_work(struct cpu *c);
simtime work_at_pace(struct cpu *c, simtime time);	/* time: in REFILL_PARTS of a ns */
void *cpu_resumer(int *cpu);		/* stack that resumed it; cpu -1: the engine's loop */

/* spent.c */
void spent_in_user(struct cpu *c);	/* up to now, at its present pace */
void spent_on_lines(struct cpu *c, simtime ns);	/* of that, before it is accounted */
void spent_begin_window(void);

/* refill.c */
#define REFILL_PARTS	100		/* of a ns, in which waits for lines are counted */
simtime refill_wait(struct hw_task *task);	/* ns that its work ahead takes longer */
simtime refill_work_in(struct cpu *c, simtime ns);	/* that its task gets done as lines come in */
void refill_work_done(struct cpu *c);

/* scheduler_code.c */
int in_scheduler(const void *ip);
int is_frozen(const void *at);
int calls_by_name(const void *last);	/* the last byte of a call: of a function, not by a pointer */
int divided_by_zero(ucontext_t *context);	/* by a scheduler: it goes on */
/* The text is empty where no scheduler is called. */
void scheduler_place(void **frame, const void *ip, char *text, size_t size);

/* speed.c */
void speed_read_smt(json_t *obj);	/* of the machine file, as what follows */
void speed_read_memory(json_t *obj);
struct pace speed_of(const struct cpu *c, const struct hw_task *task);
void speed_cpu_changed(int cpu);
void speed_siblings_changed(int cpu);
void speed_task_starts(struct cpu *c);
void speed_task_stops(struct cpu *c);

/* fabric.c */
void fabric_read(json_t *obj);
void fabric_pass(int owner, unsigned int lines); /* lines come from there to the running CPU */

/* boost.c */
void boost_read(json_t *obj);		/* of the machine file, when its CPUs are known */
void boost_thread(int cpu);		/* its state may have changed */
void boost_look(int cpu);

/* power.c: what the CPU does from now on */
void power_init(void);			/* when the machine was read */
void power_cpu_idle(int cpu, int state);
void power_cpu_changes(int cpu, int state);	/* into that idle state, or out of it */
void power_cpu_busy(int cpu);
void power_cpu_off(int cpu);
void power_frequency(int domain, unsigned int khz);

/* thermal.c */
void thermal_read(json_t *zone);		/* of the machine file, when its CPUs are known */
void thermal_count(void);		/* up to now */

/* cache.c */
void cache_read(json_t *sizes);
void cache_init(void);

/* refill.c */
void refill_read(json_t *sizes);
void refill_init(void);
struct copy {				/* what an LLC has of a runqueue */
	unsigned int	version;		/* + 1 */
	hw_lines	lines;
};
struct copy *cache_copies(int cpu);	/* of the CPU's LLC, by runqueue */
extern struct copy *copies_here;	/* those of the running CPU */

/* machine.c */
struct machine {
	unsigned int	frequency[HW_MAX_CPUS];		/* at present, 1024 = highest */
	unsigned int	cpu_speed[HW_MAX_CPUS];		/* of plain work, 65536 = fastest */
	int		siblings[HW_MAX_CPUS][8], nr_siblings[HW_MAX_CPUS];
};
extern struct machine machine;

/* picture.c */
extern int picture_on;
void picture_begin(void);
void picture_add(int cpu, int kind, simtime from, simtime to);
void picture_moved(int from, int to);

/* symbols.c */
#define MOST_FRAMES	48
const char *symbol_of(const void *addr, unsigned long *offset);	/* NULL: none */
int to_caller(void ***frame, const void **ip);	/* 0: the chain of frames ends */

#endif
