// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spinlocks in values of maps: the kernel's own, with interrupts off, found by the word that the
 * scheduler has.
 */
#include <linux/bpf.h>
#include "scx.h"

struct lock {
	raw_spinlock_t	lock;
	unsigned long	flags;
	bool		held;
	int		cpu;		/* that holds it */
};

#define MOST	(1U << 16)
static struct lock *locks[MOST];
static u32 nr_locks, unused[MOST], nr_unused;

static struct lock *lock_of(u32 *word)
{
	shim_scx_check(word, sizeof(*word), true);
	if (!*word) {
		if (nr_unused) {
			*word = unused[--nr_unused];
			return locks[*word - 1];
		}
		if (nr_locks == MOST)
			hw_end_in_scheduler("the scheduler has more than 65536 spinlocks at a time");
		locks[nr_locks] = hw_zalloc(sizeof(struct lock), 64);
		raw_spin_lock_init(&locks[nr_locks]->lock);
		*word = ++nr_locks;
	}
	if (*word > nr_locks)
		hw_end_in_scheduler("the scheduler wrote over a spinlock");
	return locks[*word - 1];
}

void shim_scx_lock_gone(u32 *word)
{
	if (*word && *word <= nr_locks)
		unused[nr_unused++] = *word;
	*word = 0;
}

static void take(u32 *word)
{
	struct lock *lock = lock_of(word);
	unsigned long flags;

	if (lock->held && lock->cpu == hw.cpu)
		hw_end_in_scheduler("the scheduler takes a spinlock that it holds");
	raw_spin_lock_irqsave(&lock->lock, flags);
	hw_counts.bpf_ns += hw_costs.lock;	/* taking it has charged that */
	lock->flags = flags;
	lock->held = true;
	lock->cpu = hw.cpu;
	shim_scx_holds(SHIM_SCX_LOCKS, 1);
}

void native_bpf_spin_lock(u32 *word)
{
	const struct lock *lock = lock_of(word);

	if (shim_scx_held(SHIM_SCX_LOCKS) && !(lock->held && lock->cpu == hw.cpu))
		hw_end_in_scheduler("the scheduler takes a spinlock while it holds another one");
	take(word);
}

void native_bpf_spin_unlock(u32 *word)
{
	struct lock *lock = lock_of(word);

	if (!lock->held || lock->cpu != hw.cpu)
		hw_end_in_scheduler("the scheduler releases a spinlock that it does not hold");
	lock->held = false;
	shim_scx_holds(SHIM_SCX_LOCKS, -1);
	raw_spin_unlock_irqrestore(&lock->lock, lock->flags);
}

/*
 * One that gives up where two wait for each other, which shows here as a CPU that waits for ever.
 */
int native_bpf_res_spin_lock(u32 *word)
{
	take(word);
	return 0;
}

void native_bpf_res_spin_unlock(u32 *word)
{
	native_bpf_spin_unlock(word);
}
