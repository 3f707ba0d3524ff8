/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The simulated hardware.  The kernel's side uses it, compiled with kernel headers, and so
 * does what runs a scenario, compiled with libc's: hence it includes nothing of either.  engine/hw/
 * uses neither of them; a handler of theirs that it calls is installed at run time.
 */
#ifndef HW_H
#define HW_H

#include "buckets.h"

typedef unsigned long long simtime;		/* integer nanoseconds */

struct hw_task;

#define HW_MAX_CPUS	1024
#define HW_MAX_NODES	64
#define HW_NEVER	(~0ULL)
#define HW_HOT_FILTER	4096

#ifndef __cold
#define __cold		__attribute__((__cold__))
#endif
#define __hw_noreturn	__attribute__((__noreturn__))

/* ------------------------------------------------------------------ the running CPU */

/*
 * State of the CPU whose code the host executes now.  Everything a header of
 * the kernel side looks at on a hot path is in this one structure.
 */
struct hw_state {
	simtime		clk;		/* the CPU's clock, moved by charges */
	simtime		irq_due;	/* earliest interrupt for this CPU */
	simtime		catch_up;	/* with no lock held, let the others run from here on */
	simtime		next;		/* earliest event of any other CPU */
	void		*current_task;	/* struct task_struct */
	unsigned long	irq_on;
	int		cpu;
	int		held;		/* spinlocks held */
	unsigned int	epoch;		/* changes with every kernel entry */
	unsigned int	slowdown; /* 1024: as fast as the machine's costs say; 0: boot, free */
	unsigned int	live;		/* simulated time runs */
	unsigned int	core_sched;	/* some task has, or has had, a cookie */
};
extern struct hw_state hw;

/* Work of the CPU itself: slower on a slow CPU or beside a busy sibling. */
static inline void hw_charge(unsigned int ns)
{
	hw.clk += (simtime)ns * hw.slowdown >> 10;
}

/* Waiting for something outside the core: does not depend on its speed. */
static inline void hw_stall(simtime ns)
{
	hw.clk += ns * hw.live;
}

/* Nothing of another CPU and no interrupt is due before the CPU's own clock. */
static inline int hw_time_is_free(void)
{
	return hw.clk <= hw.next && hw.clk < hw.irq_due;
}

/* ------------------------------------------------------------------ the machine */

/*
 * Lists whose names stand in files and results too.  An entry is X(name in C, name in files), or
 * X(name) where both are the same; HW_ID() makes an enum of a list, HW_NAME() an array of its
 * names.  schedlab/counters/engine_names.py reads them from here.
 */
#define HW_ID(id, name)	HW_##id,
#define HW_NAME(id, name)	name,

/* How far a cache line comes; from the second one on it has a cost "line_<name>". */
#define HW_DISTANCES(X) \
	X(SELF, "self") X(CORE, "core") X(CLUSTER, "cluster") X(LLC, "llc") \
	X(NODE, "node") X(PACKAGE, "package") X(REMOTE, "remote")
enum hw_distance { HW_DISTANCES(HW_ID) HW_NR_DISTANCES };

struct hw_cpu_topo {
	int		core, cluster, llc, package, node;
	unsigned int	capacity;	/* scheduler's view, 1024 = biggest */
	unsigned int	freq_scale; /* of utilisation, by the present frequency: 1024 = in full */
	int		domain;		/* frequency domain, or -1 */
	int		priority;	/* of preferred cores, 0: unknown */
	int		kind;		/* its capacity's place among all */
};
extern struct hw_cpu_topo hw_cpu_topo[HW_MAX_CPUS];
extern int hw_nr_cpus, hw_nr_nodes, hw_nr_llcs, hw_nr_cores;
extern unsigned int hw_llc_bytes;	/* of each */
#define HW_MAX_KINDS	16
extern int hw_nr_kinds;			/* of different capacity */
extern unsigned int hw_kind_capacity[HW_MAX_KINDS];	/* rising */
extern int hw_has_priorities;		/* of all CPUs, not all the same */
extern int hw_is_hybrid;		/* cores of several kinds, as CPUID says */
extern int hw_defers_rearming; /* its entry code arms the timer last, where the build has that */

/*
 * A number of the machine's [topology] that only the floor above acts on, 0 where the machine has
 * none; the linker collects them.
 */
struct hw_topology_key {
	const char	*name;
	int		least, most, *value;
} __attribute__((aligned(64))); /* an array in its section, whatever the compiler aligns to */
#define HW_TOPOLOGY_KEY(name, least, most) \
	static int name; \
	static const struct hw_topology_key \
	__attribute__((section("hw_topology_keys"), used)) key_##name = { #name, least, most, &name }

