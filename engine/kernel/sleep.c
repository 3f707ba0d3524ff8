// SPDX-License-Identifier: GPL-2.0-only
/* Sleeping for a time and giving way, as nanosleep() and sched_yield() do. */
#include <linux/hrtimer.h>
#include "sim.h"

/* Every task's default slack is 50 us, none for the real-time classes. */
u64 sim_timer_slack(void)
{
	return rt_task(current) || dl_task(current) ? 0 : 50 * NSEC_PER_USEC;
}

static void sleep_to(ktime_t expires)
{
	while (sim.clk < expires && !signal_pending(current)) {
		ktime_t until = expires;

		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout_range(&until, sim_timer_slack(), HRTIMER_MODE_ABS);
	}
}

void kern_sleep(simtime ns)
{
	sim_syscall_enter();
	sleep_to(sim.clk + ns);
	sim_syscall_exit();
}

simtime kern_sleep_until(simtime t)
{
	sim_syscall_enter();
	sleep_to(t);
	sim_syscall_exit();
	return sim.clk;
}

void kern_yield(void)
{
	sim_syscall_enter();
	yield();
	sim_syscall_exit();
}
