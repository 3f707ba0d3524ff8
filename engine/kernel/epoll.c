// SPDX-License-Identifier: GPL-2.0-only
/*
 * epoll, level-triggered: waiters that stay, and a list of what became ready, as
 * fs/eventpoll.c has it.
 */
#include <linux/wait.h>
#include "shim.h"
#include "poll.h"

struct kern_watch {
	struct hw_line file;
	wait_queue_head_t waiters;
	struct list_head ready;
};

struct kern_watched {
	wait_queue_entry_t to_read, to_write;
	struct list_head node;		/* in ready, or empty */
	struct kern_pollable what;
	struct kern_watch *watch;
	void *data;
	unsigned int events;		/* 0: none before it is changed */
	bool once, full;		/* full: no room was found, and a writer has not been woken since */
};

struct kern_watch *kern_watch_create(void)
{
	struct kern_watch *watch = hw_zalloc(sizeof(*watch), 64);

	init_waitqueue_head(&watch->waiters);
	INIT_LIST_HEAD(&watch->ready);
	return watch;
}

/* As tcp_poll(), which asks to be told of room (SOCK_NOSPACE) if there is none. */
static bool is_ready(struct kern_watched *w)
{
	if (w->events & KERN_READABLE && shim_readable(&w->what))
		return true;
	if (!(w->events & KERN_WRITABLE))
		return false;
	w->full = !shim_socket_writable(w->what.out);
	return !w->full;
}

static void put_into_ready(struct kern_watched *w)
{
	if (list_empty(&w->node))
		list_add_tail(&w->node, &w->watch->ready);
}

/* ep_poll_callback() */
static void became_ready(struct kern_watched *w, int sync)
{
	put_into_ready(w);
	if (sync)
		__wake_up_sync(&w->watch->waiters, TASK_NORMAL);
	else
		wake_up(&w->watch->waiters);
}

static int became_readable(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct kern_watched *w = wait->private;

	if (w->events & KERN_READABLE)
		became_ready(w, sync);
	return 1;
}

/* sk_stream_write_space(): only of room that somebody did not find */
static int became_writable(wait_queue_entry_t *wait, unsigned int mode, int sync, void *key)
{
	struct kern_watched *w = wait->private;

	if (w->full) {
		w->full = false;
		became_ready(w, sync);
	}
	return 1;
}

static void join(wait_queue_head_t *queue, wait_queue_entry_t *wait, wait_queue_func_t became,
		 struct kern_watched *w)
{
	init_waitqueue_func_entry(wait, became);
	wait->private = w;
	add_wait_queue(queue, wait);
}

static void enter(struct kern_watched *w, unsigned int cost)
{
	shim_syscall_enter(HW_TIME_POLL);
	shim_file_get(&w->watch->file);
	hw_charge(cost);
}

/* What is waited for from now on, and whether it is there. */
static void leave(struct kern_watched *w, unsigned int events)
{
	w->events = events;
	w->full = false;
	if (is_ready(w)) {
		put_into_ready(w);
		wake_up(&w->watch->waiters);
	}
	shim_file_put(&w->watch->file);
	shim_syscall_exit();
}

/* ------------------------------------------------------------------ epoll_ctl() */

void kern_watch_return(struct kern_watched *w, unsigned int events)
{
	enter(w, hw_costs.epoll_add);
	join(shim_readers(&w->what), &w->to_read, became_readable, w);
	if (w->what.out)
		join(shim_socket_writers(w->what.out), &w->to_write, became_writable, w);
	leave(w, events);
}

struct kern_watched *kern_watch_add(struct kern_watch *watch, const struct kern_pollable *what, void *data,
				    int once)
{
	struct kern_watched *w = hw_zalloc(sizeof(*w), 64);

	w->what = *what;
	w->watch = watch;
	w->data = data;
	w->once = once;
	INIT_LIST_HEAD(&w->node);
	kern_watch_return(w, KERN_READABLE);
	return w;
}

void kern_watch_for(struct kern_watched *w, unsigned int events)
{
	enter(w, hw_costs.epoll_change);
	leave(w, events);
}

void kern_watch_again(struct kern_watched *w)
{
	kern_watch_for(w, KERN_READABLE);
}

void kern_watch_drop(struct kern_watched *w)
{
	enter(w, hw_costs.epoll_add);
	remove_wait_queue(shim_readers(&w->what), &w->to_read);
	if (w->what.out)
		remove_wait_queue(shim_socket_writers(w->what.out), &w->to_write);
	list_del_init(&w->node);
	leave(w, 0);
}

/* ------------------------------------------------------------------ epoll_wait() */

/*
 * What is still ready goes to the end of the list, so that all have their turn; each is returned
 * at most once by a call.
 */
static int take_ready(struct kern_watch *watch, void **data, int most)
{
	struct kern_watched *w, *next, *first = NULL;
	int n = 0;

	list_for_each_entry_safe(w, next, &watch->ready, node) {
		if (n == most || w == first)
			break;
		if (!is_ready(w)) {
			list_del_init(&w->node);
			continue;
		}
		data[n++] = w->data;
		if (w->once) {
			w->events = 0;
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
	hw_charge(hw_costs.epoll_wait);
	found = take_ready(watch, data, most);
	if (found || !timeout)
		goto out;
	add_wait_queue_exclusive(&watch->waiters, &wait);
	while (!signal_pending(current)) {
		set_current_state(TASK_INTERRUPTIBLE);
		found = take_ready(watch, data, most);
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
