/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_THREAD_INFO_H
#define _ASM_SIM_THREAD_INFO_H
#define THREAD_SIZE_ORDER 0
#define THREAD_SIZE (4096UL << THREAD_SIZE_ORDER)
#ifndef __ASSEMBLY__
struct thread_info {
	unsigned long	flags;
	unsigned long	syscall_work;
	int		preempt_count;
	unsigned int	cpu;
};
#endif
#define INIT_THREAD_INFO(tsk) { .flags = 0, .preempt_count = INIT_PREEMPT_COUNT }
#define TIF_SYSCALL_TRACE	0
#define TIF_NOTIFY_RESUME	1
#define TIF_SIGPENDING		2
#define TIF_NEED_RESCHED	3
#define TIF_SINGLESTEP		4
#define TIF_NOTIFY_SIGNAL	5
#define TIF_UPROBE		6
#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
#define TIF_NEED_RESCHED_LAZY	7
#define _TIF_NEED_RESCHED_LAZY	(1<<TIF_NEED_RESCHED_LAZY)
#endif
#ifdef CONFIG_HRTIMER_REARM_DEFERRED
#define TIF_HRTIMER_REARM	8
#define _TIF_HRTIMER_REARM	(1<<TIF_HRTIMER_REARM)
#endif
#define TIF_RESTORE_SIGMASK	9
#define TIF_POLLING_NRFLAG	16
#define TIF_MEMDIE		17
#define _TIF_SYSCALL_TRACE	(1<<TIF_SYSCALL_TRACE)
#define _TIF_NOTIFY_RESUME	(1<<TIF_NOTIFY_RESUME)
#define _TIF_SIGPENDING		(1<<TIF_SIGPENDING)
#define _TIF_NEED_RESCHED	(1<<TIF_NEED_RESCHED)
#define _TIF_NOTIFY_SIGNAL	(1<<TIF_NOTIFY_SIGNAL)
#define _TIF_POLLING_NRFLAG	(1<<TIF_POLLING_NRFLAG)
#define _TIF_UPROBE		(1<<TIF_UPROBE)
#endif