extern unsigned char hw_cpu_distance[HW_MAX_CPUS][HW_MAX_CPUS];
int hw_node_distance(int a, int b);
unsigned int hw_cpu_speed(int cpu); /* of plain work at its highest frequency; 1024 = the fastest */
extern unsigned long hw_node_pages[HW_MAX_NODES];	/* of 4 KiB; ~0: unknown */

/* What a socket speaks; it has costs "<name>_send" and "<name>_receive". */
#define HW_PROTOCOLS(X)	X(UNIX, "unix") X(TCP, "tcp") X(UDP, "udp")
enum hw_protocol { HW_PROTOCOLS(HW_ID) HW_NR_PROTOCOLS };

/* In ns; the machine file names and sources each. */
#define HW_COST_TIMES(X) \
	X(line_hit)		/* a line this LLC still has */ \
	X(line_l2)		/* a line the core's second cache still has */ \
	X(touch)		/* of work, until it reaches the next line of its footprint */ \
	X(scan_visit)		/* instructions per CPU looked at */ \
	X(scan_group)		/* and per group of them, in load balancing */ \
	X(psi_group)		/* instructions per cgroup whose pressure state changes */ \
	X(lock)			/* an uncontended atomic acquire */ \
	X(wakeup_queue)		/* the part of `wakeup` that puts the task on its queue */ \
	X(syscall) X(schedule) X(wakeup) X(tick) X(vmstat) X(irq) X(ipi_send) X(ipi_latency) \
	X(fork) X(thread)	/* in who makes a process, a thread, */ \
	X(fork_child) X(thread_child)	/* in what was made, before its own work */ \
	X(exec) X(exit) X(fault) X(numa_mark) X(page_migrate) X(pipe) X(poll) X(futex) X(copy_per_kb) \
	X(epoll_wait)		/* with the first that it returns; `poll` for each further one */ \
	X(epoll_change)		/* of what is waited for */ \
	X(epoll_add)		/* to what is watched, or out of it */ \
	X(receive_nothing)	/* a look into an empty socket */ \
	X(divide_per_1000)	/* integer divisions of a program, one after another */ \
	X(context_tracking)	/* from user mode and back, on a nohz_full CPU */ \
	X(clock_read)		/* by a program: a call of the vDSO */ \
	X(idle_enter) X(idle_exit)	/* the idle loop's own code */ \
	X(hotplug)		/* one step of taking a CPU down or up */ \
	X(bpf_op) /* a sched_ext scheduler's operation or callback: the way into it and back */ \
	X(bpf_call)		/* a helper or kfunc it calls: the way there and back */ \
	X(bpf_hash)		/* looking up a key in a hash */ \
	X(bpf_storage)		/* looking up what is stored with a task or cgroup */ \
	X(bpf_blocks_per_1000)	/* pieces of its code without a branch, compiled as by the JIT */ \
	X(catch_up)		/* a CPU's clock may be so far ahead of the others' */ \
	X(spin)			/* one turn of a loop that waits */

/* And numbers. */
#define HW_COST_NUMBERS(X) \
	X(misses)		/* independent ones that a core has under way at a time */ \
	X(wake_lines) X(queue_lines)	/* moved with a remote wakeup, a queue's end */ \
	X(task_lines)		/* of any task, which it needs near */ \
	X(refill_overlap)	/* percent of a line's latency seen when refilling */

struct hw_costs {
#define COST(name)	unsigned int name;
	HW_COST_TIMES(COST)
	HW_COST_NUMBERS(COST)
#undef COST
	unsigned int line[HW_NR_DISTANCES];	/* a cache line from that far */
	struct hw_socket_cost {
		unsigned int send, receive;
	} socket[HW_NR_PROTOCOLS];
};
extern struct hw_costs hw_costs;

/* What can be switched off by name; 1 = modelled. */
#define HW_MECHANISMS(X) \
	X(coherence) X(locks) X(hot_lines) X(scan) X(refill) X(smt) X(idle_latency) X(ipi) X(bandwidth)
struct hw_mechanisms {
#define MECHANISM(name)	unsigned char name;
	HW_MECHANISMS(MECHANISM)
#undef MECHANISM
};
extern struct hw_mechanisms hw_mechanisms;

