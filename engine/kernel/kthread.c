// SPDX-License-Identifier: GPL-2.0-only
/* Per-CPU kernel threads as kernel/smpboot.c runs them, with parking for hotplug. */
#include <linux/kthread.h>
#include <linux/smpboot.h>
#include "shim.h"

enum { ACTIVE, PARK };

struct percpu_thread {
	struct smp_hotplug_thread *ht;
	unsigned int cpu;
	int request;
	bool parked, set_up;
};

static LIST_HEAD(registered);

static void park_self(struct percpu_thread *td)
{
	td->parked = true;
	while (td->request == PARK) {
		set_current_state(TASK_PARKED);
		if (td->request == PARK)
			schedule();
	}
	__set_current_state(TASK_RUNNING);
	td->parked = false;
}

static void thread_loop(void *arg)
{
	struct percpu_thread *td = arg;
	struct smp_hotplug_thread *ht = td->ht;

	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		preempt_disable();
		if (td->request == PARK) {
			__set_current_state(TASK_RUNNING);
			preempt_enable();
			if (ht->park && td->set_up)
				ht->park(td->cpu);
			park_self(td);
			if (ht->unpark && td->set_up)
				ht->unpark(td->cpu);
			continue;
		}
		if (!td->set_up) {
			__set_current_state(TASK_RUNNING);
			preempt_enable();
			if (ht->setup)
				ht->setup(td->cpu);
			td->set_up = true;
			continue;
		}
		if (!ht->thread_should_run(td->cpu)) {
			preempt_enable_no_resched();
			schedule();
		} else {
			__set_current_state(TASK_RUNNING);
			preempt_enable();
			ht->thread_fn(td->cpu);
		}
	}
}

int smpboot_register_percpu_thread(struct smp_hotplug_thread *ht)
{
	struct task_struct *boot_task = current;
	char comm[TASK_COMM_LEN];
	int cpu, boot_cpu = hw.cpu;

	for_each_possible_cpu(cpu) {
		struct percpu_thread *td = hw_zalloc(sizeof(*td), 64);
		struct task_struct *p;

		td->ht = ht;
		td->cpu = cpu;
		snprintf(comm, sizeof(comm), ht->thread_comm, cpu);
		hw_set_boot_cpu(cpu, raw_cpu_rq(cpu)->curr);
		p = shim_kthread_create(thread_loop, td, cpu, comm);
		*per_cpu_ptr(ht->store, cpu) = p;
		if (ht->create)
			ht->create(cpu);
		/* A selfparking thread waits for its owner's kthread_unpark(). */
		td->request = ht->selfparking ? PARK : ACTIVE;
		wake_up_new_task(p);
	}
	hw_set_boot_cpu(boot_cpu, boot_task);
	list_add(&ht->list, &registered);
	return 0;
}

static struct task_struct *thread_of(struct smp_hotplug_thread *ht, unsigned int cpu)
{
	return *raw_per_cpu_ptr((struct task_struct **)ht->store, cpu);
}

int kthread_park(struct task_struct *p)
{
	struct percpu_thread *td = p->thread.kthread_arg;

	td->request = PARK;
	if (p == current)
		return 0;
	wake_up_process(p);
	while (!td->parked)
		schedule_timeout_uninterruptible(1);
	return 0;
}

void kthread_unpark(struct task_struct *p)
{
	struct percpu_thread *td = p->thread.kthread_arg;

	td->request = ACTIVE;
	wake_up_state(p, TASK_PARKED);
}

bool __kthread_should_park(struct task_struct *p)
{
	struct percpu_thread *td = p->thread.kthread_arg;

	return td->request == PARK;
}

int smpboot_park_threads(unsigned int cpu)
{
	struct smp_hotplug_thread *ht;

	list_for_each_entry(ht, &registered, list)
		if (!ht->selfparking)
			kthread_park(thread_of(ht, cpu));
	return 0;
}

int smpboot_unpark_threads(unsigned int cpu)
{
	struct smp_hotplug_thread *ht;

	list_for_each_entry(ht, &registered, list)
		if (!ht->selfparking)
			kthread_unpark(thread_of(ht, cpu));
	return 0;
}

bool kthread_is_per_cpu(struct task_struct *p)
{
	return (p->flags & PF_KTHREAD) && (p->flags & PF_NO_SETAFFINITY) && p->nr_cpus_allowed == 1;
}

bool set_kthread_struct(struct task_struct *p)
{
	return true;
}

void kthread_set_per_cpu(struct task_struct *k, int cpu)
{
}
