/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Flags that a unit takes by exchanging 0 for 1 and gives back by writing 0, as locks in simulated
 * time: a CPU that has not given one back yet keeps the others out, though the words are written one
 * event after another.  The word counts as well: a flag that is given back by other means is free
 * again, and one that has another value than expected is not taken.
 */
#ifndef SHIM_FLAGS_H
#define SHIM_FLAGS_H

#define SHIM_FLAGS	16	/* more are what their words say */

static struct shim_flag {
	const atomic_t *word;
	arch_spinlock_t lock;
	int owner;
} shim_flags[SHIM_FLAGS];

/* By the flag's place, not its name: a patch may rename it, or add another one. */
static inline struct shim_flag *shim_flag_of(const atomic_t *word)
{
	struct shim_flag *flag = shim_flags;

	while (flag < shim_flags + SHIM_FLAGS && flag->word && flag->word != word)
		flag++;
	return flag < shim_flags + SHIM_FLAGS ? flag : NULL;
}

/* Whether the word may be exchanged now. */
static inline int shim_flag_take(const atomic_t *word)
{
	struct shim_flag *flag = shim_flag_of(word);

	if (!flag)
		return 1;
	flag->word = word;
	if (flag->lock.locked && !atomic_read(word)) {
		flag->lock.locked = 0;
		hw_let_go(flag->owner);
	}
	if (!arch_spin_trylock(&flag->lock))
		return 0;
	flag->owner = hw.cpu;
	return 1;
}

static inline void shim_flag_drop(const atomic_t *word)
{
	struct shim_flag *flag = shim_flag_of(word);

	if (!flag || !flag->word || !flag->lock.locked)
		return;
	hw.held++;
	arch_spin_unlock(&flag->lock);
	hw_let_go(flag->owner);
}

/* The lock is what the exchange costs: which other variables share the word's line is the linker's. */
static inline int shim_flag_cmpxchg(atomic_t *word, int from, int to)
{
	int old;

	if (from || to != 1)
		return atomic_cmpxchg_acquire(word, from, to);
	if (!shim_flag_take(word))
		return 1;
	old = shim_cmpxchg(&word->counter, 0, 1);
	if (old)
		shim_flag_drop(word);
	return old;
}

static inline int shim_flag_try_cmpxchg(atomic_t *word, int *from, int to)
{
	if (*from || to != 1)
		return atomic_try_cmpxchg_acquire(word, from, to);
	*from = shim_flag_cmpxchg(word, 0, 1);
	return !*from;
}

static inline void shim_flag_set(atomic_t *word, int to)
{
	atomic_set_release(word, to);
	if (!to)
		shim_flag_drop(word);
}

#endif
