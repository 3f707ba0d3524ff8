// SPDX-License-Identifier: GPL-2.0-only
/* setsid(): a session's tasks share an autogroup (kernel/sched/autogroup.c). */
#include <linux/sched/signal.h>
#include <linux/sched/autogroup.h>
#include "sim.h"
#include "autogroup.h"

/* Nobody changes a task's handlers: the lock is all there is to it. */
#ifdef SIM_HAS_TASK_SIGHAND
#define __lock_task_sighand lock_task_sighand
#endif
struct sighand_struct *__lock_task_sighand(struct task_struct *p, unsigned long *flags)
{
	spin_lock_irqsave(&p->sighand->siglock, *flags);
	return p->sighand;
}

/* The calling task leads a new session, whose processes are those that it forks from now on. */
void kern_setsid(void)
{
	struct signal_struct *sig = sim_zalloc(sizeof(*sig), 64);
	struct task_group *tg;

	*sig = *current->signal;
	INIT_LIST_HEAD(&sig->thread_head);
	list_add_tail_rcu(&current->thread_node, &sig->thread_head);
	sched_autogroup_fork(sig);
	current->signal = sig;
	/* the session stands for a process: who looks for all tasks finds its own */
	list_add_tail_rcu(&current->tasks, &init_task.tasks);
	sched_autogroup_create_attach(current);
	tg = sig->autogroup->tg;
	sim_hot_register(tg, &tg->load_avg);
}
