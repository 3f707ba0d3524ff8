// SPDX-License-Identifier: GPL-2.0-only
/*
 * The kernel's counters of memory, folded on every CPU once a second by its bound
 * kworker: what sets rd->overload on a machine where nothing else queues.
 */
#include <linux/timer.h>
#include <linux/smpboot.h>
#include "sim.h"

static DEFINE_PER_CPU(struct task_struct *, kworker);
static DEFINE_PER_CPU(struct timer_list, stat_timer);
static DEFINE_PER_CPU(bool, stat_due);

/* Every vm.stat_interval of a second; CPUs take turns 3 jiffies apart, as round_jiffies() makes them. */
static void arm(unsigned int cpu)
{
	struct timer_list *timer = this_cpu_ptr(&stat_timer);

	timer->expires = jiffies + HZ - (jiffies + 3 * cpu) % HZ;
	add_timer_on(timer, cpu);
}

static void queue_stat(struct timer_list *timer)
{
	this_cpu_write(stat_due, true);
	wake_up_process(this_cpu_read(kworker));
}

static int stat_is_due(unsigned int cpu)
{
	return this_cpu_read(stat_due);
}

static void fold_stats(unsigned int cpu)
{
	this_cpu_write(stat_due, false);
	sim_charge(sim_costs.vmstat);
	arm(cpu);
}

static void set_up(unsigned int cpu)
{
	timer_setup(this_cpu_ptr(&stat_timer), queue_stat, TIMER_DEFERRABLE | TIMER_PINNED);
	arm(cpu);
}

static void park(unsigned int cpu)
{
	del_timer_sync(this_cpu_ptr(&stat_timer));
	this_cpu_write(stat_due, false);
}

static struct smp_hotplug_thread kworkers = {
	.store			= &kworker,
	.thread_should_run	= stat_is_due,
	.thread_fn		= fold_stats,
	.setup			= set_up,
	.park			= park,
	.unpark			= arm,
	.thread_comm		= "kworker/%u:0",
};

void sim_setup_vmstat(void)
{
	smpboot_register_percpu_thread(&kworkers);
}
