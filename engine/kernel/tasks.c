// SPDX-License-Identifier: GPL-2.0-only
/* Tasks: init_task, new ones, and their way into the scheduler as kernel_clone() does it. */
#include <linux/sched/signal.h>
#include <linux/threads.h>
#include <linux/sched/mm.h>
#include <linux/kthread.h>
#include <linux/sched/isolation.h>
#include <linux/cred.h>
#include <linux/user_namespace.h>
#include "shim.h"
#include "tasks.h"
#include "mm_cid.h"

struct mm_struct init_mm = {
	.mm_users = ATOMIC_INIT(2),
	.mm_count = ATOMIC_INIT(1),
};

static struct signal_struct init_signals = {
	.nr_threads = 1,
	.rlim = { [0 ... RLIM_NLIMITS - 1] = { RLIM_INFINITY, RLIM_INFINITY } },
};

static struct sighand_struct init_sighand = {
	.count = REFCOUNT_INIT(1),
};

/* Everybody is root. */
struct cred init_cred = {
	.usage = ATOMIC_INIT(4),
	.user_ns = &init_user_ns,
};

struct task_struct init_task __aligned(L1_CACHE_BYTES) = {
	.thread_info	= INIT_THREAD_INFO(init_task),
	.signal		= &init_signals,
	.sighand	= &init_sighand,
	.usage		= REFCOUNT_INIT(2),
	.flags		= PF_KTHREAD,
	.prio		= MAX_PRIO - 20,
	.static_prio	= MAX_PRIO - 20,
	.normal_prio	= MAX_PRIO - 20,
	.policy		= SCHED_NORMAL,
	.cpus_ptr	= &init_task.cpus_mask,
	.cpus_mask	= CPU_MASK_ALL,
	.nr_cpus_allowed = NR_CPUS,
	.active_mm	= &init_mm,
	.se.group_node	= LIST_HEAD_INIT(init_task.se.group_node),
	.rt.run_list	= LIST_HEAD_INIT(init_task.rt.run_list),
	.rt.time_slice	= RR_TIMESLICE,
	.tasks		= LIST_HEAD_INIT(init_task.tasks),
	.pushable_tasks	= PLIST_NODE_INIT(init_task.pushable_tasks, MAX_PRIO),
	.sched_task_group = &root_task_group,
	.pi_lock	= __RAW_SPIN_LOCK_UNLOCKED(init_task.pi_lock),
	.alloc_lock	= __SPIN_LOCK_UNLOCKED(init_task.alloc_lock),
#ifdef CONFIG_VIRT_CPU_ACCOUNTING_GEN
	.vtime.seqcount	= SEQCNT_ZERO(init_task.vtime.seqcount),
	.vtime.state	= VTIME_SYS,
#endif
#ifdef TREE_HAS_BLOCKED_LOCK
	.blocked_lock	= __RAW_SPIN_LOCK_UNLOCKED(init_task.blocked_lock),
#endif
	.real_parent	= &init_task,
	.parent		= &init_task,
	.group_leader	= &init_task,
	.comm		= "swapper",
	.numa_preferred_nid = NUMA_NO_NODE,
	.cgroups	= &shim_root_css_set,
	.real_cred	= &init_cred,
	.cred		= &init_cred,
#ifdef TREE_HAS_MAX_ALLOWED_CAPACITY
	.max_allowed_capacity = SCHED_CAPACITY_SCALE,
#endif
};

static int next_kernel_pid = PID_MAX_LIMIT - 1;	/* threads of the kernel count down, tasks up */

static void task_entry(void)
{
	shim_first_switch();
	if (current->flags & PF_KTHREAD) {
		current->thread.kthread(current->thread.kthread_arg);
		shim_do_exit();
	}
	shim_kernel_work(current->thread.task->thread ? hw_costs.thread_child : hw_costs.fork_child);
	shim_exit_to_user();
	shim_working_set_touch();
	current->thread.task->main(current->thread.task);
	kern_exit();
}

/* What find_task_by_pid_ns() looks through: every task until it is through with its exit. */
static struct hlist_head tasks_by_pid[1024];

static struct hlist_head *with_pid(int pid)
{
	return &tasks_by_pid[pid % ARRAY_SIZE(tasks_by_pid)];
}

struct task_struct *shim_find_task(int pid)
{
	struct task_struct *p;

	if (pid < 0)
		return NULL;
	hlist_for_each_entry(p, with_pid(pid), pid_links[PIDTYPE_PID])
		if (p->pid == pid)
			return p;
	return NULL;
}

/* The task that an address lies in. */
struct task_struct *shim_task_at(const void *at)
{
	struct task_struct *p;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(tasks_by_pid); i++)
		hlist_for_each_entry(p, &tasks_by_pid[i], pid_links[PIDTYPE_PID])
			if (at >= (void *)p && at < (void *)(p + 1))
				return p;
	return NULL;
}

