// SPDX-License-Identifier: GPL-2.0-only
/* Futexes: a wait queue each; a wake without a waiter is not remembered, as in the kernel. */
#include <linux/wait.h>
#include "sim.h"

struct kern_futex {
	struct sim_line bucket;
	wait_queue_head_t waiters;
	unsigned long wakes;		/* who sleeps waits for this to pass its ticket */
	unsigned long tickets;
};

struct kern_futex *kern_futex_create(void)
{
	struct kern_futex *futex = sim_zalloc(sizeof(*futex), 64);

	init_waitqueue_head(&futex->waiters);
	return futex;
}

void kern_futex_wait(struct kern_futex *futex)
{
	unsigned long ticket;

	sim_syscall_enter();
	sim_charge(sim_costs.futex);
	sim_line_lock(&futex->bucket);
	ticket = ++futex->tickets;
	sim_line_unlock(&futex->bucket);
	wait_event_interruptible_exclusive(futex->waiters, futex->wakes >= ticket);
	sim_syscall_exit();
}

int kern_futex_wake(struct kern_futex *futex, int nr)
{
	unsigned long waiting;

	sim_syscall_enter();
	sim_charge(sim_costs.futex);
	sim_line_lock(&futex->bucket);
	waiting = min_t(unsigned long, futex->tickets - futex->wakes, nr);
	futex->wakes += waiting;
	sim_line_unlock(&futex->bucket);
	if (waiting)
		wake_up_interruptible_nr(&futex->waiters, waiting);
	sim_syscall_exit();
	return waiting;
}
