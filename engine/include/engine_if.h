/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The one header between the kernel side (compiled with kernel headers) and
 * the sim side (compiled with libc headers).  It includes nothing.
 *
 *   sim_*	variables and functions of the engine, used by the kernel side
 *   kern_*	functions of the kernel side, used by the engine and by programs
 */
#ifndef ENGINE_IF_H
#define ENGINE_IF_H

typedef unsigned long long simtime;		/* integer nanoseconds */

struct sim_task;
struct instance;

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

enum sim_distance {		/* how far a cache line comes */
	SIM_SELF, SIM_CORE, SIM_CLUSTER, SIM_LLC, SIM_NODE, SIM_PACKAGE, SIM_REMOTE,
	SIM_NR_DISTANCES
};

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
extern const char *sim_isolcpus;	/* of the kernel's command line, or NULL */
extern int sim_has_priorities;		/* of all CPUs, not all the same */
extern int sim_is_hybrid;		/* cores of several kinds, as CPUID tells */
extern int sim_reclaim_distance;	/* what the architecture sets, 0: the default */
extern unsigned char sim_cpu_distance[SIM_MAX_CPUS][SIM_MAX_CPUS];
int sim_node_distance(int a, int b);
extern unsigned long sim_node_pages[SIM_MAX_NODES];	/* of 4 KiB; ~0: not told */

enum kern_protocol { KERN_UNIX, KERN_TCP, KERN_UDP, KERN_NR_PROTOCOLS };

/* All in ns unless the name says otherwise; the machine file names and sources each. */
struct sim_costs {
	unsigned int line[SIM_NR_DISTANCES];	/* a cache line from that far */
	unsigned int line_hit;		/* a line this LLC still has */
	unsigned int scan_visit;	/* instructions per CPU looked at */
	unsigned int scan_group;	/* and per group of them, in load balancing */
	unsigned int psi_group;		/* instructions per cgroup whose pressure state changes */
	unsigned int misses;		/* independent ones that a core has under way at a time */
	unsigned int wake_lines, queue_lines;	/* lines moved with a remote wakeup, a queue end */
	unsigned int task_lines;	/* of any task, refilled when it moves */
	unsigned int lock;		/* an uncontended atomic acquire */
	unsigned int syscall, schedule, wakeup, tick, vmstat, irq, ipi_send, ipi_latency;
	unsigned int fork, thread;	/* in who makes a process, a thread, */
	unsigned int fork_child, thread_child;	/* in what was made, before its own work */
	unsigned int exec, exit, fault, numa_mark, page_migrate;
	unsigned int pipe, poll, futex, copy_per_kb;
	unsigned int divide_per_1000;	/* integer divisions of a program, one after another */
	unsigned int clock_read;	/* by a program: a call of the vDSO */
	struct sim_socket_cost {
		unsigned int send, receive;
	} socket[KERN_NR_PROTOCOLS];
	unsigned int idle_enter, idle_exit;	/* the idle loop's own code */
	unsigned int refill_overlap;	/* percent of a line's latency seen when refilling */
	unsigned int hotplug;		/* one step of taking a CPU down or up */
};
extern struct sim_costs sim_costs;

/* What can be switched off by name; 1 = modelled. */
struct sim_mechanisms {
	unsigned char coherence, locks, hot_lines, scan, refill, smt, idle_latency, ipi, bandwidth;
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
	simtime		born, died, runtime, runtime_base, looked_runtime, wait_sum, wait_max, ready_at;
	unsigned long	waits, migrations, voluntary, involuntary;
	int		ready_is_wakeup;
	int		measured;
	unsigned long	ops;
};

struct sim_task *sim_first_task(void);		/* of all that were ever started, by next */
void sim_task_released(struct sim_task *task);	/* the kernel has let go of it */

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
void sim_irq_window(void);

/* What the kernel was entered for: its time is accounted by this. */
enum sim_entry { SIM_ENTRY_OTHER, SIM_ENTRY_SYSCALL, SIM_ENTRY_TIMER, SIM_ENTRY_CALL,
		 SIM_ENTRY_RESCHED, SIM_ENTRY_IDLE, SIM_NR_ENTRIES };
enum sim_entry sim_enter(enum sim_entry entry);	/* returns the one before */

/* Functions of the scheduler whose time is summed up, with what they call. */
enum sim_function { SIM_SELECT_TASK_RQ, SIM_PICK_NEXT_TASK, SIM_NEWIDLE_BALANCE, SIM_LOAD_BALANCE,
		    SIM_UPDATE_SD_LB_STATS, SIM_UPDATE_BLOCKED_AVERAGES, SIM_NR_FUNCTIONS };
