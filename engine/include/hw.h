/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated hardware, for the kernel's side (compiled with kernel headers) and for
 * what runs a scenario (compiled with libc headers).  It includes nothing, and engine/hw/
 * uses nothing of either: what it has to call there, they install.
 */
#ifndef HW_H
#define HW_H

typedef unsigned long long simtime;		/* integer nanoseconds */

struct sim_task;

#define SIM_MAX_CPUS	1024
#define SIM_MAX_NODES	64
#define SIM_NEVER	(~0ULL)
#define SIM_HOT_FILTER	4096

#ifndef __cold
#define __cold		__attribute__((__cold__))
#endif
#define __sim_noreturn	__attribute__((__noreturn__))

/* ------------------------------------------------------------------ the running CPU */

/*
 * State of the CPU whose code the host executes now.  Everything a header of
 * the kernel side looks at on a hot path is in this one structure.
 */
struct sim_state {
	simtime		clk;		/* the CPU's clock, moved by charges */
	simtime		irq_due;	/* earliest interrupt for this CPU */
	simtime		catch_up;	/* with no lock held, let the others run from here on */
	simtime		next;		/* earliest event of any other CPU */
	void		*current_task;	/* struct task_struct */
	unsigned long	irq_on;
	int		cpu;
	int		held;		/* spinlocks held */
	unsigned int	epoch;		/* changes with every kernel entry */
	unsigned int	slowdown;	/* 1024: as fast as the machine's costs say; 0: boot, free */
	unsigned int	live;		/* simulated time runs */
	unsigned int	core_sched;	/* some task has, or has had, a cookie */
};
extern struct sim_state sim;

/* Work of the CPU itself: slower on a slow CPU or beside a busy sibling. */
static inline void sim_charge(unsigned int ns)
{
	sim.clk += (simtime)ns * sim.slowdown >> 10;
}

/* Waiting for something outside the core: does not depend on its speed. */
static inline void sim_stall(simtime ns)
{
	sim.clk += ns * sim.live;
}

/* Nothing of another CPU and no interrupt is due before the CPU's own clock. */
static inline int sim_time_is_free(void)
{
	return sim.clk <= sim.next && sim.clk < sim.irq_due;
}

/* ------------------------------------------------------------------ the machine */

/*
 * Lists of which files and results have the names: each is X(its name here, its name there).
 * SIM_ID() makes an enum of one, and SIM_NAME() an array of the names.
 */
#define SIM_ID(id, name)	SIM_##id,
#define SIM_NAME(id, name)	name,

/* How far a cache line comes; from the second one on it has a cost "line_<name>". */
#define SIM_DISTANCES(X) \
	X(SELF, "self") X(CORE, "core") X(CLUSTER, "cluster") X(LLC, "llc") \
	X(NODE, "node") X(PACKAGE, "package") X(REMOTE, "remote")
enum sim_distance { SIM_DISTANCES(SIM_ID) SIM_NR_DISTANCES };

struct sim_cpu_topo {
	int		core, cluster, llc, package, node;
	unsigned int	capacity;	/* scheduler's view, 1024 = biggest */
	unsigned int	freq_scale;	/* of utilisation, by the present frequency: 1024 = in full */
	int		domain;		/* frequency domain, or -1 */
	int		priority;	/* of preferred cores, 0: not told */
};
extern struct sim_cpu_topo sim_cpu_topo[SIM_MAX_CPUS];
extern int sim_nr_cpus, sim_nr_nodes, sim_nr_llcs, sim_nr_cores;
extern unsigned int sim_llc_bytes;	/* of each */
extern int sim_has_priorities;		/* of all CPUs, not all the same */
extern int sim_is_hybrid;		/* cores of several kinds, as CPUID tells */
extern int sim_reclaim_distance;	/* what the architecture sets, 0: the default */
extern unsigned char sim_cpu_distance[SIM_MAX_CPUS][SIM_MAX_CPUS];
int sim_node_distance(int a, int b);
extern unsigned long sim_node_pages[SIM_MAX_NODES];	/* of 4 KiB; ~0: not told */

/* What a socket speaks; it has costs "<name>_send" and "<name>_receive". */
#define SIM_PROTOCOLS(X)	X(UNIX, "unix") X(TCP, "tcp") X(UDP, "udp")
enum sim_protocol { SIM_PROTOCOLS(SIM_ID) SIM_NR_PROTOCOLS };