struct hw_idle_state {
	char		name[16], desc[32];
	unsigned int	latency_us, residency_us;	/* what the governor assumes */
	simtime		entry_ns, exit_ns;		/* what the hardware does */
	int		polling, declared, mwait; /* declared: polling, and the governor knows it */
	int		firmware; /* entry and exit are code that runs on the core */
};
#define HW_MAX_IDLE_STATES 10
extern struct hw_idle_state hw_idle_states[HW_MAX_IDLE_STATES];
extern int hw_nr_idle_states;
extern const char *hw_idle_governor;

struct hw_opp {
	unsigned int	khz;
	unsigned int	power_mw;	/* 0: unknown, no energy model */
	double		cluster_mw; /* of what the domain's CPUs share, while one of them is busy */
};
#define HW_MAX_OPPS	32
struct hw_freq_domain {
	int		nr_opps;
	struct hw_opp	opp[HW_MAX_OPPS];
	unsigned int	now_khz;
	simtime		transition_ns;
	int		performance;	/* the governor; otherwise schedutil */
	/* The scheduler changes the frequency itself; otherwise a thread does. */
	int		fast_switch;
	/*
	 * by idle state: of a CPU in it; while it enters or leaves; of what the CPUs share, if none
	 * is shallower
	 */
	int		knows_idle;
	double		idle_mw[HW_MAX_IDLE_STATES], change_mw[HW_MAX_IDLE_STATES];
	double		cluster_idle_mw[HW_MAX_IDLE_STATES];
};
extern struct hw_freq_domain hw_freq_domains[];
extern int hw_nr_freq_domains;
void hw_set_frequency(int domain, unsigned int khz);

/* The thermal zone all CPUs are in; resistance 0: none, they never get too warm. */
struct hw_thermal {
	int		ambient, trip, hysteresis;	/* thousandths of a degree */
	unsigned int	resistance;		/* to the surroundings, mK/W */
	unsigned int	heat_capacity;		/* mJ/K */
	unsigned int	base_mw;		/* of everything that is not a CPU */
	unsigned int	polling_ms, passive_ms;	/* between looks; while it throttles */
};
extern struct hw_thermal hw_thermal;
int hw_temperature(void);		/* now, thousandths of a degree Celsius */

/* ----------------------------------------------------------------- costs that depend on history */

/*
 * Lines of a CPU's data, a bit each: those of its runqueue have the tree's own places
 * (generated/rq-lines.h), all else is one.
 */
typedef unsigned long long hw_lines;
#define HW_OTHER_DATA	(1ULL << 63)

struct hw_rq {
	unsigned int	epoch;			/* kernel entry of the last look at that CPU, and */
	unsigned int	version;		/* of the lines its lock guards */
	hw_lines	looked;			/* what was looked at in that entry */
	hw_lines	read;			/* what others have read of this version */
	unsigned char	reader;			/* the farthest of them, a hw_distance */
	simtime		seen_idle;		/* a task is queued, but others see none until then */
};
extern struct hw_rq hw_rqs[HW_MAX_CPUS];
static inline int hw_is_seen_idle(int cpu)
{
	return hw.clk < hw_rqs[cpu].seen_idle && cpu != hw.cpu;
}

void hw_look_closer(unsigned int cpu, hw_lines lines);
void hw_rq_recall(unsigned int cpu);

/* The running CPU reads these lines of a CPU's data. */
static inline void hw_look(unsigned int cpu, hw_lines lines)
{
	const struct hw_rq *rq = &hw_rqs[cpu];

	if (__builtin_expect(rq->epoch != hw.epoch || (lines & ~rq->looked), 0))
		hw_look_closer(cpu, lines);
}

/* The lines of a CPU's runqueue are about to change. */
static inline void hw_rq_write(unsigned int cpu)
{
	struct hw_rq *rq = &hw_rqs[cpu];

	rq->version++;
	if (rq->read)
		hw_rq_recall(cpu);
}

void hw_lock_wait(simtime *acquired, simtime released, int last);
int hw_lock_seen_taken(simtime acquired, simtime released, int last);

extern unsigned int hw_hot_filter[HW_HOT_FILTER];	/* how many hot lines have this hash */
void hw_hot_register(const void *object, const void *addr);	/* the line of addr */
void hw_hot_forget(const void *object);
void hw_hot_line(const void *addr, int write);

