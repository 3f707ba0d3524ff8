/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A sched_ext scheduler that was compiled natively: what its build puts into the program beside it
 * (engine/scripts/scx/native.py), and what the files here share.  A name that begins with native_
 * answers a helper or kfunc that the scheduler calls without the prefix.
 */
#ifndef SHIM_SCX_H
#define SHIM_SCX_H

#include "../shim.h"

struct shim_map {
	/* By which the scheduler names it; its first word is where it is found. */
	void		*declared;
	const char	*name;
	unsigned int	type, key_size, value_size, max_entries, flags;
	void		**values;	/* the maps that one of maps begins with */
	unsigned int	nr_values;
	/* since it was made: */
	raw_spinlock_t	lock;		/* of a queue */
	unsigned int	used, head;
	void		**slots;	/* by index, CPU or hash */
};

struct shim_tunable {
	const char	*name;
	void		*at;
	unsigned int	size;		/* of one element */
	unsigned int	count;		/* of an array, else 1 */
	bool		is_signed, is_flag, is_text;
};

/* One of its own that its program runs (SEC("syscall")). */
struct shim_program {
	const char	*name;
	int		(*run)(void *argument);
};

struct shim_scheduler {
	const char	*source, *operations;
	const void	*ops;
	bool		by_cid;			/* they are sched_ext_ops_cid */
	struct shim_map	*maps;
	unsigned int	nr_maps;
	const struct shim_tunable *tunables;
	unsigned int	nr_tunables;
	const struct shim_program *programs;
	unsigned int	nr_programs;
};
extern struct shim_scheduler shim_scheduler __weak;

extern char __start_scx_text[] __weak, __stop_scx_text[] __weak;

/* access.c: time in the scheduler's code, and what it calls on its behalf */
void shim_scx_charge(unsigned int ns);

/* hooked/kernel/sched/build_policy.c */
int shim_ext_load(const void *ops, bool by_cid, u64 flags);	/* flags: on top of its own */
void shim_ext_unload(void);
bool shim_ext_is_loaded(void);
u64 shim_ext_flags(bool more, bool has_nodes);	/* that programs of the scx project set */
const char *shim_ext_name(void);
extern const u64 shim_ext_slice_ns;	/* by default */

/*
 * memory.c: what the scheduler may read and write, an object with room between it and the next one
 */
void *shim_scx_alloc(const char *what, unsigned int size);
void shim_scx_free(void *object);
void shim_scx_check(const void *at, unsigned int size, bool write);

/* Bytes of an object whose lines cost when CPUs share them. */
#define SHIM_SCX_MOST_LINES	(1UL << 20)

/* arena.c */
void shim_scx_make_arena(struct shim_map *m);
void shim_scx_check_arena(const char *at, unsigned int size, bool write);

/* maps.c */
void shim_scx_make_maps(void);
struct shim_map *shim_scx_map(void *declared);
/* NULL: of no array's. */
void *shim_scx_value(const struct shim_map *m, const void *inside, u64 *index);

/* setup.c: loads it as its own program does; 0 or -errno */
int shim_scx_attach(void);

/* load.c: one number of a tunable that it may have */
void shim_scx_put(const char *tunable, unsigned int index, u64 number);
void shim_scx_ended(const char *name, const char *reason, const char *msg, const char *dump);

#endif
