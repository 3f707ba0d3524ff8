// SPDX-License-Identifier: GPL-2.0-only
/* Ways into and out of the kernel: interrupts, system calls, the return to user mode. */
#include <linux/clockchips.h>
#include <linux/task_work.h>
#include <linux/irq_work.h>
#include <linux/context_tracking.h>
#include <linux/resume_user_mode.h>
#include <asm/irq_regs.h>
#include "shim.h"

DEFINE_PER_CPU(struct pt_regs *, __irq_regs);

/* On the way to user mode a lazy request counts as well. */
static bool resched_for_user(void)
{
#ifdef CONFIG_ARCH_HAS_PREEMPT_LAZY
	return READ_ONCE(current_thread_info()->flags) & (_TIF_NEED_RESCHED | _TIF_NEED_RESCHED_LAZY);
#else
	return need_resched();
#endif
}

/*
 * Where the tree leaves the timer unarmed on the way out of its interrupt (HRTIMER_REARM_DEFERRED):
 * the generic entry code arms it before interrupts open, but for a return to user mode that
 * schedules first, which does it there.
 */
static void rearm_for_user(void)
{
#ifdef CONFIG_HRTIMER_REARM_DEFERRED
	unsigned long work = current_thread_info()->flags;

	hrtimer_rearm_deferred_user_irq(&work, _TIF_HRTIMER_REARM);
#endif
}

static void rearm_for_kernel(void)
{
#ifdef TREE_HAS_HRTIMER_REARM
	hrtimer_rearm_deferred();
#endif
}

int kern_defers_rearming(void)
{
	return IS_ENABLED(CONFIG_HRTIMER_REARM_DEFERRED);
}

/* Where the kernel follows which of the two a CPU is in (NO_HZ_FULL): at each crossing. */
static void from_user(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_USER
	if (context_tracking_enabled_this_cpu())
		hw_charge(hw_costs.context_tracking);
	user_exit_irqoff();
#endif
}

static void to_user(void)
{
#ifdef CONFIG_CONTEXT_TRACKING_USER
	if (current->mm)	/* the scenario's first task has none */
		user_enter_irqoff();
#endif
}

static void handle_vector(int vector, bool user)
{
	struct pt_regs regs = { .user = user };
	static const enum hw_entry entries[] = {
		[HW_TIMER] = HW_ENTRY_TIMER, [HW_CALL] = HW_ENTRY_CALL,
		[HW_RESCHED] = HW_ENTRY_RESCHED,
	};
	enum hw_entry before = hw_enter(entries[vector]);
	enum hw_time interrupted = hw_spend_on(HW_TIME_INTERRUPT);
	struct pt_regs *old;

	hw.epoch++;
	hw_charge(hw_costs.irq);
	if (user)
		from_user();

	/* As on x86 the reschedule interrupt does no work of its own: the way out does. */
	if (vector == HW_RESCHED) {
		scheduler_ipi();
		hw_enter(before);
		hw_spend_on(interrupted);
		return;
	}
	old = set_irq_regs(&regs);
	irq_enter();
	if (vector == HW_TIMER) {
		struct clock_event_device *evt = shim_clockevent();

		evt->event_handler(evt);
		if (!hw_defers_rearming)
			rearm_for_kernel();
	} else {
		irq_work_run();
		generic_smp_call_function_single_interrupt();
	}
	irq_exit();
	set_irq_regs(old);
	hw_enter(before);
	hw_spend_on(interrupted);
}

/* irqentry_exit_cond_resched(): whether an interrupt may preempt the kernel. */
#ifdef CONFIG_PREEMPT_DYNAMIC
DEFINE_STATIC_KEY_TRUE(sk_dynamic_irqentry_exit_cond_resched);
#define PREEMPTS_KERNEL	static_branch_unlikely(&sk_dynamic_irqentry_exit_cond_resched)
#else
#define PREEMPTS_KERNEL	IS_ENABLED(CONFIG_PREEMPTION)
#endif

