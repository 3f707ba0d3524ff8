// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's counters of memory, folded on every CPU once a second by its bound
 * kworker: what sets rd->overload on a machine where nothing else queues.
 */
#include <linux/cpuhotplug.h>
#include <linux/timer.h>
#include <linux/workqueue.h>
#include "sim.h"

struct vmstat {
	unsigned int cpu;
	bool on;
	struct timer_list timer;
	struct work_struct first, fold;
};
static DEFINE_PER_CPU(struct vmstat, vmstat);

/* Every vm.stat_interval of a second; CPUs take turns 3 jiffies apart, as round_jiffies() makes them. */
static void arm(struct vmstat *stat)
{
	if (!stat->on)
		return;
	stat->timer.expires = jiffies + HZ - (jiffies + 3 * stat->cpu) % HZ;
	add_timer_on(&stat->timer, stat->cpu);
}

static void queue_fold(struct timer_list *timer)
{
	struct vmstat *stat = container_of(timer, struct vmstat, timer);

	queue_work_on(stat->cpu, system_wq, &stat->fold);
}

/* On the CPU itself: a timer belongs to the one that sets it up. */
static void set_up(struct work_struct *work)
{
	struct vmstat *stat = container_of(work, struct vmstat, first);

	timer_setup(&stat->timer, queue_fold, TIMER_DEFERRABLE | TIMER_PINNED);
	stat->on = true;
	arm(stat);
}

static void fold(struct work_struct *work)
{
	sim_charge(sim_costs.vmstat);
	arm(container_of(work, struct vmstat, fold));
}

static int go_online(unsigned int cpu)
{
	struct vmstat *stat = raw_per_cpu_ptr(&vmstat, cpu);

	stat->on = true;
	arm(stat);
	return 0;
}

static int go_offline(unsigned int cpu)
{
	struct vmstat *stat = raw_per_cpu_ptr(&vmstat, cpu);

	stat->on = false;
	del_timer_sync(&stat->timer);
	return 0;
}

void sim_setup_vmstat(void)
{
	int cpu;

	for_each_possible_cpu(cpu) {
		struct vmstat *stat = raw_per_cpu_ptr(&vmstat, cpu);

		stat->cpu = cpu;
		INIT_WORK(&stat->first, set_up);
		INIT_WORK(&stat->fold, fold);
		sim_queue_first_work(cpu, &stat->first);
	}
	cpuhp_setup_state_nocalls(CPUHP_AP_ONLINE_DYN, "mm/vmstat:online", go_online, go_offline);
}
