/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_PROCESSOR_H
#define _ASM_SIM_PROCESSOR_H

#include <linux/types.h>
#include <linux/compiler.h>
#include <hw.h>

#define TASK_SIZE		0x7ffffffff000UL
#define TASK_SIZE_MAX		TASK_SIZE
#define STACK_TOP		TASK_SIZE
#define STACK_TOP_MAX		STACK_TOP
#define TASK_UNMAPPED_BASE	(TASK_SIZE / 3)

struct task_struct;
struct pt_regs;
struct kern_mutex;
struct shim_code;

struct thread_struct {
	void *sp;		/* saved stack pointer of the task's coroutine */
	void *stack_base;	/* lowest address of its stack; holds the canary */
	struct kern_task *task;	/* the engine's side of the task; kernel threads have one too */
	void (*kthread)(void *); /* what a kernel thread runs */
	void *kthread_arg;
	void *family;		/* children waited for (kernel/exit.c) */
	struct kern_mutex *waits_for; /* by a call of a program (kernel/mutex.c) */
	void *working_set;	/* what it touches all the time (kernel/working_set.c) */
	struct shim_code *code;	/* of a sched_ext scheduler (kernel/scx/access.c) */
	bool shares_files;	/* its process has, or had, several threads */
	bool was_away;		/* others had its CPU since it was in user mode */
	int last_cpu;		/* where its caches are warm; -1: nowhere yet */
};

#define INIT_THREAD		{ }
#define task_pt_regs(t)		((struct pt_regs *)0)
#define KSTK_EIP(t)		0UL
#define KSTK_ESP(t)		0UL

static inline unsigned long __get_wchan(struct task_struct *p) { return 0; }

/* Every spin loop of the kernel lets simulated time pass. */
#define cpu_relax()		hw_spin()

#endif