/* A memory line of a program or a queue: whoever comes from elsewhere fetches it. */
struct hw_line {
	simtime	acquired, released;
	int	owner;			/* CPU number + 1 */
};
void hw_psi_change(const void *state);	/* of a cgroup on a CPU: one line */
void hw_line_move(struct hw_line *line, unsigned int lines);
void hw_line_copy(struct hw_line *first, unsigned int bytes);
simtime hw_clear_time(int node, unsigned long bytes);	/* of new pages */
/* When the others have come as far as this CPU is: what follows hw_order() below. */
void hw_line_look(struct hw_line *line);
void hw_line_write(struct hw_line *line);
void hw_line_exchange(struct hw_line *line);
void hw_line_take(struct hw_line *line);

/* ------------------------------------------------------------------ tasks */

#define HW_COMM_LEN 16

/*
 * What tasks spend their time on, each nanosecond on one of these: X(name in C, name in results, in
 * words). System calls and what is slept in them stand in the same order.
 */
#define HW_TIMES(X) \
	X(USER, "user", "running user code at full speed") \
	X(SIBLING, "sibling", "user code slowed by a busy sibling") \
	X(FREQUENCY, "frequency", "user code slowed by a lower frequency") \
	X(CAPACITY, "capacity", "user code slowed by a CPU of less capacity") \
	X(MEMORY, "memory", "user code slowed by distant or busy memory") \
	X(REFILL, "refill", "refilling caches") \
	X(READ, "read", "reading from pipes and sockets") \
	X(WRITE, "write", "writing to pipes and sockets") \
	X(POLL, "poll", "poll() and epoll") \
	X(FUTEX, "futex", "futex calls") \
	X(TIMER, "timer", "timer calls") \
	X(PROCESS, "process", "fork, exec, exit and wait") \
	X(OTHER, "other", "other system calls") \
	X(FAULT, "fault", "page faults") \
	X(INTERRUPT, "interrupt", "stopped by interrupts") \
	X(PLACEMENT, "placement", "choosing CPUs for tasks that wake up or are forked") \
	X(WAKEUP, "wakeup", "waking other tasks") \
	X(SCHEDULE, "schedule", "schedule() and switching") \
	X(NEWIDLE, "newidle", "newidle balance") \
	X(BALANCE, "balance", "periodic and nohz balance") \
	X(LOCK, "lock", "waiting for locks and shared lines") \
	X(WAKING, "waking", "being woken: placement, interrupt, leaving idle") \
	X(WAIT_IDLE, "wait_idle", "waiting runnable while a CPU was idle") \
	X(WAIT_BUSY, "wait_busy", "waiting runnable while no CPU was idle") \
	X(THROTTLED, "throttled", "throttled by cpu.max") \
	X(ASLEEP_READ, "asleep_read", "asleep until there is something to read") \
	X(ASLEEP_WRITE, "asleep_write", "asleep until there is room to write") \
	X(ASLEEP_POLL, "asleep_poll", "asleep in poll() and epoll") \
	X(ASLEEP_FUTEX, "asleep_futex", "asleep on a futex") \
	X(ASLEEP_TIMER, "asleep_timer", "asleep for a time") \
	X(ASLEEP_PROCESS, "asleep_process", "asleep until a task it started ends") \
	X(ASLEEP_OTHER, "asleep_other", "asleep in other calls")
#define HW_TIME_ID(id, name, words)	HW_TIME_##id,
#define HW_TIME_NAME(id, name, words)	name,
enum hw_time { HW_TIMES(HW_TIME_ID) HW_NR_TIMES };

/* The time of a group of tasks in the measured window. */
struct hw_account {
	char		name[HW_COMM_LEN];
	struct hw_account *next;
	unsigned long	tasks;			/* that were there in the window */
	simtime		ended;			/* time in it of those that have ended */
	simtime		ns[HW_NR_TIMES];
	simtime		ran[HW_MAX_KINDS];	/* on CPUs of each kind, interrupts there too */
};
extern struct hw_account *hw_first_account;
struct hw_account *hw_account(const char *name);	/* created where there is none yet */

/* Lines in the caches that a core has for itself (refill.c). */
struct hw_core_caches {
	unsigned long	l1, l2;
};
extern struct hw_core_caches *hw_core_caches;	/* by core: what came in */

/* Lines that are not where a task is, and what they cost in all. */
struct hw_cold {
	unsigned long	lines;
	simtime		ns;
};

/*
 * What a CPU runs, and what is counted of it.  The floors above have more of their own around it.
 */
