// SPDX-License-Identifier: GPL-2.0-only
/*
 * Futexes: a queue of waiters a word, by priority and then arrival, woken through a wake_q after
 * the bucket's lock is free, as kernel/futex does.  A wake without a waiter is not remembered.
 */
#include <linux/hashtable.h>
#include <linux/plist.h>
#include <linux/sched/wake_q.h>
#include "shim.h"

/* As in the traces of a host: FUTEX_WAIT and FUTEX_WAKE of one process. */
#define WAIT_PRIVATE	0x80
#define WAKE_PRIVATE	0x81

struct waiter {
	struct plist_node list;
	struct task_struct *task;
	bool woken;
};

/* A word gets a bucket of its own: addresses, and so collisions, differ between runs. */
struct bucket {
	struct hlist_node node;
	const unsigned int *word;
	struct hw_line lock;
	unsigned int object;
	struct plist_head waiters;
};

static DEFINE_HASHTABLE(buckets, 12);

static struct bucket *futex_bucket(const unsigned int *word)
{
	struct bucket *b;

	hash_for_each_possible(buckets, b, node, (unsigned long)word)
		if (b->word == word)
			return b;
	b = hw_zalloc(sizeof(*b), 64);
	b->word = word;
	b->object = shim_new_object();
	plist_head_init(&b->waiters);
	hash_add(buckets, &b->node, (unsigned long)word);
	return b;
}

/*
 * The word's memory goes to somebody else, whose futex begins anew: who gets it differs between
 * runs.
 */
void kern_futex_forget(const unsigned int *word)
{
	struct bucket *b;

	hash_for_each_possible(buckets, b, node, (unsigned long)word)
		if (b->word == word) {
			hash_del(&b->node);
			hw_free(b);
			return;
		}
}

static int wait(const unsigned int *word, unsigned int value, simtime timeout, enum hw_time call)
{
	struct bucket *b = futex_bucket(word);
	struct waiter w = { .task = current };
	ktime_t until = hw.clk + timeout;
	int ret = 0;

	shim_syscall_enter(call);
	shim_futex_called(b->object, WAIT_PRIVATE, value);
	hw_charge(hw_costs.futex);
	hw_line_lock(&b->lock);
	if (*word != value) {
		hw_line_unlock(&b->lock);
		shim_futex_returned(-EAGAIN);
		shim_syscall_exit();
		return 0;
	}
	set_current_state(TASK_INTERRUPTIBLE);
	/* as futex_queue(): real-time tasks by their priority, all others are alike */
	plist_node_init(&w.list, min(current->normal_prio, MAX_RT_PRIO));
	plist_add(&w.list, &b->waiters);
	hw_line_unlock(&b->lock);
	while (!w.woken) {
		if (signal_pending(current))
			ret = -EINTR;
		else if (timeout != HW_NEVER && hw.clk >= until)
			ret = -ETIMEDOUT;
		else if (timeout == HW_NEVER)
			schedule();
		else
			schedule_hrtimeout_range(&until, shim_timer_slack(), HRTIMER_MODE_ABS);
		if (ret) {
			plist_del(&w.list, &b->waiters);
			break;
		}
		if (!w.woken)
			set_current_state(TASK_INTERRUPTIBLE);
	}
	__set_current_state(TASK_RUNNING);
	ret = w.woken ? 0 : ret;
	shim_futex_returned(ret);
	shim_syscall_exit();
	return ret;
}

/* 0: woken, or *word was not value; -ETIMEDOUT, -EINTR */
int kern_futex_wait(const unsigned int *word, unsigned int value, simtime timeout)
{
	return wait(word, value, timeout, HW_TIME_FUTEX);
}

/* pthread_join()'s wait, on the thread's id. */
void kern_futex_wait_end(const unsigned int *thread, unsigned int id)
{
	wait(thread, id, HW_NEVER, HW_TIME_PROCESS);
}

int kern_futex_wake(const unsigned int *word, int nr)
{
	struct bucket *b = futex_bucket(word);
	struct waiter *w, *next;
	DEFINE_WAKE_Q(wake_q);
	int woken = 0;

	shim_syscall_enter(HW_TIME_FUTEX);
	shim_futex_called(b->object, WAKE_PRIVATE, nr);
	hw_charge(hw_costs.futex);
	hw_line_lock(&b->lock);
	plist_for_each_entry_safe(w, next, &b->waiters, list) {
		if (woken == nr)
			break;
		plist_del(&w->list, &b->waiters);
		w->woken = true;
		wake_q_add(&wake_q, w->task);
		woken++;
	}
	hw_line_unlock(&b->lock);
	wake_up_q(&wake_q);
	shim_futex_returned(woken);
	shim_syscall_exit();
	return woken;
}
