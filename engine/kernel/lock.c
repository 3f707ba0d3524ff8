// SPDX-License-Identifier: GPL-2.0-only
/* What taking a spinlock costs when another CPU had it, and waiting in order of arrival. */
#include <linux/spinlock.h>
#include "sim.h"

void sim_lock_slow(arch_spinlock_t *l)
{
	if (!sim.live) {
		if (l->locked)
			sim_die("a lock is taken twice at boot", "spinlock", 0);
		return;
	}
	/* Only a holder that itself waits for something leaves a lock taken. */
	while (l->locked)
		sim_spin();
	if (sim_mechanisms.locks)
		sim_lock_wait(&l->acquired, l->released, l->last);
}

/* The holder is through on the host, but not yet in simulated time: who tries sees the lock taken. */
int sim_lock_is_taken(arch_spinlock_t *l)
{
	return sim.live && sim_mechanisms.locks && sim_lock_seen_taken(l->acquired, l->released, l->last);
}
