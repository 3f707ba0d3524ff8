// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel threads of the kernel's own making and their works, as kernel/kthread.c runs them:
 * schedutil has one where a driver cannot change the frequency from the scheduler itself.
 */
#include <linux/err.h>
#include <linux/kthread.h>
#include "shim.h"
#include <trace/events/sched.h>

/* A thread made by kthread_create(), which others may stop. */
struct stoppable {
	int (*fn)(void *data);
	void *data;
	bool stop, ended;
};

static void run(void *arg)
{
	struct stoppable *t = arg;

	if (!t->stop)
		t->fn(t->data);
	t->ended = true;
}

/* It sleeps until it is first woken; before, its policy and its CPUs may be set. */
struct task_struct *kthread_create_on_node(int (*fn)(void *data), void *data, int node,
					   const char *fmt, ...)
{
	struct stoppable *t = hw_zalloc(sizeof(*t), 64);
	char comm[TASK_COMM_LEN];
	struct task_struct *p;
	va_list args;

	va_start(args, fmt);
	vsnprintf(comm, sizeof(comm), fmt, args);
	va_end(args);
	t->fn = fn;
	t->data = data;
	p = shim_kthread_create(run, t, -1, comm);
	WRITE_ONCE(p->__state, TASK_UNINTERRUPTIBLE);
	return p;
}

void kthread_bind_mask(struct task_struct *p, const struct cpumask *mask)
{
	cpumask_copy(&p->cpus_mask, mask);
	p->nr_cpus_allowed = cpumask_weight(mask);
	p->flags |= PF_NO_SETAFFINITY;
}

int kthread_stop(struct task_struct *p)
{
	struct stoppable *t = p->thread.kthread_arg;

	t->stop = true;
	wake_up_process(p);
	while (!t->ended)
		schedule_timeout_uninterruptible(1);
	return 0;
}

/* ------------------------------------------------------------------ works */

void __kthread_init_worker(struct kthread_worker *worker, const char *name, struct lock_class_key *key)
{
	memset(worker, 0, sizeof(*worker));
	raw_spin_lock_init(&worker->lock);
	INIT_LIST_HEAD(&worker->work_list);
	INIT_LIST_HEAD(&worker->delayed_work_list);
}

static struct kthread_work *next_work(struct kthread_worker *worker)
{
	struct kthread_work *work;

	raw_spin_lock_irq(&worker->lock);
	work = list_first_entry_or_null(&worker->work_list, struct kthread_work, node);
	if (work)
		list_del_init(&work->node);
	worker->current_work = work;
	raw_spin_unlock_irq(&worker->lock);
	return work;
}

int kthread_worker_fn(void *arg)
{
	struct stoppable *self = current->thread.kthread_arg;
	struct kthread_worker *worker = arg;

	worker->task = current;
	for (;;) {
		struct kthread_work *work;
		kthread_work_func_t func;

		set_current_state(TASK_INTERRUPTIBLE);
		work = next_work(worker);
		if (!work && !self->stop) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		if (!work)
			return 0;
		trace_sched_kthread_work_execute_start(work);
		func = work->func;	/* which may free it */
		func(work);
		trace_sched_kthread_work_execute_end(work, func);
	}
}

bool kthread_queue_work(struct kthread_worker *worker, struct kthread_work *work)
{
	unsigned long flags;
	bool queued;

	raw_spin_lock_irqsave(&worker->lock, flags);
	queued = list_empty(&work->node);
	if (queued) {
		work->worker = worker;
		trace_sched_kthread_work_queue_work(worker, work);
		list_add_tail(&work->node, &worker->work_list);
		if (!worker->current_work && worker->task)
			wake_up_process(worker->task);
	}
	raw_spin_unlock_irqrestore(&worker->lock, flags);
	return queued;
}

static struct kthread_worker *create_worker(const char *fmt, va_list args)
{
	struct kthread_worker *worker = hw_zalloc(sizeof(*worker), 64);
	char name[TASK_COMM_LEN];

	vsnprintf(name, sizeof(name), fmt, args);
	__kthread_init_worker(worker, name, NULL);
	worker->task = kthread_create_on_node(kthread_worker_fn, worker, NUMA_NO_NODE, "%s", name);
	return worker;
}

#ifdef TREE_HAS_WORKER_UNSTARTED
struct kthread_worker *kthread_create_worker_on_node(unsigned int flags, int node, const char fmt[], ...)
#else
struct kthread_worker *kthread_create_worker(unsigned int flags, const char fmt[], ...)
#endif
{
	struct kthread_worker *worker;
	va_list args;

	va_start(args, fmt);
	worker = create_worker(fmt, args);
	va_end(args);
#ifndef TREE_HAS_WORKER_UNSTARTED
	wake_up_process(worker->task);
#endif
	return worker;
}

void kthread_destroy_worker(struct kthread_worker *worker)
{
	kthread_flush_worker(worker);
	kthread_stop(worker->task);
	hw_free(worker);
}

void kthread_flush_work(struct kthread_work *work)
{
	struct kthread_worker *worker = work->worker;

	while (worker && (!list_empty(&work->node) || worker->current_work == work))
		schedule_timeout_uninterruptible(1);
}

/* Until all that was queued is done. */
void kthread_flush_worker(struct kthread_worker *worker)
{
	while (worker->current_work || !list_empty(&worker->work_list))
		schedule_timeout_uninterruptible(1);
}

bool kthread_cancel_work_sync(struct kthread_work *work)
{
	struct kthread_worker *worker = work->worker;
	bool waited;

	if (!worker)
		return false;
	raw_spin_lock_irq(&worker->lock);
	waited = !list_empty(&work->node);
	list_del_init(&work->node);
	raw_spin_unlock_irq(&worker->lock);
	while (worker->current_work == work)
		schedule_timeout_uninterruptible(1);
	return waited;
}
