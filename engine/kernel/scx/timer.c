// SPDX-License-Identifier: GPL-2.0-only
/*
 * Timers in values of maps, as kernel/bpf/helpers.c has them: an hrtimer that expires in softirq
 * context.  From 7.0 on, what is asked for with interrupts off is done as soon as they are on.
 */
#include <linux/bpf.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include "scx.h"

struct timer {
	struct hrtimer	hrtimer;
	struct bpf_timer *at;
	void		*map;
	u64		key;			/* of a map by number */
	void		*value;
	int		(*callback)(void *map, void *key, void *value);
	unsigned int	cancelling;		/* other timers' callbacks that wait for the end of its own */
#ifdef TREE_HAS_TIMER_DEFERS
	struct irq_work	work;			/* what was asked for with interrupts off: the last counts */
	bool		starts;			/* else it is cancelled */
	u64		ns;
	enum hrtimer_mode mode;
#endif
};

static struct timer **place(struct bpf_timer *timer)
{
	shim_scx_check(timer, sizeof(*timer), true);
	return (struct timer **)timer;
}

static DEFINE_PER_CPU(struct timer *, running);

static enum hrtimer_restart expired(struct hrtimer *hrtimer)
{
	struct timer *t = container_of(hrtimer, struct timer, hrtimer);

	if (!t->value || !t->callback)
		return HRTIMER_NORESTART;
	this_cpu_write(running, t);
	shim_scx_calls_back();
	t->callback(t->map, &t->key, t->value);
	this_cpu_write(running, NULL);
	return HRTIMER_NORESTART;
}

#ifdef TREE_HAS_TIMER_DEFERS
static bool defers(void)
{
	return in_hardirq() || irqs_disabled();
}

static void do_deferred(struct irq_work *work)
{
	struct timer *t = container_of(work, struct timer, work);

	if (t->starts)
		hrtimer_start(&t->hrtimer, ns_to_ktime(t->ns), t->mode);
	else
		hrtimer_try_to_cancel(&t->hrtimer);
}

static void defer(struct timer *t, bool starts, u64 ns, enum hrtimer_mode mode)
{
	t->starts = starts;
	t->ns = ns;
	t->mode = mode;
	irq_work_queue(&t->work);
}
#else
static bool defers(void)
{
	return false;
}

static void defer(struct timer *t, bool starts, u64 ns, enum hrtimer_mode mode)
{
}
#endif

long native_bpf_timer_init(struct bpf_timer *timer, void *map, u64 flags)
{
	struct timer **at = place(timer), *t;
	clockid_t clock = flags & (MAX_CLOCKS - 1);

	if (flags >= MAX_CLOCKS || (clock != CLOCK_MONOTONIC && clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME))
		return -EINVAL;
	if (*at)
		return -EBUSY;
	t = *at = hw_zalloc(sizeof(*t), 64);
	t->at = timer;
	t->map = map;
	t->value = shim_scx_value(shim_scx_map(map), timer, &t->key);
	if (!t->value)
		hw_end_in_scheduler("the scheduler makes a timer that is not in a value of the map it names");
#ifdef TREE_HAS_TIMER_DEFERS
	init_irq_work(&t->work, do_deferred);
#endif
#ifdef TREE_HAS_HRTIMER_SETUP
	hrtimer_setup(&t->hrtimer, expired, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
#else
	hrtimer_init(&t->hrtimer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_SOFT);
	t->hrtimer.function = expired;
#endif
	return 0;
}

void shim_scx_timer_gone(struct bpf_timer *timer)
{
	struct timer **at = (struct timer **)timer, *t = *at;

	if (!t)
		return;
	t->value = NULL;
	*at = NULL;
	if (defers())
		defer(t, false, 0, 0);
	else
		hrtimer_try_to_cancel(&t->hrtimer);
}

long native_bpf_timer_set_callback(struct bpf_timer *timer, int (*callback)(void *map, void *key, void *value))
{
	struct timer *t = *place(timer);

	if (!t)
		return -EINVAL;
	t->callback = callback;
	return 0;
}

long native_bpf_timer_start(struct bpf_timer *timer, u64 ns, u64 flags)
{
	struct timer *t = *place(timer);
	enum hrtimer_mode mode = flags & BPF_F_TIMER_ABS ? HRTIMER_MODE_ABS_SOFT : HRTIMER_MODE_REL_SOFT;

	if (!t || !t->callback || !t->value || flags & ~(BPF_F_TIMER_ABS | BPF_F_TIMER_CPU_PIN))
		return -EINVAL;
	if (flags & BPF_F_TIMER_CPU_PIN)
		mode |= HRTIMER_MODE_PINNED;
	if (defers())
		defer(t, true, ns, mode);
	else
		hrtimer_start(&t->hrtimer, ns_to_ktime(ns), mode);
	return 0;
}

/* Waits for the end of a callback that runs on another CPU. */
long native_bpf_timer_cancel(struct bpf_timer *timer)
{
	struct timer *t = *place(timer), *own = this_cpu_read(running);
	long ret;

	if (defers())
		return -EOPNOTSUPP;
	if (!t)
		return -EINVAL;
	if (own == t || (own && own->cancelling))	/* they would wait for each other */
		return -EDEADLK;
	t->cancelling += !!own;
	t->callback = NULL;
	ret = hrtimer_cancel(&t->hrtimer);
	t->cancelling -= !!own;
	return ret;
}
