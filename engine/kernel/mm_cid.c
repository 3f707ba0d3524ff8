// SPDX-License-Identifier: GPL-2.0-only
/*
 * Concurrency ids of the threads of a process (SCHED_MM_CID): when they begin and end, and what is
 * watched meanwhile, that no two running threads have the same one.  core.c gives and takes them.
 */
#include <linux/irq_work.h>
#include "shim.h"
#include "mm_cid.h"

#ifdef CONFIG_SCHED_MM_CID
int kern_highest_cid = -1;

/* The mask that all CPUs take ids from; 7.x has it in longs, 6.12 in a cpumask. */
static void register_mask(struct mm_struct *mm)
{
	const char *mask = (const char *)mm_cidmask(mm);
	int byte;

	for (byte = 0; byte <= (hw_nr_cpus - 1) / 8; byte += L1_CACHE_BYTES)
		hw_hot_register(mm, mask + byte);
}

void shim_cid_new_mm(struct mm_struct *mm, struct task_struct *p)
{
#ifdef TREE_HAS_MM_CID_USERS
	int err = mm_alloc_cid(mm, p);
#else
	int err = mm_alloc_cid(mm);
#endif

	if (err)
		hw_die("no memory for a process's concurrency ids", __FILE__, __LINE__);
	register_mask(mm);
}

void shim_cid_free_mm(struct mm_struct *mm)
{
	hw_hot_forget(mm);
	mm_destroy_cid(mm);
}

/* dup_task_struct() */
void shim_cid_new_task(struct task_struct *p)
{
#ifdef TREE_HAS_MM_CID_USERS
	p->mm_cid.cid = MM_CID_UNSET;
	p->mm_cid.active = 0;
	INIT_HLIST_NODE(&p->mm_cid.node);
#else
	p->mm_cid = p->last_mm_cid = -1;
	p->mm_cid_active = 0;
#endif
}

/* copy_mm(); 7.x does it in sched_post_fork(). */
void shim_cid_fork(struct task_struct *p)
{
#ifndef TREE_HAS_MM_CID_USERS
	if (p->mm)
		sched_mm_cid_fork(p);
#endif
}

/*
 * Before a task becomes its user: the first one is as after exec(), another one may run on more
 * CPUs.
 */
void shim_cid_join(struct mm_struct *mm)
{
#ifdef TREE_HAS_MM_CID_USERS
	if (mm->mm_cid.users)
		shim_cid_allow(mm, &current->cpus_mask);
	else
		mm_init_cid(mm, current);
#endif
}

void shim_cid_exit(struct task_struct *p)
{
#ifdef TREE_HAS_MM_CID_USERS
	sched_mm_cid_exit(p);
#else
	sched_mm_cid_exit_signals(p);
#endif
}

/* This CPU is about to run another task; its id is its own. */
void shim_cid_switched(struct task_struct *next)
{
	int cid, cpu;

	if (!next->mm || next->flags & PF_EXITING || !SIM_CID_ACTIVE(next))
		return;
	cid = task_mm_cid(next);
	if (cid < 0 || cid >= hw_nr_cpus)
		hw_die_about("a task has no concurrency id", hw.cpu, next->comm, NULL);
	kern_highest_cid = max(kern_highest_cid, cid);
	for_each_online_cpu(cpu) {
		struct task_struct *other = raw_cpu_rq(cpu)->curr;

		if (cpu != hw.cpu && other != next && other->mm == next->mm && SIM_CID_ACTIVE(other) &&
		    task_mm_cid(other) == cid)
			hw_die_about("two running threads have one concurrency id", hw.cpu, other->comm, NULL);
	}
}
#else
int kern_highest_cid = -1;
#endif

/*
 * Whether a process has no more ids than its threads have CPUs they may run on; 6.12 looks at those
 * they do.
 */
int kern_bounds_cids(void)
{
#ifdef TREE_HAS_MM_CID_USERS
	return IS_ENABLED(CONFIG_SCHED_MM_CID);
#else
	return 0;
#endif
}

/* The caller, alone in its process, is what a shell on these CPUs has executed. */
void kern_begin_here(void)
{
	if (!kern_bounds_cids())
		return;
	sched_mm_cid_before_execve(current);
	shim_cid_join(current->mm);
	sched_mm_cid_after_execve(current);
}
