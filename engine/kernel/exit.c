// SPDX-License-Identifier: GPL-2.0-only
/* exit(), waiting for children, and being killed. */
#include <linux/sched/task.h>
#include <linux/sched/autogroup.h>
#include "shim.h"
#include "tasks.h"

struct family {
	wait_queue_head_t wait_chldexit;
	int children;			/* alive or not yet waited for */
	struct kern_task *zombies;	/* dead, not yet waited for; by next_zombie */
};

static struct family *family_of(struct task_struct *p)
{
	if (!p->thread.family) {
		struct family *f = hw_zalloc(sizeof(*f), 64);

		init_waitqueue_head(&f->wait_chldexit);
		p->thread.family = f;
	}
	return p->thread.family;
}

void shim_family_add(struct task_struct *parent, struct task_struct *child)
{
	family_of(parent)->children++;
	list_add_tail(&child->sibling, &parent->children);
	child->real_parent = child->parent = parent;
}

/* Orphans go to init_task, which never waits. */
static void forget_children(void)
{
	struct task_struct *child, *n;

	list_for_each_entry_safe(child, n, &current->children, sibling) {
		list_del_init(&child->sibling);
		child->real_parent = child->parent = &init_task;
	}
}

void shim_do_exit(void)
{
	struct task_struct *parent = current->real_parent;

	current->flags |= PF_EXITING;
	hw_spend_on(HW_TIME_PROCESS);
	shim_exit_mm();
	sched_autogroup_exit_task(current);
	shim_cpuset_exit(current);
	shim_trace_exit(current);
	forget_children();
	shim_exit_signal(current);
	current->exit_state = EXIT_DEAD;
	if (!list_empty(&current->sibling)) {
		struct family *f = family_of(parent);
		struct kern_task *task = current->thread.task, **last = &f->zombies;

		list_del_init(&current->sibling);
		while (*last)
			last = &(*last)->next_zombie;
		*last = task;
		task->zombie = 1;
		current->exit_state = EXIT_ZOMBIE;
		__wake_up_sync(&f->wait_chldexit, TASK_INTERRUPTIBLE);
	}
	kern_collect(current->thread.task);
	current->thread.task->kernel = NULL;	/* only now: it may have been preempted on its way */
	preempt_disable();
	/* the reference of the parent's wait */
	shim_forget_pid(current);
	put_task_struct_rcu_user(current);
	do_task_dead();
}

void kern_exit(void)
{
	struct kern_task *task = current->thread.task;

	shim_handlers->task_exits(task);
	shim_syscall_enter(HW_TIME_PROCESS);
	shim_kernel_work(hw_costs.exit);
	task->died = hw.clk;
	/* as mm_release() does for pthread_join() */
	if (task->thread) {
		task->thread = 0;
		kern_futex_wake(&task->thread, 1);
	}
	shim_do_exit();
}

static struct kern_task *find_zombie(struct family *f, const struct kern_task *which)
{
	struct kern_task *task;

	for (task = f->zombies; task; task = task->next_zombie)
		if (!which || task == which)
			return task;
	return NULL;
}

/* A child process that has ended: this one, or any; NULL when there is none to wait for. */
struct kern_task *kern_wait_child(struct kern_task *which)
{
	struct family *f = family_of(current);
	struct kern_task *task = NULL, **link;

	shim_syscall_enter(HW_TIME_PROCESS);
	shim_trace_wait(which ? which->pid : 0);
	if (!f->children)
		goto out;
	wait_event_interruptible(f->wait_chldexit, (task = find_zombie(f, which)));
	if (!task)
		goto out;
	for (link = &f->zombies; *link != task; link = &(*link)->next_zombie)
		;
	*link = task->next_zombie;
	task->zombie = 0;
	f->children--;
out:
	shim_syscall_exit();
	return task;
}

/* SIGKILL: whatever it waits for, it goes no further than its way out of the kernel. */
void kern_kill(struct kern_task *task)
{
	struct task_struct *p = task->kernel;

	if (!p || p->flags & PF_EXITING || task->killed)
		return;
	task->killed = KERN_KILLED;
	set_tsk_thread_flag(p, TIF_SIGPENDING);
	if (!wake_up_state(p, TASK_INTERRUPTIBLE))
		kick_process(p);
}

int kern_is_blocked(const struct kern_task *task)
{
	const struct task_struct *p = task->kernel;

	/* one that is about to wait looks for its condition once more before it leaves the queue */
	return p && READ_ONCE(p->__state) == TASK_INTERRUPTIBLE && (!p->on_rq || SHIM_IS_DELAYED(p));
}
