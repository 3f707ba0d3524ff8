// SPDX-License-Identifier: GPL-2.0-only
/* Policy, priority, clamps and affinity through the system calls' own code. */
#include <uapi/linux/sched/types.h>
#include "shim.h"

/* The task a system call is about; programs of the scenario hold no pids of others. */
static struct task_struct *subject;

struct task_struct *find_task_by_vpid(pid_t vnr)
{
	return subject && subject->pid == vnr ? subject : NULL;
}

int kern_setattr(struct kern_task *task, const struct kern_attr *from)
{
	struct sched_attr attr = {
		.size = sizeof(attr),
		.sched_policy = from->policy,
		.sched_nice = from->nice,
		.sched_priority = from->rt_priority,
		.sched_runtime = from->dl_runtime,
		.sched_deadline = from->dl_deadline,
		.sched_period = from->dl_period,
	};
	struct task_struct *p = task->kernel;
	int ret;

	if (!p)
		return -ESRCH;
	if (from->uclamp_min >= 0) {
		attr.sched_flags |= SCHED_FLAG_UTIL_CLAMP_MIN;
		attr.sched_util_min = from->uclamp_min;
	}
	if (from->uclamp_max >= 0) {
		attr.sched_flags |= SCHED_FLAG_UTIL_CLAMP_MAX;
		attr.sched_util_max = from->uclamp_max;
	}
	get_task_struct(p);
	shim_syscall_enter(HW_TIME_OTHER);
	ret = sched_setattr(p, &attr);
	shim_syscall_exit();
	put_task_struct(p);
	return ret;
}

/* What is set for a task of a program that lives; 0, or -ESRCH. */
int kern_get_setup(const struct kern_task *task, struct kern_setup *setup)
{
	struct task_struct *p = task->kernel;

	if (!p || (p->flags & PF_KTHREAD))
		return -ESRCH;
	*setup = (struct kern_setup) {
		.nice = task_nice(p), .policy = p->policy, .rt_priority = p->rt_priority,
		.uclamp_max = SCHED_CAPACITY_SCALE,
	};
#ifdef CONFIG_UCLAMP_TASK
	setup->uclamp_min = p->uclamp_req[UCLAMP_MIN].value;
	setup->uclamp_max = p->uclamp_req[UCLAMP_MAX].value;
#endif
	scnprintf(setup->cpus, sizeof(setup->cpus), "%*pbl", cpumask_pr_args(&p->cpus_mask));
	return 0;
}

int kern_has_slices(void)
{
#ifdef TREE_HAS_CUSTOM_SLICE
	return 1;
#else
	return 0;
#endif
}

int kern_setaffinity(struct kern_task *task, const unsigned long *bits, unsigned int nr)
{
	struct task_struct *p = task->kernel;
	struct cpumask mask;
	long ret;

	if (!p)
		return -ESRCH;
	cpumask_clear(&mask);
	bitmap_copy(cpumask_bits(&mask), bits, nr);
	get_task_struct(p);
	shim_syscall_enter(HW_TIME_OTHER);
	subject = p;
	ret = sched_setaffinity(task->pid, &mask);
	subject = NULL;
	shim_syscall_exit();
	put_task_struct(p);
	return ret;
}