struct hw_task {
	int		pid;
	char		comm[HW_COMM_LEN];
	simtime		work;			/* nominal ns still to run in user mode */
	simtime		spins_until; /* busy-waits for that time, whatever takes the CPU; or 0 */
	unsigned int	slow_ratio; /* speed on a CPU below full capacity, 0: the machine's */
	unsigned int	footprint_kb;		/* of its work, which it needs near */
	unsigned int	memory_share;		/* 0..1024 of its work that is memory traffic */
	int		mem_node;		/* node of the memory it last touched, -1: local */
	struct hw_task	*next, *previous;
	int		of_workload;		/* its migrations count as the workloads' own */
	int		group; /* of the picture: hw_picture_group(), 0: the kernel's */
	int		ready_is_wakeup;
	int		woken_by, woken_at;	/* the waker + 1 until it is queued; where it was */
	unsigned int	wake_lines;		/* that are still to be fetched then */
	simtime		ready_at, wait_sum, wait_max;
	simtime		queued_at;		/* since when it waits where it waits now */
	unsigned long	waits, migrations, voluntary, involuntary;
	/* where its time goes (spent.c) */
	struct hw_account *account;		/* NULL: nobody asks */
	enum hw_time	spends, call;		/* at present; the system call it made last */
	enum hw_time	was_in;			/* of the kernel, when it was switched away from */
	int		is_woken;		/* before it was switched away from */
	simtime		came, accounted;	/* accounted since, and up to */
	struct hw_places *places;		/* where it may run; NULL: on one CPU */
	simtime		idle_before;		/* of these places, when it began to wait */
	int		waits_on;		/* the CPU in whose queue it is, + 1 */
	struct hw_task	*next_waiting, *previous_waiting;	/* of that queue */
	/* what its core's caches have of it (refill.c) */
	struct hw_core_caches left;		/* what had come in when it was switched away from */
	unsigned long	cold_l1;		/* lines of its footprint that the first cache lacks */
	struct hw_cold	cold_near, cold_far;	/* and the second: in its LLC, and beyond */
	struct hw_cold	cold_new;		/* of a new image, which paid for them in its start */
	simtime		since_line;		/* of its work, since it came to one of them */
	simtime		ahead;			/* parts of a ns of work done beyond what is counted */
	simtime		owed;			/* of the wait for those that it came to */
};

/*
 * Another task gets the CPU, on which this one was in user mode; later it is back there, and was so
 * last on CPU `from`.
 */
static inline void hw_leave_caches(struct hw_task *task)
{
	task->left = hw_core_caches[hw_cpu_topo[hw.cpu].core];
}

static inline int hw_caches_kept(const struct hw_task *task)	/* nothing came in since */
{
	const struct hw_core_caches *now = &hw_core_caches[hw_cpu_topo[hw.cpu].core];

	return task->left.l1 == now->l1 && task->left.l2 == now->l2;
}

void hw_refill_caches(struct hw_task *task, int from);

extern struct hw_task *hw_first_task;	/* of all that were ever started, by next */
void hw_add_task(struct hw_task *task);
void hw_remove_task(struct hw_task *task);
struct hw_task *hw_running_task(void);		/* NULL: before the CPU's first switch */

/* ------------------------------------------------------------------ CPUs waiting for something */

enum hw_vector { HW_TIMER, HW_CALL, HW_RESCHED, HW_POLL, HW_NR_VECTORS };

/* The running CPU waits, and others run meanwhile.  All return at the CPU's own time. */
int hw_run_user(struct hw_task *task);		/* 1: work done, 0: interrupted */
int hw_pass_user(struct hw_task *task);		/* the same, of one without work */
/* Waits for the next interrupt; if polling, for a wakeup or `until` as well. */
void hw_halt(int state, int polling, simtime until);
/* Enters or leaves an idle state; nothing interrupts it. */
void hw_idle_change(int state, simtime ns, int busy);
void hw_wait_until(simtime t);			/* in the kernel: nothing interrupts */
void hw_catch_up(void);

/* Lets the others run up to this CPU's time: all see what it does next in order of time. */
static inline void hw_order(void)
{
	if (hw.clk > hw.next && !hw.held)
		hw_catch_up();
}

/*
 * These wait in the function that calls them: each return behind a change of stacks is one that
 * the host guesses wrong.
 */

/* An atomic change, without a lock. */
static inline void hw_line_change(struct hw_line *line)
{
	hw_order();
	hw_line_write(line);
}

/* One that looks first, and then compares and exchanges. */
static inline void hw_line_change_if(struct hw_line *line)
{
	hw_order();
	hw_line_look(line);
	hw_order();
	hw_line_exchange(line);
}

