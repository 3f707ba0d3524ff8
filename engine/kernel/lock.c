// SPDX-License-Identifier: GPL-2.0-only
/* What taking a spinlock costs when another CPU had it, and waiting in order of arrival. */
#include <linux/spinlock.h>
#include "shim.h"

void shim_lock_slow(arch_spinlock_t *l)
{
	if (!hw.live) {
		if (l->locked)
			hw_die("a lock is taken twice at boot", "spinlock", 0);
		return;
	}
	/* Only a holder that itself waits for something leaves a lock taken. */
	while (l->locked)
		hw_spin();
	if (hw_mechanisms.locks)
		hw_lock_wait(&l->acquired, l->released, l->last);
}

/*
 * The holder is through on the host, but not yet in simulated time: a task that tries sees it taken.
 */
int shim_lock_is_taken(arch_spinlock_t *l)
{
	return hw.live && hw_mechanisms.locks && hw_lock_seen_taken(l->acquired, l->released, l->last);
}