/* In ns; the machine file names and sources each. */
#define SIM_COST_TIMES(X) \
	X(line_hit)		/* a line this LLC still has */ \
	X(scan_visit)		/* instructions per CPU looked at */ \
	X(scan_group)		/* and per group of them, in load balancing */ \
	X(psi_group)		/* instructions per cgroup whose pressure state changes */ \
	X(lock)			/* an uncontended atomic acquire */ \
	X(syscall) X(schedule) X(wakeup) X(tick) X(vmstat) X(irq) X(ipi_send) X(ipi_latency) \
	X(fork) X(thread)	/* in who makes a process, a thread, */ \
	X(fork_child) X(thread_child)	/* in what was made, before its own work */ \
	X(exec) X(exit) X(fault) X(numa_mark) X(page_migrate) X(pipe) X(poll) X(futex) X(copy_per_kb) \
	X(divide_per_1000)	/* integer divisions of a program, one after another */ \
	X(clock_read)		/* by a program: a call of the vDSO */ \
	X(idle_enter) X(idle_exit)	/* the idle loop's own code */ \
	X(hotplug)		/* one step of taking a CPU down or up */ \
	X(catch_up)		/* a CPU's clock may be so far ahead of the others' */ \
	X(spin)			/* one turn of a loop that waits */

/* And numbers. */
#define SIM_COST_NUMBERS(X) \
	X(misses)		/* independent ones that a core has under way at a time */ \
	X(wake_lines) X(queue_lines)	/* moved with a remote wakeup, a queue's end */ \
	X(task_lines)		/* of any task, refilled when it moves */ \
	X(refill_overlap)	/* percent of a line's latency seen when refilling */

struct sim_costs {
#define COST(name)	unsigned int name;
	SIM_COST_TIMES(COST)
	SIM_COST_NUMBERS(COST)
#undef COST
	unsigned int line[SIM_NR_DISTANCES];	/* a cache line from that far */
	struct sim_socket_cost {
		unsigned int send, receive;
	} socket[SIM_NR_PROTOCOLS];
};
extern struct sim_costs sim_costs;

/* What can be switched off by name; 1 = modelled. */
#define SIM_MECHANISMS(X) \
	X(coherence) X(locks) X(hot_lines) X(scan) X(refill) X(smt) X(idle_latency) X(ipi) X(bandwidth)
struct sim_mechanisms {
#define MECHANISM(name)	unsigned char name;
	SIM_MECHANISMS(MECHANISM)
#undef MECHANISM
};
extern struct sim_mechanisms sim_mechanisms;

struct sim_idle_state {
	char		name[16], desc[32];
	unsigned int	latency_us, residency_us;	/* what the governor is told */
	simtime		entry_ns, exit_ns;		/* what the hardware does */
	int		polling, declared, mwait;	/* declared: polling, and the governor knows it */
	int		firmware;			/* entry and exit are code that runs on the core */
};
#define SIM_MAX_IDLE_STATES 10
extern struct sim_idle_state sim_idle_states[SIM_MAX_IDLE_STATES];
extern int sim_nr_idle_states;
extern const char *sim_idle_governor;

struct sim_opp {
	unsigned int	khz;
	unsigned int	power_mw;	/* 0: unknown, no energy model */
};
#define SIM_MAX_OPPS	32
struct sim_freq_domain {
	int		nr_opps;
	struct sim_opp	opp[SIM_MAX_OPPS];
	unsigned int	now_khz;
	simtime		transition_ns;
	int		performance;	/* the governor; otherwise schedutil */
	int		fast_switch;	/* the scheduler changes the frequency itself; otherwise a thread does */
};
extern struct sim_freq_domain sim_freq_domains[];
extern int sim_nr_freq_domains;
extern int sim_cpus_of_domain(int domain, int n);	/* the n-th CPU, or -1 */
void sim_set_frequency(int domain, unsigned int khz);

/* The thermal zone all CPUs are in; resistance 0: none, they never get too warm. */
struct sim_thermal {
	int		ambient, trip, hysteresis;	/* thousandths of a degree */
	unsigned int	resistance;		/* to the surroundings, mK/W */
	unsigned int	heat_capacity;		/* mJ/K */
	unsigned int	base_mw;		/* of everything that is not a CPU */
	unsigned int	polling_ms, passive_ms;	/* between looks; while it throttles */
};
extern struct sim_thermal sim_thermal;
int sim_temperature(void);		/* now, thousandths of a degree Celsius */

/* ------------------------------------------------------------------ costs that depend on history */