void shim_forget_pid(struct task_struct *p)
{
	hlist_del_init(&p->pid_links[PIDTYPE_PID]);
}

static struct kmem_cache *task_structs;

/* What dup_task_struct() and copy_process() leave behind, before sched_fork(). */
struct task_struct *shim_new_task(struct task_struct *from, int pid, const char *comm)
{
	struct task_struct *p;

	if (!task_structs)
		task_structs = shim_cache_create(sizeof(*p));
	p = shim_cache_alloc(task_structs);
	*p = *from;
	p->flags &= ~(PF_KTHREAD | PF_IDLE | PF_WQ_WORKER | PF_NO_SETAFFINITY | PF_EXITING);
	p->flags |= PF_FORKNOEXEC;
	p->pid = p->tgid = pid;
	refcount_set(&p->usage, 1);
	refcount_set(&p->rcu_users, 2);
	p->cpus_ptr = &p->cpus_mask;
	p->user_cpus_ptr = NULL;
	p->migration_disabled = 0;
	p->thread_info.flags = 0;
	p->worker_private = NULL;
	p->set_child_tid = NULL;
	p->task_works = NULL;
	p->group_leader = p;
	p->real_parent = p->parent = from;
	p->plug = NULL;
	p->pi_blocked_on = NULL;
	p->nvcsw = p->nivcsw = 0;
	p->utime = p->stime = p->gtime = 0;
	INIT_LIST_HEAD(&p->tasks);
	INIT_LIST_HEAD(&p->children);
	INIT_LIST_HEAD(&p->sibling);
	INIT_LIST_HEAD(&p->thread_node);
	INIT_LIST_HEAD(&p->cg_list);
	raw_spin_lock_init(&p->pi_lock);
	spin_lock_init(&p->alloc_lock);
	p->pi_waiters = RB_ROOT_CACHED;
	p->pi_top_task = NULL;
	p->mm = p->active_mm = NULL;
	RB_CLEAR_NODE(&p->core_node);
	p->core_cookie = 0;
#ifdef CONFIG_SCHED_CACHE
	RCU_INIT_POINTER(p->sched_cache_grp, NULL);
#endif
	shim_cid_new_task(p);
#ifdef CONFIG_PREEMPT_RCU
	/*
	 * rcu_copy_process(): CPU 0's idle task, which threads of the kernel are copies of, may be
	 * reading
	 */
	p->rcu_read_lock_nesting = 0;
	p->rcu_read_unlock_special.s = 0;
#endif
#ifdef TREE_HAS_BLOCKED_LOCK
	raw_spin_lock_init(&p->blocked_lock);
#endif
#ifdef TREE_HAS_BLOCKED_DONOR
	p->blocked_donor = NULL;	/* from may run in another's place */
#endif
#ifdef CONFIG_VIRT_CPU_ACCOUNTING_GEN
	seqcount_init(&p->vtime.seqcount);
	p->vtime.starttime = 0;
	p->vtime.state = VTIME_INACTIVE;
#endif
#ifdef CONFIG_NO_HZ_FULL
	atomic_set(&p->tick_dep_mask, 0);
#endif
#ifdef CONFIG_PSI
	p->psi_flags = 0;
#endif
#ifdef TREE_HAS_DL_SERVER
	p->dl_server = NULL;
#endif
	strscpy(p->comm, comm, sizeof(p->comm));

	p->thread = (struct thread_struct) { .was_away = true, .last_cpu = -1 };
	p->thread.stack_base = hw_stack_alloc();
	p->thread.sp = hw_co_init(p->thread.stack_base, hw_stack_size, task_entry);
	hlist_add_head(&p->pid_links[PIDTYPE_PID], with_pid(pid));
	return p;
}

void shim_free_task(struct task_struct *p)
{
	if (!p->thread.sp)
		hw_die("the stack of a running task is freed", p->comm, p->pid);
	shim_check_stack(p);
	shim_forget_pid(p);
	sched_core_free(p);
	hw_stack_free(p->thread.stack_base);
	hw_free(p->thread.family);
	hw_free(p->thread.code);
	shim_put_signal(p);
	if (p->flags & PF_KTHREAD)
		hw_free(p->thread.task);
	else
		shim_handlers->task_released(p->thread.task);
	kmem_cache_free(task_structs, p);
}

static void delayed_put_task_struct(struct rcu_head *rhp)
{
	struct task_struct *p = container_of(rhp, struct task_struct, rcu);

	shim_trace_free(p);
	put_task_struct(p);
}

/* finish_task_switch() drops a dead task's last reference here. */
void put_task_struct_rcu_user(struct task_struct *p)
{
	if (refcount_dec_and_test(&p->rcu_users))
		call_rcu(&p->rcu, delayed_put_task_struct);
}

