// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the bound kworker of every CPU does now and then: it folds the kernel's counters of memory
 * once a second, which sets rd->overload on a machine where nothing else queues, and other small
 * works.
 */
#include <linux/cpuhotplug.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include "shim.h"

struct chore {
	unsigned int cpu;
	bool on;
	struct timer_list timer;
	struct work_struct first, work;
};
static DEFINE_PER_CPU(struct chore, vmstat);
static DEFINE_PER_CPU(struct chore, other);
static unsigned long other_period;	/* in jiffies; 0: there are no others */
static simtime other_takes;

/*
 * Every vm.stat_interval of a second; CPUs take turns 3 jiffies apart, as round_jiffies() makes
 * them.
 */
static void arm_vmstat(struct chore *stat)
{
	if (!stat->on)
		return;
	stat->timer.expires = jiffies + HZ - (jiffies + 3 * stat->cpu) % HZ;
	add_timer_on(&stat->timer, stat->cpu);
}

static void arm_other(struct chore *other, unsigned long delay)
{
	if (!other->on)
		return;
	other->timer.expires = jiffies + delay;
	add_timer_on(&other->timer, other->cpu);
}

static void queue_chore(struct timer_list *timer)
{
	struct chore *chore = container_of(timer, struct chore, timer);

	queue_work_on(chore->cpu, system_wq, &chore->work);
}

/* On the CPU itself: a timer belongs to the one that sets it up. */
static void set_up_vmstat(struct work_struct *work)
{
	struct chore *stat = container_of(work, struct chore, first);

	timer_setup(&stat->timer, queue_chore, TIMER_DEFERRABLE | TIMER_PINNED);
	stat->on = true;
	arm_vmstat(stat);
}

/* Each CPU's works have a phase of their own. */
static void set_up_other(struct work_struct *work)
{
	struct chore *other = container_of(work, struct chore, first);

	timer_setup(&other->timer, queue_chore, TIMER_PINNED);
	other->on = true;
	arm_other(other, 1 + hw_random() % other_period);
}

static void fold(struct work_struct *work)
{
	hw_charge(hw_costs.vmstat);
	arm_vmstat(container_of(work, struct chore, work));
}

static void do_other(struct work_struct *work)
{
	shim_kernel_work(other_takes);
	arm_other(container_of(work, struct chore, work), other_period);
}

static int go_online(unsigned int cpu)
{
	struct chore *stat = raw_per_cpu_ptr(&vmstat, cpu), *mine = raw_per_cpu_ptr(&other, cpu);

	stat->on = true;
	arm_vmstat(stat);
	if (other_period) {
		mine->on = true;
		arm_other(mine, other_period);
	}
	return 0;
}

static int go_offline(unsigned int cpu)
{
	struct chore *stat = raw_per_cpu_ptr(&vmstat, cpu), *mine = raw_per_cpu_ptr(&other, cpu);

	stat->on = false;
	timer_delete_sync(&stat->timer);
	if (other_period) {
		mine->on = false;
		timer_delete_sync(&mine->timer);
	}
	return 0;
}

void shim_setup_vmstat(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct chore *stat = raw_per_cpu_ptr(&vmstat, cpu);

		stat->cpu = cpu;
		INIT_WORK(&stat->first, set_up_vmstat);
		INIT_WORK(&stat->work, fold);
		shim_queue_first_work(cpu, &stat->first);
	}
	cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "mm/vmstat:online", go_online, go_offline);
}

void kern_start_housekeeping(simtime period, simtime takes)
{
	int cpu;

	other_period = max(nsecs_to_jiffies(period), 1UL);
	other_takes = takes;
	for_each_possible_cpu(cpu) {
		struct chore *mine = raw_per_cpu_ptr(&other, cpu);

		mine->cpu = cpu;
		INIT_WORK(&mine->first, set_up_other);
		INIT_WORK(&mine->work, do_other);
		queue_work_on(cpu, system_wq, &mine->first);
	}
}
