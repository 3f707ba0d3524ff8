// SPDX-License-Identifier: GPL-2.0-only
/*
 * A system call that works while it holds a mutex of the kernel's: kernel/locking/mutex.c takes it,
 * waits for it and hands it on.  With SCHED_PROXY_EXEC its owner runs in place of those that wait.
 */
#include <linux/hrtimer.h>
#include <linux/mutex.h>
#include "shim.h"

struct kern_mutex {
	struct mutex	lock;
	struct hw_line	line;		/* with the owner's word */
	const char	*name;
	struct task_struct *holder;
};

struct kern_mutex *kern_mutex_create(const char *name)
{
	struct kern_mutex *m = hw_zalloc(sizeof(*m), L1_CACHE_BYTES);

	mutex_init(&m->lock);
	m->name = name;
	return m;
}

/*
 * Nothing ends a circle of holders that wait for each other, and with proxies the kernel follows it
 * for ever.
 */
static void refuse_circle(const struct kern_mutex *wanted)
{
	const struct kern_mutex *m;
	const struct task_struct *holder;

	for (m = wanted; m && (holder = m->holder); m = holder->thread.waits_for)
		if (holder == current)
			hw_refuse("task %s waits for mutex %s, whose holder waits for it",
				  current->comm, wanted->name);
}

/* In the system call that has `held` already, if any. */
void kern_mutex_take(struct kern_mutex *m, int held)
{
	if (!held)
		shim_syscall_enter(HW_TIME_OTHER);
	refuse_circle(m);
	current->thread.waits_for = m;
	hw_line_change(&m->line);
	mutex_lock(&m->lock);
	current->thread.waits_for = NULL;
	m->holder = current;
}

void kern_mutex_give(struct kern_mutex *m, int held)
{
	hw_line_change(&m->line);
	m->holder = NULL;
	mutex_unlock(&m->lock);
	if (!held)
		shim_syscall_exit();
}

/* Work and sleep in a system call, at whose end a killed task exits. */
void kern_work(simtime ns)
{
	shim_kernel_work(ns);
}

void kern_work_sleep(simtime ns)
{
	ktime_t until = hw.clk + ns;

	while (hw.clk < until) {
		ktime_t expires = until;

		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout_range(&expires, shim_timer_slack(), HRTIMER_MODE_ABS);
	}
}