void __put_task_struct(struct task_struct *p)
{
#if defined(CONFIG_SCHED_CLASS_EXT) && !defined(TREE_HAS_EXT_DEAD)
	sched_ext_free(p);
#endif
#ifdef CONFIG_SCHED_CLASS_EXT
	shim_scx_task_gone(p);
#endif
	shim_free_task(p);
}

void __put_task_struct_rcu_cb(struct rcu_head *rhp)
{
	__put_task_struct(container_of(rhp, struct task_struct, rcu));
}

void put_task_stack(struct task_struct *p)
{
}

/* Into the scheduler, in copy_process()'s order. */
int shim_sched_new_task(struct task_struct *p, struct css_set *cset, unsigned long clone_flags)
{
	struct kernel_clone_args args = { .flags = clone_flags, .cset = cset };
	int ret = sched_fork(clone_flags, p);

	if (ret)
		return ret;
	if (p->mm)
		sched_cache_fork(p);	/* sched_fork() has cleared what was copied */
	RCU_INIT_POINTER(p->cgroups, cset);
#ifdef CONFIG_SCHED_CLASS_EXT
	ret = sched_cgroup_fork(p, &args);
	if (ret)		/* no program here could go on without the task */
		hw_end_in_fork(p->comm, ret);
#else
	sched_cgroup_fork(p, &args);
#endif
	sched_post_fork(p);
	return 0;
}

/* The engine's side of a task that is not a program of the scenario. */
static struct kern_task *kernel_task(struct task_struct *p)
{
	struct kern_task *task = hw_zalloc(sizeof(*task), 64);

	task->pid = p->pid;
	strscpy(task->comm, p->comm, sizeof(task->comm));
	task->kernel = p;
	task->mem_node = -1;
	return task;
}

struct task_struct *shim_kthread_create(void (*fn)(void *), void *arg, int cpu, const char *comm)
{
	struct task_struct *p = shim_new_task(&init_task, next_kernel_pid--, comm);

	p->flags |= PF_KTHREAD;
	p->thread.kthread = fn;
	p->thread.kthread_arg = arg;
	p->thread.task = kernel_task(p);
	p->policy = SCHED_NORMAL;
	p->prio = p->static_prio = p->normal_prio = NICE_TO_PRIO(0);
	/* as of unbound works */
	cpumask_and(&p->cpus_mask, housekeeping_cpumask(HK_TYPE_DOMAIN),
		    housekeeping_cpumask(HK_TYPE_KTHREAD));
	p->nr_cpus_allowed = cpumask_weight(&p->cpus_mask);
	if (cpu >= 0) {			/* a scheduler of sched_ext is told so as it comes */
		p->flags |= PF_NO_SETAFFINITY;
		cpumask_copy(&p->cpus_mask, cpumask_of(cpu));
		p->nr_cpus_allowed = 1;
	}
	shim_sched_new_task(p, &shim_root_css_set, 0);
	return p;
}

/* fork() of a program: the child copies its parent and starts where the kernel wants it. */
int kern_fork(struct kern_task *child, unsigned int flags)
{
	struct css_set *cset = rcu_dereference_raw(current->cgroups);
	struct task_struct *p;
	int ret;

	shim_syscall_enter(HW_TIME_PROCESS);
	shim_kernel_work(flags & KERN_THREAD ? hw_costs.thread : hw_costs.fork);
	p = shim_new_task(current, child->pid, child->comm);
	p->thread.task = child;
	child->born = hw.clk;
	hw_task_comes(&child->hw);
	shim_fork_mm(p, flags & KERN_THREAD);
	shim_fork_signal(p, flags & KERN_THREAD);
	ret = shim_sched_new_task(p, cset, flags & KERN_THREAD ? CLONE_VM | CLONE_THREAD : 0);
	if (ret) {
		/* the kernel refuses: a deadline task may not fork */
		child->died = hw.clk;
		shim_put_mm(p->mm);
		shim_exit_signal(p);
		shim_free_task(p);
		shim_syscall_exit();
		return ret;
	}
	shim_cid_fork(p);
	shim_cpuset_fork(p);
	/* from here on others find it */
	child->kernel = p;
	/* Without cookies there is nothing to inherit, and the fork must cost what it did. */
	if (hw.core_sched)
		sched_core_fork(p);
	shim_join_session(p);
	if (flags & KERN_THREAD) {
		child->thread = child->pid;
		current->thread.shares_files = p->thread.shares_files = true;
	} else {
		shim_family_add(current, p);
	}
	shim_trace_fork(current, p);
	wake_up_new_task(p);
	shim_syscall_exit();
	return child->pid;
}

void kern_exec(void)
{
	shim_syscall_enter(HW_TIME_PROCESS);
	sched_exec();
	shim_kernel_work(hw_costs.exec);
	shim_exec_mm();
	shim_trace_exec(current);
	current->flags &= ~PF_FORKNOEXEC;
	current->thread.was_away = true;	/* a new image: nothing is warm anywhere */
	current->thread.last_cpu = -1;
	shim_syscall_exit();
}