/*
 * Lines of a CPU's data, a bit each: those of its runqueue have the tree's own places
 * (generated/rq-lines.h), all else is one.
 */
typedef unsigned long long sim_lines;
#define SIM_OTHER_DATA	(1ULL << 63)

struct sim_rq {
	unsigned int	epoch;			/* kernel entry of the last look at that CPU, and */
	unsigned int	version;		/* of the lines its lock guards */
	sim_lines	looked;			/* what was looked at in that entry */
	sim_lines	read;			/* what others have read of this version */
	unsigned char	reader;			/* the farthest of them, a sim_distance */
};
extern struct sim_rq sim_rqs[SIM_MAX_CPUS];
void sim_look_closer(unsigned int cpu, sim_lines lines);
void sim_rq_recall(unsigned int cpu);

/* The running CPU reads these lines of a CPU's data. */
static inline void sim_look(unsigned int cpu, sim_lines lines)
{
	const struct sim_rq *rq = &sim_rqs[cpu];

	if (__builtin_expect(rq->epoch != sim.epoch || (lines & ~rq->looked), 0))
		sim_look_closer(cpu, lines);
}

/* The lines of a CPU's runqueue are about to change. */
static inline void sim_rq_write(unsigned int cpu)
{
	struct sim_rq *rq = &sim_rqs[cpu];

	rq->version++;
	if (rq->read)
		sim_rq_recall(cpu);
}

void sim_lock_wait(simtime *acquired, simtime released, int last);
int sim_lock_seen_taken(simtime acquired, simtime released, int last);

extern unsigned int sim_hot_filter[SIM_HOT_FILTER];	/* how many hot lines have this hash */
void sim_hot_register(const void *object, const void *addr);	/* the line of addr */
void sim_hot_forget(const void *object);
void sim_hot_line(const void *addr, int write);

/* A memory line of a program or a queue: whoever comes from elsewhere fetches it. */
struct sim_line {
	simtime	acquired, released;
	int	owner;			/* CPU number + 1 */
};
void sim_refill_cache(struct sim_task *task, int from, int to);
void sim_psi_change(const void *state);	/* of a cgroup on a CPU: one line */
void sim_line_move(struct sim_line *line, unsigned int lines);
void sim_line_copy(struct sim_line *first, unsigned int bytes);
simtime sim_clear_time(int node, unsigned long bytes);	/* of new pages */
void sim_line_change(struct sim_line *line);
void sim_line_change_if(struct sim_line *line);
void sim_line_lock(struct sim_line *line);
void sim_line_settle(struct sim_line *line);
void sim_line_unlock(struct sim_line *line);

/* ------------------------------------------------------------------ tasks */

#define SIM_COMM_LEN 16

/* What tasks touch all the time, in base pages: shared by a process, of a forked child, of a thread. */
struct sim_working_set {
	unsigned int	process, child, thread;
	unsigned long	stack;			/* bytes of a thread's mapping */
};

struct sim_task {
	int		pid;
	char		comm[SIM_COMM_LEN];
	void		*kernel;		/* struct task_struct while it lives */
	simtime		work;			/* nominal ns still to run in user mode */
	simtime		spins_until;		/* busy-waits for that time, whatever takes the CPU; or 0 */
	unsigned int	slow_ratio;		/* speed on a CPU below full capacity, 0: the machine's */
	unsigned int	footprint_kb;		/* what has to be refilled after a migration */
	unsigned int	memory_share;		/* 0..1024 of its work that is memory traffic */
	int		mem_node;		/* node of the memory it last touched, -1: local */
	struct sim_working_set working_set;
	struct kern_region *memory;		/* of a scenario's task: what its program touches */
	void		(*main)(struct sim_task *);
	void		*arg;
	struct sim_task	*next, *previous;
	int		is_thread;
	unsigned int	thread;			/* its id while it lives, 0: a process; joined by futex */
	enum { SIM_ALIVE, SIM_KILLED, SIM_DYING } killed;
	int		zombie;
	struct sim_task	*next_zombie;
	/* as part of a workload (engine/run/calls/) */
	struct instance	*instance;
	unsigned long long chance;		/* random state */
	simtime		alarm;
	const char	*waits_for;		/* NULL: for nothing that could keep it for ever */
	struct sim_task	*waits_for_task;
	int		joined, released;	/* nobody will ask for it again; the kernel has let go */
	/* results */
	int		of_workload;		/* its migrations count as the workloads' own */
	simtime		born, died, runtime, runtime_base, looked_runtime, wait_sum, wait_max, ready_at;
	unsigned long	waits, migrations, voluntary, involuntary;
	int		ready_is_wakeup;
	int		measured;
	unsigned long	ops;
};

