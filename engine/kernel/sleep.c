// SPDX-License-Identifier: GPL-2.0-only
/* Sleeping for a time and giving way, as nanosleep() and sched_yield() do. */
#include <linux/hrtimer.h>
#include "shim.h"

/* Every task's default slack is 50 us, none for the real-time classes. */
u64 shim_timer_slack(void)
{
	return rt_task(current) || dl_task(current) ? 0 : 50 * NSEC_PER_USEC;
}

static void sleep_to(ktime_t expires)
{
	while (hw.clk < expires && !signal_pending(current)) {
		ktime_t until = expires;

		set_current_state(TASK_INTERRUPTIBLE);
		schedule_hrtimeout_range(&until, shim_timer_slack(), HRTIMER_MODE_ABS);
	}
}

void kern_sleep(simtime ns)
{
	shim_syscall_enter(HW_TIME_TIMER);
	sleep_to(hw.clk + ns);
	shim_syscall_exit();
}

simtime kern_sleep_until(simtime t)
{
	shim_syscall_enter(HW_TIME_TIMER);
	sleep_to(t);
	shim_syscall_exit();
	return hw.clk;
}

/* As io_schedule(): the interrupt comes to the CPU that asked, as blk-mq's queues have it. */
void kern_device_wait(simtime ns, simtime work)
{
	ktime_t until = hw.clk + ns;
	int was_waiting;

	shim_syscall_enter(HW_TIME_OTHER);
	hw_charge(work);
	was_waiting = current->in_iowait;
	current->in_iowait = 1;
	while (hw.clk < until) {
		ktime_t expires = until;

		set_current_state(TASK_UNINTERRUPTIBLE);
		schedule_hrtimeout_range(&expires, 0, HRTIMER_MODE_ABS_PINNED);
	}
	current->in_iowait = was_waiting;
	shim_syscall_exit();
}

void kern_yield(void)
{
	shim_syscall_enter(HW_TIME_OTHER);
	shim_yield_called();
	yield();
	shim_yield_returned();
	shim_syscall_exit();
}
