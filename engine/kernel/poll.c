// SPDX-License-Identifier: GPL-2.0-only
/*
 * poll(): a non-exclusive waiter on each queue, as fs/select.c has it.
 */
#include <linux/wait.h>
#include "shim.h"
#include "poll.h"

struct table {
	struct task_struct *task;
	bool triggered;
};

struct entry {
	wait_queue_entry_t wait;
	wait_queue_head_t *queue;
	struct table *table;
};

static int pollwake(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct entry *e = container_of(wait, struct entry, wait);
	DECLARE_WAITQUEUE(dummy_wait, e->table->task);

	e->table->triggered = true;
	return default_wake_function(&dummy_wait, mode, sync, key);
}

static int first_readable(const struct kern_pollable *set, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (shim_readable(&set[i]))
			return i;
	return -1;
}

static void enlist(struct entry *e, const struct kern_pollable *p, struct table *table)
{
	e->table = table;
	e->queue = shim_readers(p);
	init_waitqueue_func_entry(&e->wait, pollwake);
	add_wait_queue(e->queue, &e->wait);
}

/* The first of the set that can be read, or -1: timed out */
int kern_poll(const struct kern_pollable *set, int nr, simtime timeout)
{
	struct table table = { .task = current };
	ktime_t until = hw.clk + timeout;
	struct entry one, *entries = NULL;
	int i, found;

	shim_syscall_enter(HW_TIME_POLL);
	hw_charge(hw_costs.poll * nr);
	found = first_readable(set, nr);
	if (found >= 0 || !timeout)
		goto out;
	entries = nr == 1 ? &one : hw_zalloc(nr * sizeof(*entries), 64);
	for (i = 0; i < nr; i++)
		enlist(&entries[i], &set[i], &table);
	while ((found = first_readable(set, nr)) < 0 && !signal_pending(current)) {
		if (timeout != HW_NEVER && hw.clk >= until)
			break;
		set_current_state(TASK_INTERRUPTIBLE);
		if (!table.triggered) {
			if (timeout == HW_NEVER)
				schedule();
			else
				schedule_hrtimeout_range(&until, shim_timer_slack(), HRTIMER_MODE_ABS);
		}
		__set_current_state(TASK_RUNNING);
		table.triggered = false;
	}
	for (i = 0; i < nr; i++)
		remove_wait_queue(entries[i].queue, &entries[i].wait);
	if (entries != &one)
		hw_free(entries);
out:
	shim_syscall_exit();
	return found;
}
