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
};

#define MOST	4096
static struct lock *locks[MOST];
static u32 nr_locks;

static struct lock *lock_of(u32 *word)
{
	shim_scx_check(word, sizeof(*word), true);
	if (!*word) {
		if (nr_locks == MOST)
			hw_end_in_scheduler("the scheduler has more than 4096 spinlocks");
		locks[nr_locks] = hw_zalloc(sizeof(struct lock), 64);
		raw_spin_lock_init(&locks[nr_locks]->lock);
		*word = ++nr_locks;
	}
	return locks[*word - 1];
}

void native_bpf_spin_lock(u32 *word)
{
	struct lock *lock = lock_of(word);
	unsigned long flags;

	raw_spin_lock_irqsave(&lock->lock, flags);
	lock->flags = flags;
}

void native_bpf_spin_unlock(u32 *word)
{
	struct lock *lock = lock_of(word);

	raw_spin_unlock_irqrestore(&lock->lock, lock->flags);
}

/*
 * One that gives up where two wait for each other, which shows here as a CPU that waits for ever.
 */
int native_bpf_res_spin_lock(u32 *word)
{
	native_bpf_spin_lock(word);
	return 0;
}

void native_bpf_res_spin_unlock(u32 *word)
{
	native_bpf_spin_unlock(word);
}