/* A short sleeping lock whose holder never blocks: waiters queue by arrival. */
static inline void hw_line_lock(struct hw_line *line)
{
	hw_order();
	hw_line_take(line);
}

/*
 * What the holder does to the object happens now, for everybody: the others come this
 * far first.  Those of them that want the lock meanwhile queue behind.
 */
static inline void hw_line_settle(struct hw_line *line)
{
	line->released = hw.clk;
	hw_order();
}

static inline void hw_line_unlock(struct hw_line *line)
{
	if (line->released < hw.clk)
		line->released = hw.clk;
}

void hw_spin(void);
/* Takes the vectors that are due, with interrupts on. */
void hw_on_interrupt(void (*handler)(void));

/* What the kernel was entered for: its time is accounted by this. */
#define HW_ENTRIES(X) \
	X(ENTRY_SYSCALL, "syscall") X(ENTRY_TIMER, "timer") X(ENTRY_CALL, "call_function") \
	X(ENTRY_RESCHED, "reschedule") X(ENTRY_IDLE, "idle_loop") X(ENTRY_OTHER, "other")
enum hw_entry { HW_ENTRIES(HW_ID) HW_NR_ENTRIES };
enum hw_entry hw_enter(enum hw_entry entry);	/* returns the one before */

int hw_take_vector(void);			/* next due interrupt of this CPU, or -1 */
void hw_set_timer(simtime expires);
void hw_send_vector(int cpu, int vector, simtime latency);
void hw_interrupt(int cpu, int vector);		/* from outside, when no CPU runs */
int hw_in_kernel(int cpu);			/* stopped in the middle of kernel code */
void hw_context_switch(void *next_task, struct hw_task *next);
void hw_cpu_dead(void);				/* off-line: until hw_cpu_alive() */
void hw_cpu_alive(int cpu, void *sp, void *task);
void hw_set_boot_cpu(int cpu, void *task);	/* boot: whose code runs; no time passes */
void hw_start_cpu(int cpu, void *sp, void *task);

/* A context's stack pointer is kept while it is stopped; while it runs, the place is NULL. */
void hw_co_switch(void **save_sp, void *sp);	/* in assembly */
void *hw_co_init(void *stack, unsigned long size, void (*entry)(void));
void **hw_co_frame(void *sp, void **ip);	/* where a switched-away coroutine stands */
void *hw_stack_alloc(void);
void hw_stack_free(void *stack);
extern const unsigned long hw_stack_size;
#define HW_STACK_CANARY 0x5c4ed1ab57ac0000ULL

/* ------------------------------------------------------------------ services of libc */

void *hw_zalloc(unsigned long size, unsigned long align);
void *hw_zalloc_huge(unsigned long size);
/* Addresses, whose memory is zero and there where it is used. */
void *hw_reserve(unsigned long size);
void *hw_reserve_low(unsigned long size);	/* the same, in the first 4 GiB */
void hw_free(void *p);
/* Nobody may use it until it is given again: AddressSanitizer sees who does, in a build with it. */
#ifdef ENGINE_SANITIZE
void hw_poison(const void *p, unsigned long size);
void hw_unpoison(const void *p, unsigned long size);
#else
static inline void hw_poison(const void *p, unsigned long size) { }
static inline void hw_unpoison(const void *p, unsigned long size) { }
#endif
void hw_make_writable(const void *p, unsigned long size);
void hw_freeze(const void *begin, const void *end);	/* the scheduler's constants */
unsigned long long hw_random(void);
unsigned long long hw_random_of_scheduler(void);
void hw_log(const char *text, unsigned long len);
void hw_die(const char *what, const char *file, int line) __hw_noreturn __cold;
void hw_progress(void);				/* of long work without events */
void hw_die_about(const char *what, int cpu, const char *task, void *sp) __hw_noreturn __cold;
void hw_bug(const char *file, int line, const char *func) __hw_noreturn __cold;
void hw_warn(const char *file, int line, const char *func) __cold;
void hw_survives_warning(const char *func);	/* one that a real kernel survives, too */
void hw_stub(const char *symbol) __hw_noreturn __cold;
/* `more`: lines below it, or NULL. */
void hw_end_run(const char *why, const char *more) __hw_noreturn __cold;
/* Code of a BPF scheduler compiled natively: there dividing by zero gives 0. */
void hw_scheduler_code(const void *begin, const void *end);
const void *hw_function_of(const void *ip);	/* where it begins; NULL: unknown */
/* "simple_enqueue() (scx_simple.bpf.c:77)", of a function's first address. */
void hw_scheduler_function(const void *function, char *text, unsigned long size);
/* With the operation and the line that called. */
void hw_end_in_scheduler(const char *why) __hw_noreturn __cold;
/* A sched_ext scheduler refuses a task that `comm` forks. */
void hw_end_in_fork(const char *comm, int error) __hw_noreturn __cold;
void hw_let_go(int cpu);				/* of a lock, by whoever finds it given back */
void hw_lock_imbalance(void *lock) __hw_noreturn __cold;