extern struct sim_task *sim_first_task;	/* of all that were ever started, by next */
void sim_add_task(struct sim_task *task);
void sim_remove_task(struct sim_task *task);
struct sim_task *sim_running_task(void);	/* NULL: before the CPU's first switch */

/* ------------------------------------------------------------------ CPUs waiting for something */

enum sim_vector { SIM_TIMER, SIM_CALL, SIM_RESCHED, SIM_POLL, SIM_NR_VECTORS };

/* The running CPU gives the host to others.  All return at the CPU's own time. */
int sim_run_user(struct sim_task *task);	/* 1: work done, 0: interrupted */
void sim_halt(int polling, simtime until);	/* next interrupt or polled wakeup; polling: or until */
void sim_idle_change(simtime ns, int busy);	/* into an idle state or out of it: nothing interrupts */
void sim_wait_until(simtime t);			/* in the kernel: nothing interrupts */
void sim_catch_up(void);
void sim_order(void);
void sim_spin(void);
void sim_on_interrupt(void (*handler)(void));	/* takes the vectors that are due, with interrupts on */

/* What the kernel was entered for: its time is accounted by this. */
#define SIM_ENTRIES(X) \
	X(ENTRY_OTHER, "other") X(ENTRY_SYSCALL, "syscall") X(ENTRY_TIMER, "timer") \
	X(ENTRY_CALL, "call_function") X(ENTRY_RESCHED, "reschedule") X(ENTRY_IDLE, "idle_loop")
enum sim_entry { SIM_ENTRIES(SIM_ID) SIM_NR_ENTRIES };
enum sim_entry sim_enter(enum sim_entry entry);	/* returns the one before */

int sim_take_vector(void);			/* next due interrupt of this CPU, or -1 */
void sim_set_timer(simtime expires);
void sim_send_vector(int cpu, int vector, simtime latency);
int sim_in_kernel(int cpu);			/* stopped in the middle of kernel code */
void sim_context_switch(void *next_task, struct sim_task *next);
void sim_cpu_dead(void);			/* off-line: until sim_cpu_alive() */
void sim_cpu_alive(int cpu, void *sp, void *task);
void sim_set_boot_cpu(int cpu, void *task);	/* boot: whose code runs; no time passes */
void sim_start_cpu(int cpu, void *sp, void *task);
simtime sim_cpu_busy_ns(int cpu);

/* A context's stack pointer is kept while it is stopped; while it runs, the place is NULL. */
void sim_switch_context(void **save_sp, void **sp);
void *sim_co_init(void *stack, unsigned long size, void (*entry)(void));
void **sim_co_frame(void *sp, void **ip);	/* where a switched-away coroutine stands */
void *sim_stack_alloc(void);
void sim_stack_free(void *stack);
extern const unsigned long sim_stack_size;
#define SIM_STACK_CANARY 0x5c4ed1ab57ac0000ULL

/* ------------------------------------------------------------------ services of libc */

void *sim_zalloc(unsigned long size, unsigned long align);
void *sim_zalloc_huge(unsigned long size);
void sim_free(void *p);
void sim_make_writable(const void *p, unsigned long size);
unsigned long long sim_random(void);
void sim_log(const char *text, unsigned long len);
void sim_die(const char *what, const char *file, int line) __sim_noreturn __cold;
void sim_progress(void);			/* of long work without events */
void sim_die_about(const char *what, int cpu, const char *task, void *sp) __sim_noreturn __cold;
void sim_bug(const char *file, int line, const char *func) __sim_noreturn __cold;
void sim_warn(const char *file, int line, const char *func) __cold;
void sim_stub(const char *symbol) __sim_noreturn __cold;
void sim_lock_imbalance(void *lock) __sim_noreturn __cold;

/* ------------------------------------------------------------------ accounts */

/* Functions of the scheduler whose time is summed up, with what they call. */
#define SIM_FUNCTIONS(X) \
	X(SELECT_TASK_RQ, "select_task_rq") X(PICK_NEXT_TASK, "pick_next_task") \
	X(NEWIDLE_BALANCE, "newidle_balance") X(LOAD_BALANCE, "load_balance") \
	X(UPDATE_SD_LB_STATS, "update_sd_lb_stats") \
	X(UPDATE_BLOCKED_AVERAGES, "update_blocked_averages")