struct sim_function_time {
	unsigned long	calls;
	simtime		ns;
};
extern struct sim_function_time sim_function_time[SIM_NR_FUNCTIONS];

static inline void sim_function_ran(enum sim_function function, simtime from)
{
	sim_function_time[function].calls++;
	sim_function_time[function].ns += sim.clk - from;
}

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
void sim_no_memory(int node) __sim_noreturn __cold;	/* -1: on none */
void sim_die(const char *what, const char *file, int line) __sim_noreturn __cold;
void sim_progress(void);			/* of long work without events */
void sim_die_about(const char *what, int cpu, const char *task, void *sp) __sim_noreturn __cold;
void sim_bug(const char *file, int line, const char *func) __sim_noreturn __cold;
void sim_warn(const char *file, int line, const char *func) __cold;
void sim_stub(const char *symbol) __sim_noreturn __cold;
void sim_lock_imbalance(void *lock) __sim_noreturn __cold;

/* ------------------------------------------------------------------ what the kernel tells the results */

void sim_note_switch(struct sim_task *prev, int preempted, struct sim_task *next);
void sim_note_runnable(struct sim_task *task, int is_wakeup);
void sim_note_migration(struct sim_task *task, int from, int to, int kind);
void sim_hash(unsigned long long a, unsigned long long b);

/* A tracepoint of the kernel; the linker collects them. */
struct sim_tracepoint {
	const char	*system, *name;
	unsigned long	count;
	void		*probe;		/* ours, always called */
	void		*emit;		/* prints it into the trace */
	int		enabled;	/* printing asked for */
} __attribute__((aligned(64)));		/* an array in its section, whatever the compiler aligns to */
extern struct sim_tracepoint __start_sim_tracepoints[], __stop_sim_tracepoints[];
void sim_trace_text(const struct sim_tracepoint *tp, const char *flags, const char *text,
		    unsigned long len);	/* flags: ftrace's four letters on the context */

/* ------------------------------------------------------------------ kernel side: boot and files */

void kern_show_domains(void);		/* before kern_boot(): sched_verbose on the command line */
void kern_boot(struct sim_task *init);	/* to the end of the initcalls; init runs as pid 1 */
int kern_write_file(const char *path, const char *value);	/* 0 or -errno */
long kern_read_file(const char *path, char *buf, unsigned long size);
int kern_file_range(const char *path, long long *min, unsigned long long *max);	/* -ENOENT: unknown */
void kern_list_files(void (*file)(const char *path, int writable));
int kern_cgroup_create(const char *path);
int kern_cgroup_write(const char *path, const char *file, const char *value);
long kern_cgroup_read(const char *path, const char *file, char *buf, unsigned long size);
void kern_list_cgroup_files(void (*file)(const char *name, int writable));
int kern_cgroup_attach(struct sim_task *task, const char *path);
void kern_setsid(void);			/* what the caller forks from now on is a session */
/* Core scheduling: siblings that ran tasks of two cookies for a moment. */
struct kern_core_sched {
	simtime		mixed_ns, longest_ns;
};
extern struct kern_core_sched kern_core_stats;
unsigned long kern_core_cookie(void);
void kern_core_sched(unsigned long cookie);	/* of the caller; 0: a new one */
simtime kern_forced_idle(void);			/* ns of all CPUs since boot */
void kern_isolated(char *buf, unsigned long size);	/* CPUs without domains, by isolcpus */
void kern_check(struct sim_task *first);	/* invariants of CPUs and a list of tasks */
void kern_start_housekeeping(simtime period, simtime takes);	/* a work in every CPU's kworker */
void kern_spread_balance(void);		/* phases of a machine that has been up for a while */
void kern_collect(struct sim_task *task);
void kern_print_domain(int cpu, int level, char *buf, unsigned long size);	/* span and groups */

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
/* Newidle balancing in the measured time: how often it began, why it left at once, how often it found a task. */
struct kern_newidle {
	unsigned long	entries;
	unsigned long	pending;		/* a wakeup was on its way to the CPU */
	unsigned long	calm;			/* no CPU of the root domain had a task to spare */
	unsigned long	brief;			/* avg_idle was less than the lowest domain's max_newidle_lb_cost */
	unsigned long	found;
	simtime		avg_idle;		/* sum of what it was at each entry */
};
extern struct kern_newidle kern_newidle;
struct kern_idle {				/* of a CPU's idle state, as in sysfs */
	unsigned long	usage, above, below, rejected;
	simtime		time_ns;
};
#define KERN_MAX_DOMAINS 16			/* different names; the last one is always empty */
void kern_balance_stats(struct kern_balance stats[KERN_MAX_DOMAINS]);
void kern_idle_stats(int cpu, int state, struct kern_idle *stats);
extern const int kern_hz;
extern const char kern_release[];

