// SPDX-License-Identifier: GPL-2.0-only
/*
 * poll(): a non-exclusive waiter on each queue, as fs/select.c has it; epoll: waiters
 * that stay, and a list of what became readable, as fs/eventpoll.c has it.
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

static bool readable(const struct kern_pollable *p)
{
	return p->pipe ? shim_pipe_readable(p->pipe) : shim_socket_readable(p->socket);
}

static int first_readable(const struct kern_pollable *set, int nr)
{
	int i;

	for (i = 0; i < nr; i++)
		if (readable(&set[i]))
			return i;
	return -1;
}

static void enlist(struct entry *e, const struct kern_pollable *p, struct table *table)
{
	e->table = table;
	e->queue = p->pipe ? shim_pipe_readers(p->pipe) : shim_socket_readers(p->socket);
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

/* ------------------------------------------------------------------ epoll, level-triggered */

struct kern_watch {
	struct hw_line file;
	wait_queue_head_t waiters;
	struct list_head ready;
};

struct kern_watched {
	wait_queue_entry_t wait;
	struct list_head node;		/* in ready, or empty */
	struct kern_pollable what;
	struct kern_watch *watch;
	void *data;
	bool once, off;
};

struct kern_watch *kern_watch_create(void)
{
	struct kern_watch *watch = hw_zalloc(sizeof(*watch), 64);

	init_waitqueue_head(&watch->waiters);
	INIT_LIST_HEAD(&watch->ready);
	return watch;
}

/* ep_poll_callback() */
static int became_readable(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct kern_watched *w = container_of(wait, struct kern_watched, wait);

	if (w->off)
		return 1;
	if (list_empty(&w->node))
		list_add_tail(&w->node, &w->watch->ready);
	if (sync)
		__wake_up_sync(&w->watch->waiters, TASK_NORMAL);
	else
		wake_up(&w->watch->waiters);
	return 1;
}

static void look_for_the_first_time(struct kern_watched *w)
{
	if (!readable(&w->what))
		return;
	if (list_empty(&w->node))
		list_add_tail(&w->node, &w->watch->ready);
	wake_up(&w->watch->waiters);
}

struct kern_watched *kern_watch_add(struct kern_watch *watch, const struct kern_pollable *what, void *data,
				    int once)
{
	struct kern_watched *w = hw_zalloc(sizeof(*w), 64);

	shim_syscall_enter(HW_TIME_POLL);
	hw_charge(hw_costs.poll);
	w->what = *what;
	w->watch = watch;
	w->data = data;
	w->once = once;
	INIT_LIST_HEAD(&w->node);
	init_waitqueue_func_entry(&w->wait, became_readable);
	add_wait_queue(what->pipe ? shim_pipe_readers(what->pipe) : shim_socket_readers(what->socket),
		       &w->wait);
	look_for_the_first_time(w);
	shim_syscall_exit();
	return w;
}

void kern_watch_again(struct kern_watched *w)
{
	shim_syscall_enter(HW_TIME_POLL);
	hw_charge(hw_costs.poll);
	w->off = false;
	look_for_the_first_time(w);
	shim_syscall_exit();
}

/*
 * What is still readable goes to the end of the list, so that all have their turn; each is returned
 * at most once by a call.
 */
static int take_readable(struct kern_watch *watch, void **data, int most)
{
	struct kern_watched *w, *next, *first = NULL;
	int n = 0;

	list_for_each_entry_safe(w, next, &watch->ready, node) {
		if (n == most || w == first)
			break;
		if (!readable(&w->what)) {
			list_del_init(&w->node);
			continue;
		}
		data[n++] = w->data;
		if (w->once) {
			w->off = true;
			list_del_init(&w->node);
			continue;
		}
		if (!first)
			first = w;
		list_move_tail(&w->node, &watch->ready);
	}
	return n;
}

int kern_watch_wait(struct kern_watch *watch, void **data, int most, simtime timeout)
{
	DECLARE_WAITQUEUE(wait, current);
	ktime_t until = hw.clk + timeout;
	int found;

	shim_syscall_enter(HW_TIME_POLL);
	shim_file_get(&watch->file);
	hw_charge(hw_costs.poll);
	found = take_readable(watch, data, most);
	if (found || !timeout)
		goto out;
	add_wait_queue_exclusive(&watch->waiters, &wait);
	while (!signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		found = take_readable(watch, data, most);
		if (found || (timeout != HW_NEVER && hw.clk >= until))
			break;
		if (timeout == HW_NEVER)
			schedule();
		else
			schedule_hrtimeout_range(&until, shim_timer_slack(), HRTIMER_MODE_ABS);
	}
	__set_current_state(TASK_RUNNING);
	remove_wait_queue(&watch->waiters, &wait);
out:
	if (found > 1)
		hw_charge(hw_costs.poll * (found - 1));
	shim_file_put(&watch->file);
	shim_syscall_exit();
	return found;
}