enum sim_function { SIM_FUNCTIONS(SIM_ID) SIM_NR_FUNCTIONS };
struct sim_function_time {
	unsigned long	calls;
	simtime		ns;
};

/* What lines, locks and refills have cost. */
#define SIM_PAID(X) \
	X(runqueue_lookups) X(runqueue_misses) X(lock_waits) X(lock_refusals) X(lock_wait_ns) \
	X(hot_line_retries) X(hot_line_waits) X(hot_line_wait_ns) X(refill_ns) X(fabric_wait_ns)

/* Of durations: sum, most and percentiles; logarithmic, eight buckets an octave. */
#define SIM_DURATION_BITS	3
#define SIM_DURATION_BUCKETS	((65 - SIM_DURATION_BITS) << SIM_DURATION_BITS)	/* of workloads/buckets.h */
struct sim_durations {
	unsigned long	bucket[SIM_DURATION_BUCKETS], count;
	simtime		sum, max;
};

/* Since the window began in which the run is measured. */
struct sim_counts {
	simtime		start;
	struct sim_durations wakeup, queued;		/* how long tasks waited: woken, preempted */
	unsigned long	migrations[2][SIM_NR_DISTANCES];	/* [at wakeup] */
	unsigned long	own_migrations;			/* by tasks of workloads */
	unsigned long	voluntary, involuntary;		/* switches */
	unsigned long	spins, catch_ups;
	simtime		kernel_ns[SIM_NR_ENTRIES];
	struct sim_function_time function[SIM_NR_FUNCTIONS];
#define COUNT(name)	unsigned long long name;
	SIM_PAID(COUNT)
#undef COUNT
};
extern struct sim_counts sim_counts;

static inline void sim_function_ran(enum sim_function function, simtime from)
{
	sim_counts.function[function].calls++;
	sim_counts.function[function].ns += sim.clk - from;
}

void sim_note_switch(struct sim_task *prev, int preempted, struct sim_task *next);
void sim_note_runnable(struct sim_task *task, int is_wakeup);
void sim_note_migration(struct sim_task *task, int from, int to, int at_wakeup);
void sim_hash(unsigned long long a, unsigned long long b);
extern unsigned long long sim_trace_hash;

/* ------------------------------------------------------------------ for who runs a scenario on it */

struct sim_machine {
	const char	*name, *title;
	const char	*session;		/* cgroup of what pid 1 starts, NULL: the root */
	unsigned int	core_khz;		/* the highest there is */
	unsigned int	thread_bandwidth_mbs, cache_bandwidth_mbs;
	int		has_smt;
};
extern struct sim_machine sim_machine;

struct json_t;
struct json_t *sim_read_machine(const char *path);	/* returns the file: its other tables are the caller's */

void sim_fail_after(double host_seconds);	/* from now on: the host's time is bounded, 0: not, loops are found */
void sim_memory_init(void);		/* before anything is allocated */
void sim_seed(unsigned long long seed);
unsigned long long sim_random_of(unsigned long long *state);	/* of a sequence of the caller's own */
void sim_power_on(void);		/* the machine has been read */

void sim_run_until(simtime t);		/* or until sim_ask_control() */
void sim_ask_control(simtime t);	/* of a CPU: sim_run_until() returns at t, or before */
void sim_check_time(void);		/* every nanosecond of every CPU is in exactly one account */
struct sim_cpu_time {
	simtime user, kernel, idle, off;
};
struct sim_cpu_time sim_cpu_time(int cpu);
unsigned long sim_events(void);		/* since boot */
void sim_settle_accounts(void);	/* of CPUs that are in user mode or idle, up to the present */
void sim_begin_window(void);		/* counts begin anew */
extern int sim_verbose;			/* what the kernel prints is shown */
simtime sim_percentile(const struct sim_durations *d, double percent);
simtime sim_duration_of(int bucket);	/* the shortest in a bucket */

struct sim_grain {			/* of a region: what an LLC has of it */
	unsigned int	from, to;
	int		llc;			/* number + 1 */
	unsigned long	seen;
	struct sim_grain *next;			/* another LLC's copy */
};
/* Takes bytes into the running CPU's LLC; gives how many of them it had not, to write them to itself. */
unsigned long sim_cache_fill(struct sim_grain *grain, unsigned int from, unsigned int to, int write);
struct sim_line *sim_user_line(const void *addr);	/* of any memory */
void sim_scatter(struct sim_line *line, unsigned int stores);

/* Bad input ends the program with one message. */
void sim_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
