/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sched_ext scheduler that was compiled natively: what its build puts into the program beside it
 * (engine/scripts/scx/native.py), and what the files here share.  A name that begins with native_
 * answers a helper or kfunc that the scheduler calls without the prefix.
 */
#ifndef SHIM_SCX_H
#define SHIM_SCX_H

#include "../shim.h"

/* What of a value the kernel keeps to itself. */
enum shim_special_kind { SHIM_OTHER, SHIM_LOCK, SHIM_TIMER };
struct shim_special {
	unsigned int	offset, size;
	enum shim_special_kind kind;
};

struct shim_map {
	/* By which the scheduler names it; its first word is where it is found. */
	void		*declared;
	const char	*name;
	unsigned int	type, key_size, value_size, max_entries, flags;
	void		**values;	/* the maps that one of maps begins with */
	unsigned int	nr_values;
	const struct shim_special *specials;	/* of a value, rising */
	unsigned int	nr_specials;
	struct shim_map	*inner;		/* what its program fills it with */
	/* since it was made: */
	const char	*value_name;
	struct list_head by_use;	/* of an LRU hash */
	raw_spinlock_t	lock;		/* of a queue */
	unsigned int	used, head;
	struct list_head messages;	/* of a ring buffer, in order, until its reader has them */
	void		**slots;	/* by index, CPU or hash */
};

struct shim_enumerator {
	const char	*name;
	s64		number;
};

struct shim_tunable {
	const char	*name;
	void		*at;
	unsigned int	size;		/* of one element */
	unsigned int	count;		/* of an array, else 1 */
	bool		is_signed, is_flag, is_text;
	bool		is_tunable;	/* else only its program sets it */
	unsigned int	inner, step;	/* of each structure of an array, and the bytes to the next */
	const struct shim_enumerator *names;	/* of an enumeration */
	unsigned int	nr_names;
};

/* One of its own that its program runs (SEC("syscall")) or attaches. */
struct shim_program {
	const char	*name, *section;
	void		*run;
};

struct shim_scheduler;
struct sched_ext_ops;
struct scx_exit_info;

/* What traces show of an operation or kfunc (engine/scripts/scx/signatures.py). */
#define SHIM_MOST_ARGUMENTS	6
struct shim_signature {
	const char	*name, *arguments[SHIM_MOST_ARGUMENTS], *kinds;
	char		answer;
	int		queue;		/* which argument is a dispatch queue's id; -1: none */
	struct shim_scheduler *of;
	u64		asked, refused;	/* whether operations may call it, a bit each by their place */
};

struct shim_op {
	struct shim_signature *signature;
	unsigned int	offset;			/* in the operations */
	void		*traced;		/* records it and calls the real one, found there: */
	void		**real;
};

struct shim_scheduler {
	const char	*source, *operations;
	void		*ops;
	bool		by_cid;			/* they are sched_ext_ops_cid */
	struct shim_map	*maps;
	unsigned int	nr_maps;
	const struct shim_tunable *tunables;
	unsigned int	nr_tunables;
	const struct shim_program *programs;
	unsigned int	nr_programs;
	const struct shim_op *op_table;
	unsigned int	nr_ops;
	unsigned int	task_context;		/* bytes that a library keeps for each task; 0: none */
	void		(*exits)(struct scx_exit_info *info);	/* its exit(), for the kernel */
	/* since it is chosen: */
	const char	*group;		/* of a sub-scheduler; NULL: it has all that no other has */
	u64		group_id;
	struct sched_ext_ops *loaded;	/* what the kernel was given */
	void		(*own_exit)(struct scx_exit_info *info);
	struct shim_arena *arena;
	struct bpf_prog_aux *aux;	/* of its programs: behind its arguments a kfunc has that of the one which calls */
};
/* Those that are linked in, each an object of its own: the root, and its sub-schedulers behind it. */
extern struct shim_scheduler *const __start_scx_schedulers[] __weak, *const __stop_scx_schedulers[] __weak;
#define shim_for_each_scheduler(at)	for (at = __start_scx_schedulers; at < __stop_scx_schedulers; at++)
extern struct shim_scheduler *shim_scheduler;	/* the one that is set up and loaded now; NULL: none is linked in */

extern char __start_scx_text[] __weak, __stop_scx_text[] __weak;

/* access.c: time in the scheduler's code, and what it calls on its behalf */
void shim_scx_charge(unsigned int ns);
enum shim_scx_held { SHIM_SCX_RCU, SHIM_SCX_PREEMPTION, SHIM_SCX_LOCKS, SHIM_SCX_MESSAGES, SHIM_SCX_NR_HELD };
const void *shim_scx_operation_ip(void);	/* inside the function that the kernel called; NULL: a callback */
void shim_scx_holds(enum shim_scx_held what, int change);	/* until it leaves the operation */
int shim_scx_held(enum shim_scx_held what);
void shim_scx_new_operation(void);
void shim_scx_calls_back(void);		/* a function of the scheduler next, without a trampoline */
void shim_scx_access(const void *at, unsigned int size, bool write);	/* by a helper, on its behalf */
void shim_scx_register_late(const char *begin, const char *end);