/* An interrupt became due while kernel code ran with interrupts on. */
void shim_irq_window(void)
{
	int vector;

	while ((vector = hw_take_vector()) >= 0) {
		hw.irq_on = 0;
		handle_vector(vector, false);
		if (PREEMPTS_KERNEL && !preempt_count() && need_resched())
			preempt_schedule_irq();
		rearm_for_kernel();
	}
	hw.irq_on = 1;
}

/* Back in user mode, where others may have been since, or elsewhere. */
static inline void find_caches(struct kern_task *task)
{
	struct thread_struct *thread = &current->thread;

	if (!thread->was_away)
		return;
	thread->was_away = false;
	if (thread->last_cpu == hw.cpu && hw_caches_kept(&task->hw))
		return;
	hw_refill_caches(&task->hw, thread->last_cpu);
	thread->last_cpu = hw.cpu;
}

/* Everything that has to happen before user code goes on. */
void shim_exit_to_user(void)
{
	struct kern_task *task = current->thread.task;

	local_irq_disable();
	rearm_for_user();
	while (resched_for_user() || task_work_pending(current)) {
		local_irq_enable();
		if (resched_for_user())
			schedule();
		if (task_work_pending(current))
			task_work_run();
		local_irq_disable();
	}
	find_caches(task);
	to_user();
	/*
	 * Interrupts that are due by now come in user mode, where they preempt: here the last look
	 * at need_resched is over.
	 */
	hw.irq_on = 1;
	if (task->killed == KERN_KILLED) {
		task->killed = KERN_DYING;	/* exit itself comes by here */
		kern_exit();
	}
}

/* Current computes in user mode until its work is done; interrupts and others come between. */
static void run_user(struct kern_task *task)
{
	int vector;

	if (unlikely(hw.core_sched))
		shim_core_enters_user();
	while (!hw_run_user(&task->hw)) {
		hw.irq_on = 0;
		while ((vector = hw_take_vector()) >= 0)
			handle_vector(vector, true);
		shim_exit_to_user();
		if (unlikely(hw.core_sched))
			shim_core_enters_user();
		}
}

void shim_user_work(simtime ns)
{
	struct kern_task *task = current->thread.task;

	task->work = ns;
	run_user(task);
}

/* The distance of the points at which long kernel code may be preempted. */
#define PREEMPTION_POINT	(10 * NSEC_PER_USEC)

/* In the middle of long work: interrupts come between, and whoever may preempt it does. */
void shim_preemption_point(void)
{
	if (!hw.live)
		return;
	hw_catch_up();
	if (hw.irq_on && hw.clk >= hw.irq_due)
		shim_irq_window();
	cond_resched();
}

/* Long work in the kernel. */
void shim_kernel_work(simtime ns)
{
	while (ns) {
		simtime step = min_t(simtime, ns, PREEMPTION_POINT);

		hw_charge(step);
		ns -= step;
		shim_preemption_point();
	}
}

void shim_syscall_begin(enum hw_time call)
{
	hw_enter(HW_ENTRY_SYSCALL);
	hw_spend_on(call);
	current->thread.task->call = call;
	hw.epoch++;
	hw_charge(hw_costs.syscall);
	from_user();
}

void shim_syscall_exit(void)
{
	if (resched_for_user() || task_work_pending(current) || signal_pending(current)) {
		shim_exit_to_user();
	} else {
		find_caches(current->thread.task);
		to_user();
	}
	hw_spend_on(HW_TIME_USER);
	shim_working_set_touch();
}

simtime kern_now(void)
{
	return hw.clk;
}

void kern_sync(void)
{
	shim_sync();
}

void kern_syscall(struct hw_line *count)
{
	shim_syscall_enter(HW_TIME_OTHER);
	if (count)
		hw_line_change_if(count);
	shim_syscall_exit();
}

void kern_run(simtime ns)
{
	shim_working_set_touch();
	shim_user_work(ns);
}

void kern_run_clock(simtime ns)
{
	struct kern_task *task = current->thread.task;

	shim_working_set_touch();
	task->spins_until = hw.clk + ns;
	shim_user_work(ns);
	task->spins_until = 0;
}