static inline void hw_switch_context(void **save_sp, void **sp)
{
	void *stopped = *sp;

	if (__builtin_expect(!stopped || *save_sp, 0))
		hw_die("a context that is not stopped is resumed", "cpu", hw.cpu);
	*sp = 0;
	hw_co_switch(save_sp, stopped);
}

/* ------------------------------------------------------------------ accounts */

/* Functions of the scheduler whose time is summed up, with what they call. */
#define HW_FUNCTIONS(X) \
	X(SELECT_TASK_RQ, "select_task_rq") X(PICK_NEXT_TASK, "pick_next_task") \
	X(NEWIDLE_BALANCE, "newidle_balance") X(LOAD_BALANCE, "load_balance") \
	X(UPDATE_SD_LB_STATS, "update_sd_lb_stats") \
	X(UPDATE_BLOCKED_AVERAGES, "update_blocked_averages")
enum hw_function { HW_FUNCTIONS(HW_ID) HW_NR_FUNCTIONS };
struct hw_function_time {
	unsigned long	calls;
	simtime		ns;
};

/* What lines, locks and refills have cost. */
#define HW_PAID(X) \
	X(runqueue_lookups) X(runqueue_misses) X(lock_waits) X(lock_refusals) X(lock_wait_ns) \
	X(hot_line_retries) X(hot_line_waits) X(hot_line_wait_ns) X(refill_ns) X(fabric_wait_ns) \
	X(bpf_ns)

/* A histogram of durations: logarithmic, eight buckets an octave. */
#define HW_DURATION_BITS	3
#define HW_DURATION_BUCKETS	BUCKETS_OF(HW_DURATION_BITS)
struct hw_durations {
	unsigned long	bucket[HW_DURATION_BUCKETS], count;
	simtime		sum, max;
};

/* A fine one, of which percentiles are compared: off by less than a part in 512. */
#define HW_FINE_BITS		9

/* Since the window began in which the run is measured. */
struct hw_counts {
	simtime		start;
	struct hw_durations wakeup, queued; /* how long tasks waited: woken, preempted */
	struct hw_durations task_wakeup; /* the same of woken tasks whose time is accounted */
	unsigned long	fine_task_wakeup[BUCKETS_OF(HW_FINE_BITS)];
	unsigned long	migrations[2][HW_NR_DISTANCES];		/* [at wakeup] */
	unsigned long	own_migrations;			/* by tasks of workloads */
	unsigned long	voluntary, involuntary;		/* switches */
	unsigned long	spins, catch_ups;
	simtime		kernel_ns[HW_NR_ENTRIES];
	struct hw_function_time function[HW_NR_FUNCTIONS];
#define COUNT(name)	unsigned long long name;
	HW_PAID(COUNT)
#undef COUNT
};
extern struct hw_counts hw_counts;

static inline void hw_function_ran(enum hw_function function, simtime from)
{
	hw_counts.function[function].calls++;
	hw_counts.function[function].ns += hw.clk - from;
}

/*
 * From now on the running task's time is accounted as `what`; returns what it was before.
 * hw_spent() accounts the time since then as that.
 */
enum hw_time hw_spend_on(enum hw_time what);
void hw_spent(enum hw_time what, simtime from);
void hw_task_comes(struct hw_task *task);	/* its account begins */
/* On the running CPU, and sleeps unless it is queued. */
void hw_task_stops(struct hw_task *task, int is_over);
void hw_task_runs(struct hw_task *task);
void hw_task_is_woken(struct hw_task *task);
void hw_task_waits(struct hw_task *task, int cpu, int throttled);	/* in this CPU's queue */
struct hw_task *hw_first_waiting(int cpu);
void hw_task_may_run_on(struct hw_task *task, const unsigned long *cpus, int nr);
void hw_cpu_idles(int cpu, int idles, int is_free); /* runs its idle task; and has nothing to do */

void hw_note_switch(struct hw_task *prev, int preempted, struct hw_task *next);
void hw_note_woken(struct hw_task *task);
void hw_note_migration(struct hw_task *task, int from, int to, int at_wakeup);
void hw_hash(unsigned long long a, unsigned long long b);
extern unsigned long long hw_trace_hash;