/* trace.c */
void shim_scx_trace_operations(void);
void shim_scx_begins(const struct shim_signature *op, const u64 *arguments);
void shim_scx_ends(const struct shim_signature *op, u64 answer);
void shim_scx_called(const struct shim_signature *function, const u64 *arguments, u64 answer);

/* call.c: before a helper or kfunc is called */
void shim_scx_calls(struct shim_signature *function, const u64 *arguments);
void shim_scx_inlines(const char *function);	/* that is no call once the verifier is done */

/* hooked/kernel/sched/build_policy.c */
int shim_ext_load(u64 flags);		/* flags: on top of its own */
void shim_ext_unload(struct shim_scheduler *s);
void shim_ext_exits(struct shim_scheduler *s, struct scx_exit_info *info);
const char *shim_ext_refused_member(void);	/* of the operations; NULL: none */
/* As the verifier would say, where the kernel does not at each call. */
bool shim_ext_may_call(const char *kfunc, unsigned int operation, bool by_cid);
#define SHIM_EXT_ENQ_LAST		1
#define SHIM_EXT_EXITING		2
#define SHIM_EXT_MIGRATION_DISABLED	4
#define SHIM_EXT_QUEUED_WAKEUP		8
#define SHIM_EXT_BY_NODE		16	/* where there are several */
#define SHIM_EXT_OWN_IDLE		32
#define SHIM_EXT_IMMED			64
u64 shim_ext_flags(unsigned int asked, bool has_nodes);	/* of those, what the tree has */
bool shim_ext_reenqueues_anywhere(void);	/* scx_bpf_reenqueue_local() outside of cpu_release() */
const char *shim_ext_name(void);
extern const u64 shim_ext_slice_ns;	/* by default */
extern const unsigned int shim_ext_longest_timeout;	/* of the watchdog, in jiffies */
unsigned long shim_ext_watchdog_looked(void);	/* when it last did */
void shim_ext_tick(void);

/*
 * memory.c: what the scheduler may read and write, an object with room between it and the next one
 */
unsigned long shim_scx_room(unsigned int size);	/* that such an object takes */
void *shim_scx_alloc(const char *what, unsigned int size);
void *shim_scx_alloc_in_row(const char *what, unsigned int size, const char *in_row);
/*
 * Values of an array lie behind each other in BPF: for the cost of lines so do these, each with its
 * room.
 */
const char *shim_scx_row(unsigned long size);
const char *shim_scx_line(const char *at);
void shim_scx_free(void *object);
void shim_scx_retire(void *object);	/* frees it later: who found it before may still read it */
void shim_scx_check(const void *at, unsigned int size, bool write);

/* No memory of a process is beyond. */
#ifdef __aarch64__
#define SHIM_SCX_ADDRESS_BITS	48
#else
#define SHIM_SCX_ADDRESS_BITS	47
#endif

/* Bytes of an object whose lines cost when CPUs share them. */
#define SHIM_SCX_MOST_LINES	(1UL << 20)

/* arena.c */
void shim_scx_make_arena(struct shim_map *m);
bool shim_scx_check_arena(const char *at, unsigned int size, bool write);	/* whether it is there */

/* maps.c: what programs do with maps of a name that this version may have, first before they are made */
void shim_scx_resize(const char *map, unsigned int entries);
void shim_scx_fill(const char *map, unsigned int type, unsigned int value_size, unsigned int entries);
void shim_scx_update(const char *map, const void *key, const void *value);

void shim_scx_make_maps(void);
struct shim_map *shim_scx_map(void *declared);
/* NULL: of no array's. */
void *shim_scx_value(const struct shim_map *m, const void *inside, u64 *index);

/* messages.c */
void shim_scx_make_ring(struct shim_map *m);

/* lock.c, timer.c: of a value that goes */
void shim_scx_lock_gone(u32 *word);
void shim_scx_timer_gone(struct bpf_timer *timer);

/* setup.c: a program of the scheduler for each switch; NULL: none */
extern void (*shim_scx_on_switch)(bool preempt, struct task_struct *prev, struct task_struct *next, unsigned int prev_state);

/* setup.c: loads it as its own program does; 0 or -errno */
int shim_scx_attach(void);

/* load.c: one number of a variable that it may have, and how many there are */
void shim_scx_put(const char *variable, unsigned int index, u64 number);
unsigned int shim_scx_count(const char *variable);
/* `where`: the end of the sentence */
void shim_scx_ended(const char *name, const char *reason, const char *msg, const char *where, const char *dump);

/* stall.c: where the task is that did not come to run, as the end of a sentence, by the kernel's dump */
const char *shim_scx_stall(const struct shim_scheduler *s, const char *msg, const char *dump);

#endif
