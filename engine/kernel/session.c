// SPDX-License-Identifier: GPL-2.0-only
/* Sessions, whose tasks share an autogroup (kernel/sched/autogroup.c), and their processes. */
#include <linux/sched/signal.h>
#include <linux/sched/autogroup.h>
#include "shim.h"
#include "tasks.h"
#include "autogroup.h"

static struct signal_struct *session;	/* its leader's: all tasks of the session are in its list */

/* Nobody changes a task's handlers: the lock is all there is to it. */
#ifdef TREE_HAS_TASK_SIGHAND
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
	struct signal_struct *sig = hw_zalloc(sizeof(*sig), 64);
	struct task_group *tg __maybe_unused;

	*sig = *current->signal;
	refcount_set(&sig->sigcnt, 1);
	INIT_LIST_HEAD(&sig->thread_head);
	list_add_tail_rcu(&current->thread_node, &sig->thread_head);
	sched_autogroup_fork(sig);
	current->signal = session = sig;
	/* the session stands for a process: a walk over all tasks finds its own */
	list_add_tail_rcu(&current->tasks, &init_task.tasks);
	sched_autogroup_create_attach(current);
#ifdef CONFIG_SCHED_AUTOGROUP
	tg = sig->autogroup->tg;
	hw_hot_register(tg, &tg->load_avg);
#endif
}

static bool in_session(const struct task_struct *p)
{
	return p->signal != init_task.signal;
}

/*
 * Only where cache-aware scheduling asks: it leaves processes of one thread alone.  NUMA balancing
 * of 6.12 asks as well (vma_is_accessed()), and takes every process there for one of a single
 * thread.
 */
static void count_threads(struct signal_struct *sig, int more)
{
#ifdef TREE_HAS_SCHED_CACHE
	sig->nr_threads += more;
#endif
}

/* As copy_signal(): a thread shares its process's, a process has its own. */
void shim_fork_signal(struct task_struct *p, bool thread)
{
	struct signal_struct *sig;

	if (!in_session(p))
		return;
	if (thread) {
		refcount_inc(&p->signal->sigcnt);
		count_threads(p->signal, 1);
		return;
	}
	sig = hw_zalloc(sizeof(*sig), 64);
	*sig = *p->signal;
	sig->nr_threads = 1;
	refcount_set(&sig->sigcnt, 1);
	INIT_LIST_HEAD(&sig->thread_head);
	p->signal = sig;
}

/* From here on a walk over all tasks finds it. */
void shim_join_session(struct task_struct *p)
{
	if (in_session(p))
		list_add_tail_rcu(&p->thread_node, &session->thread_head);
}

void shim_exit_signal(struct task_struct *p)
{
	list_del_rcu(&p->thread_node);
	if (in_session(p))
		count_threads(p->signal, -1);
}

void shim_put_signal(struct task_struct *p)
{
	if (in_session(p) && refcount_dec_and_test(&p->signal->sigcnt))
		hw_free(p->signal);
}