/* ------------------------------------------------------------------ the picture of a run */

/* What a CPU's time goes into; and, beside it, how long tasks waited for that CPU. */
#define HW_PICTURE_GROUPS	14
enum hw_picture_kind {
	HW_PICTURE_WAITING, HW_PICTURE_IDLE, HW_PICTURE_OFFLINE,
	HW_PICTURE_BUSY,		/* with a task of this group, and those that follow */
	HW_PICTURE_KINDS = HW_PICTURE_BUSY + HW_PICTURE_GROUPS
};
struct hw_picture {
	int		taken, bins, nr_groups;
	simtime		bin_ns;
};
void hw_ask_picture(void);		/* before the window begins */
int hw_picture_group(const char *name);	/* of tasks of that name; 0 is the kernel's own */
const char *hw_picture_name(int group);
void hw_picture_waits(const struct hw_task *task, int cpu); /* to the present, as the window ends */
struct hw_picture hw_picture(void);
simtime hw_picture_ns(int cpu, int bin, int kind);
unsigned long hw_picture_moved(int from_llc, int to_llc);

/* ---------------------------------------------------------------- for who runs a scenario on it */

struct hw_machine {
	const char	*name, *title;
	const char	*session;		/* cgroup of what pid 1 starts, NULL: the root */
	unsigned int	core_khz;		/* the highest there is */
	unsigned int	thread_bandwidth_mbs, cache_bandwidth_mbs;
	int		has_smt;
};
extern struct hw_machine hw_machine;

struct json_t;
/* Returns the file, for the tables of what runs on it. */
struct json_t *hw_read_machine(const char *path);

/* 0: never; from now on an endless loop ends the run as well. */
void hw_fail_after(double host_seconds);
void hw_memory_init(void);		/* before anything is allocated */
void hw_seed(unsigned long long seed);
unsigned long long hw_random_of(unsigned long long *state); /* of a sequence of the caller's own */
void hw_power_on(void);			/* after the machine was read */

void hw_run_until(simtime t);		/* or until hw_ask_control() */
void hw_ask_control(simtime t);		/* of a CPU: hw_run_until() returns at t, or before */
void hw_check_time(void); /* every nanosecond of every CPU is in exactly one account */
struct hw_cpu_time {
	simtime user, kernel, idle, off;
};
struct hw_cpu_time hw_cpu_time(int cpu);
unsigned long hw_events(void);		/* since boot */
void hw_settle_accounts(void); /* of CPUs that are in user mode or idle, up to the present */
void hw_begin_window(void);		/* counts begin anew */
void hw_settle_times(void);		/* of tasks, up to the present; checks that none is lost */

/* Since boot, of CPUs that have operating points. */
struct hw_residency {
	simtime		opp[HW_MAX_OPPS];		/* busy */
	simtime		idle[HW_MAX_IDLE_STATES], change[HW_MAX_IDLE_STATES];
};
struct hw_domain_residency {
	simtime		opp[HW_MAX_OPPS];		/* all time */
	simtime		awake[HW_MAX_OPPS];		/* one of its CPUs is busy */
	/* All are idle, one of them no deeper than here. */
	simtime		idle[HW_MAX_IDLE_STATES];
	unsigned long	changes;			/* of its frequency */
};
void hw_settle_power(void);		/* up to the present, and all accounts with it */
const struct hw_residency *hw_cpu_residency(int cpu);
const struct hw_domain_residency *hw_domain_residency(int domain);
extern int hw_verbose;			/* what the kernel prints is shown */
simtime hw_percentile(const struct hw_durations *d, double percent);
simtime hw_task_wakeup_percentile(double percent);
simtime hw_duration_of(int bucket);	/* the shortest in a bucket */

struct hw_grain {			/* of a region: what an LLC has of it */
	unsigned int	from, to;
	int		llc;			/* number + 1 */
	unsigned long	seen;
	struct hw_grain *next;			/* another LLC's copy */
};
/*
 * Takes bytes into the running CPU's LLC, for it alone if they are to be written; returns how many
 * of them it did not have.
 */
unsigned long hw_cache_fill(struct hw_grain *grain, unsigned int from, unsigned int to, int write);
struct hw_line *hw_user_line(const void *addr);		/* of any memory */
void hw_scatter(struct hw_line *line, unsigned int stores);

/* Bad input ends the program with one message. */
void hw_refuse(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));

#endif
