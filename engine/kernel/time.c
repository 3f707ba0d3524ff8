// SPDX-License-Identifier: GPL-2.0-only
/* The clocks: every reading is the CPU's own clock, so time moves inside the scheduler too. */
#include <linux/clockchips.h>
#include <linux/timekeeping.h>
#include <linux/timekeeper_internal.h>
#include <linux/sched/loadavg.h>
#include "shim.h"

const int kern_hz = HZ;

static DEFINE_PER_CPU(struct clock_event_device, clockevent);

unsigned long long notrace sched_clock(void)
{
	return hw.clk;
}

ktime_t ktime_get(void)
{
	return hw.clk;
}

ktime_t ktime_get_with_offset(enum tk_offsets offs)
{
	return hw.clk;
}

u64 ktime_get_mono_fast_ns(void)
{
	return hw.clk;
}

void ktime_get_real_ts64(struct timespec64 *ts)
{
	*ts = ns_to_timespec64(hw.clk);
}

ktime_t ktime_get_update_offsets_now(unsigned int *cwsseq, ktime_t *real, ktime_t *boot,
				     ktime_t *tai)
{
	*real = *boot = *tai = 0;
	return hw.clk;
}

/* jiffies: tick-sched.c moves them under these, as in the kernel */
__cacheline_aligned_in_smp DEFINE_RAW_SPINLOCK(jiffies_lock);
__cacheline_aligned_in_smp seqcount_raw_spinlock_t jiffies_seq =
	SEQCNT_RAW_SPINLOCK_ZERO(jiffies_seq, &jiffies_lock);

void do_timer(unsigned long ticks)
{
	jiffies_64 += ticks;
	calc_global_load();
}

void update_wall_time(void)
{
}

u64 timekeeping_max_deferment(void)
{
	return KTIME_MAX;
}

int timekeeping_valid_for_hres(void)
{
	return 1;
}

static int set_next(ktime_t expires, struct clock_event_device *evt)
{
	hw_set_timer(expires);
	return 0;
}

static int switch_off(struct clock_event_device *evt)
{
	hw_set_timer(HW_NEVER);
	return 0;
}

static int keep_on(struct clock_event_device *evt)
{
	return 0;
}

struct clock_event_device *shim_clockevent(void)
{
	return this_cpu_ptr(&clockevent);
}

/* On the CPU itself, as its architecture's setup code would. */
void shim_setup_clockevent(void)
{
	struct clock_event_device *evt = shim_clockevent();

	*evt = (struct clock_event_device) {
		.name = "sim",
		.features = CLOCK_EVT_FEAT_ONESHOT | SHIM_CLOCK_EVT_KTIME,
		.rating = 400,
		.irq = -1,
		.cpumask = cpumask_of(hw.cpu),
		.mult = 1,
		.max_delta_ns = KTIME_MAX / 2,
		.min_delta_ns = 1,
		.max_delta_ticks = LONG_MAX,
		.min_delta_ticks = 1,
		.set_next_ktime = set_next,
		.set_state_shutdown = switch_off,
		.set_state_oneshot = keep_on,
		.set_state_oneshot_stopped = switch_off,
		.tick_resume = keep_on,
	};
	clockevents_register_device(evt);
}
