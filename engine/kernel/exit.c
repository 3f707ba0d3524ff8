// SPDX-License-Identifier: GPL-2.0-only
/* exit() and waiting for children. */
#include <linux/sched/task.h>
#include "sim.h"
#include "tasks.h"

struct family {
	wait_queue_head_t wait_chldexit;
	int children;			/* alive or not yet waited for */
	int zombies;			/* dead, not yet waited for */
};

static struct family *family_of(struct task_struct *p)
{
	if (!p->thread.family) {
		struct family *f = sim_zalloc(sizeof(*f), 64);

		init_waitqueue_head(&f->wait_chldexit);
		p->thread.family = f;
	}
	return p->thread.family;
}

void sim_family_add(struct task_struct *parent, struct task_struct *child)
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

void sim_do_exit(void)
{
	struct task_struct *parent = current->real_parent;

	current->flags |= PF_EXITING;
	sim_exit_mm();
	sim_trace_exit(current);
	forget_children();
	kern_collect(current->thread.sim);
	if (!list_empty(&current->sibling)) {
		struct family *f = family_of(parent);

		list_del_init(&current->sibling);
		f->zombies++;
		__wake_up_sync(&f->wait_chldexit, TASK_INTERRUPTIBLE);
	}
	preempt_disable();
	/* the reference of the parent's wait */
	put_task_struct_rcu_user(current);
	do_task_dead();
}

void kern_exit(void)
{
	sim_syscall_enter();
	sim_kernel_work(sim_costs.exit);
	current->thread.sim->died = sim.clk;
	sim_do_exit();
}

int kern_wait_child(void)
{
	struct family *f = family_of(current);

	sim_syscall_enter();
	if (!f->children) {
		sim_syscall_exit();
		return -ECHILD;
	}
	wait_event_interruptible(f->wait_chldexit, f->zombies > 0);
	f->zombies--;
	f->children--;
	sim_syscall_exit();
	return 0;
}
