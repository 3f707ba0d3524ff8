// SPDX-License-Identifier: GPL-2.0-only
/*
 * RCU: a callback runs when every CPU that was stopped in the middle of kernel
 * code at the time it was queued has switched context or left the kernel.
 * CPUs in user mode or halted are quiescent, as in the kernel.
 */
#include <linux/rcupdate.h>
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/tick.h>
#include "shim.h"

extern int tick_do_timer_cpu;		/* of tick-internal.h */

struct batch {
	struct rcu_head *head, **tail;
};

static struct batch next = { .tail = &next.head };	/* queued, grace period not begun */
static struct batch waiting = { .tail = &waiting.head };
static struct cpumask not_quiescent;
static unsigned int blocked_readers;			/* preempted inside a read-side section */
static int driver_cpu = -1;				/* its tick moves the grace periods on */

/*
 * A CPU without a tick leaves its callbacks to others (RCU_NOCB_CPU): here to the one whose tick
 * never stops.
 */
static int keeps_tick(int cpu)
{
#ifdef CONFIG_NO_HZ_FULL
	if (tick_nohz_full_cpu(cpu))
		return tick_do_timer_cpu;
#endif
	return cpu;
}

void call_rcu(struct rcu_head *head, rcu_callback_t func)
{
	head->func = func;
	head->next = NULL;
	*next.tail = head;
	next.tail = &head->next;
	driver_cpu = keeps_tick(hw.cpu);
}

static void free_object(struct rcu_head *head)
{
	shim_kfree(*(void **)(head + 1));
	hw_free(head);
}

/* The head may lie anywhere in the object: a little note of its own says what to free. */
void shim_kfree_rcu(struct rcu_head *head, void *object)
{
	struct rcu_head *note = hw_zalloc(sizeof(*note) + sizeof(void *), 16);

	*(void **)(note + 1) = object;
	call_rcu(note, free_object);
}

void shim_rcu_advance(void)
{
	struct rcu_head *head;
	int cpu;

	if (waiting.head) {
		for_each_cpu(cpu, &not_quiescent)
			if (cpu == hw.cpu || !hw_in_kernel(cpu))
				cpumask_clear_cpu(cpu, &not_quiescent);
		if (!cpumask_empty(&not_quiescent) || blocked_readers)
			return;
		head = waiting.head;
		waiting.head = NULL;
		waiting.tail = &waiting.head;
		while (head) {
			struct rcu_head *following = head->next;

			head->func(head);
			head = following;
		}
	}
	if (next.head) {
		waiting = next;
		if (waiting.tail == &next.head)
			waiting.tail = &waiting.head;
		next.head = NULL;
		next.tail = &next.head;
		cpumask_clear(&not_quiescent);
		for_each_online_cpu(cpu)
			if (cpu != hw.cpu && hw_in_kernel(cpu))
				cpumask_set_cpu(cpu, &not_quiescent);
	} else if (!waiting.head) {
		driver_cpu = -1;
	}
}

/*
 * As rcu_flavor_sched_clock_irq(): where readers are counted, a tick in the middle of kernel code
 * knows that there is none.  A CPU that goes from one system call to the next without a switch
 * reports by that alone.
 */
static bool outside_readers(void)
{
#ifdef CONFIG_PREEMPT_RCU
	return !current->rcu_read_lock_nesting && !(preempt_count() & (PREEMPT_MASK | SOFTIRQ_MASK));
#else
	return false;
#endif
}

/* Called by every tick: one that comes from user mode has met no reader. */
void rcu_sched_clock_irq(int user)
{
	hw_charge(hw_costs.tick);
	if (user || outside_readers())
		cpumask_clear_cpu(hw.cpu, &not_quiescent);
	if (hw.cpu == driver_cpu || (driver_cpu >= 0 && !cpu_online(driver_cpu)))
		shim_rcu_advance();
}

int rcu_needs_cpu(void)
{
	return hw.cpu == driver_cpu;
}

void rcu_note_context_switch(bool preempt)
{
	cpumask_clear_cpu(hw.cpu, &not_quiescent);
#ifdef CONFIG_PREEMPT_RCU
	WARN_ON_ONCE(!preempt && current->rcu_read_lock_nesting > 0);
	if (current->rcu_read_lock_nesting > 0 && !current->rcu_read_unlock_special.b.blocked) {
		current->rcu_read_unlock_special.b.blocked = true;
		blocked_readers++;
	}
#endif
}

#ifdef CONFIG_PREEMPT_RCU
void __rcu_read_lock(void)
{
	current->rcu_read_lock_nesting++;
}

void __rcu_read_unlock(void)
{
	if (--current->rcu_read_lock_nesting == 0 && current->rcu_read_unlock_special.b.blocked) {
		current->rcu_read_unlock_special.b.blocked = false;
		blocked_readers--;
	}
}
#endif

struct waiter {
	struct rcu_head head;
	struct completion done;
};

static void wake_waiter(struct rcu_head *head)
{
	complete(&container_of(head, struct waiter, head)->done);
}

void synchronize_rcu(void)
{
	struct waiter waiter;

	if (!hw.live)		/* boot: one task, nobody reads */
		return;
	init_completion(&waiter.done);
	call_rcu(&waiter.head, wake_waiter);
	wait_for_completion(&waiter.done);
}

void rcu_all_qs(void)
{
}

#ifdef CONFIG_NO_HZ_FULL
void rcu_irq_work_resched(void)
{
}
#endif

void rcu_softirq_qs(void)
{
}

/* A stopper waiting with its CPU: readers there are done. */
void rcu_momentary_eqs(void)
{
	cpumask_clear_cpu(hw.cpu, &not_quiescent);
}

/* The same before 6.12. */
void rcu_momentary_dyntick_idle(void)
{
	rcu_momentary_eqs();
}