/* ------------------------------------------------------------------ kernel side: the slow state */

#define KERN_ROUNDS	2			/* so often a domain is to be balanced under the load */
#define KERN_HALF_LIVES	10			/* of a load average, until nothing is left of what was */

struct kern_domain {				/* of one level, all its spans and CPUs together */
	char		name[16];
	int		level, is_llc, weight;
	int		spans, gone_round;	/* how many there are, and were balanced so often */
	simtime		busy_interval;		/* the longest between two balances by a busy CPU */
	simtime		newidle_cost;		/* sum of max_newidle_lb_cost */
	int		too_dear;		/* CPUs whose avg_idle is less than that: they do not balance here */
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
int kern_numa_scans(const struct sim_task *task);	/* -1: NUMA balancing leaves it alone */
void kern_wind_scan(struct sim_task *task, simtime ran);
simtime kern_longest_scan_period(void);		/* 0: NUMA balancing is off */
void kern_wind_balance(simtime within);
void kern_spread_busy_balance(void);

/* ------------------------------------------------------------------ kernel side: what programs call */

struct kern_attr {
	int		policy;			/* SCHED_* */
	int		nice;
	int		rt_priority;
	simtime		dl_runtime, dl_deadline, dl_period;
	int		uclamp_min, uclamp_max;	/* -1: not set */
};

enum { KERN_THREAD = 1 };			/* shares the parent's address space */

int kern_fork(struct sim_task *child, unsigned int flags);
void kern_exec(void);
void kern_exit(void) __sim_noreturn;
struct sim_task *kern_wait_child(struct sim_task *which);	/* NULL: any */
void kern_kill(struct sim_task *task);
int kern_is_blocked(const struct sim_task *task);
void kern_sync(void);				/* the others have come up to the caller's time */
void kern_syscall(struct sim_line *count);	/* changes this count of users, or nothing */
void kern_run(simtime ns);
void kern_run_clock(simtime ns);
void kern_sleep(simtime ns);
simtime kern_sleep_until(simtime t);
void kern_yield(void);
int kern_setattr(struct sim_task *task, const struct kern_attr *attr);
int kern_setaffinity(struct sim_task *task, const unsigned long *mask, unsigned int bits);
int kern_cpu_down(int cpu);
int kern_cpu_up(int cpu);
simtime kern_now(void);

struct kern_pipe;
struct kern_pipe *kern_pipe_create(void);
struct kern_pipe *kern_packet_pipe_create(unsigned int bytes);	/* a read takes what one write wrote; 0: the usual size */
void kern_pipe_write(struct kern_pipe *pipe, unsigned int bytes);
int kern_pipe_read(struct kern_pipe *pipe, unsigned int bytes);	/* what is there */

struct kern_socket;				/* one direction of a connection */
struct kern_socket *kern_socket_create(enum kern_protocol protocol);
void kern_socket_send(struct kern_socket *sock, unsigned int bytes);
int kern_socket_receive(struct kern_socket *sock, unsigned int bytes);	/* what is there; 0: closed, empty */
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
	struct kern_socket *socket;
};
int kern_poll(const struct kern_pollable *set, int nr, simtime timeout);

struct kern_watch;				/* epoll */
struct kern_watch *kern_watch_create(void);
void kern_watch_add(struct kern_watch *watch, const struct kern_pollable *what, void *data);
void *kern_watch_wait(struct kern_watch *watch, simtime timeout);

int kern_futex_wait(const unsigned int *word, unsigned int value, simtime timeout);
int kern_futex_wake(const unsigned int *word, int nr);
void kern_futex_forget(const unsigned int *word);

struct kern_region;		/* of the calling process and its threads; shared: of later children too */
struct kern_region *kern_region_create(unsigned long bytes, int shared);	/* no page is there yet */
void kern_region_bind(struct kern_region *region, int node);	/* -1: over all nodes in turn */
/* Takes the faults; gives how many bytes from offset on lie on one node, and which. */
unsigned long kern_touch(struct kern_region *region, unsigned long offset, unsigned long bytes, int *node);
void kern_touch_line(struct kern_region *region, unsigned long offset);	/* the fault, if there is one */
struct kern_region *kern_memory_create(unsigned long bytes, int huge, int node);	/* an address space, all there */
void kern_working_set(struct kern_region *region, unsigned long offset, unsigned long bytes);
void kern_memory_use(struct kern_region *region);

#endif
