/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flags that a unit takes by atomic_cmpxchg_acquire() and gives back by atomic_set_release(), as locks
 * in simulated time: who has not given one back yet there keeps others out, though the words are
 * written one event after another.  What the word says holds as well: a flag that is given back by
 * other means is free again, and one that is not what is expected is not taken.
 *
 * No spinlock is held meanwhile: other CPUs go on, as beside any code that has a flag.
 */
#ifndef SHIM_FLAGS_H
#define SHIM_FLAGS_H

/* By the flag's place, not its name: a patch may rename it, or add another one. */
static inline arch_spinlock_t *shim_flag_lock(const atomic_t *flag)
{
	static struct {
		const atomic_t *flag;
		arch_spinlock_t lock;
	} known[16];
	int i;

	for (i = 0; i < 16; i++) {
		if (!known[i].flag)
			known[i].flag = flag;
		if (known[i].flag == flag)
			return &known[i].lock;
	}
	hw_die("fair.c takes more flags as locks than the engine has", __FILE__, __LINE__);
}

static inline int shim_flag_take(const atomic_t *flag, int from)
{
	arch_spinlock_t *lock = shim_flag_lock(flag);

	if (atomic_read(flag) == from)
		lock->locked = 0;
	if (!arch_spin_trylock(lock))
		return 0;
	hw.held--;
	return 1;
}

static inline void shim_flag_drop(const atomic_t *flag)
{
	arch_spinlock_t *lock = shim_flag_lock(flag);

	if (!lock->locked)
		return;
	hw.held++;
	arch_spin_unlock(lock);
}

static inline int shim_flag_cmpxchg(atomic_t *flag, int from, int to)
{
	int old;

	if (!shim_flag_take(flag, from))
		return !from;
	old = atomic_cmpxchg_acquire(flag, from, to);
	if (old != from)
		shim_flag_drop(flag);
	return old;
}

static inline int shim_flag_try_cmpxchg(atomic_t *flag, int *from, int to)
{
	if (!shim_flag_take(flag, *from))
		return 0;
	if (atomic_try_cmpxchg_acquire(flag, from, to))
		return 1;
	shim_flag_drop(flag);
	return 0;
}

static inline void shim_flag_set(atomic_t *flag, int to)
{
	atomic_set_release(flag, to);
	shim_flag_drop(flag);
}

#endif
