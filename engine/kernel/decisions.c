// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tracepoints on decisions, without changing the kernel's sources: the classes'
 * select_task_rq() methods and the cpuidle governors' select() are reached through
 * tables of pointers, which we turn to wrappers at boot.
 */
#include <linux/cpuidle.h>
#include <../drivers/cpuidle/cpuidle.h>
#include "shim.h"
#include "idle_choice.h"
#include <trace/events/schedlab.h>

typedef int (*select_fn)(struct task_struct *p, int cpu, int flags);

static const struct sched_class *const classes[] = {
	&fair_sched_class, &rt_sched_class, &dl_sched_class
};

static select_fn original[ARRAY_SIZE(classes)];

static int select_traced(struct task_struct *p, int cpu, int flags)
{
	enum hw_time before = hw_spend_on(HW_TIME_PLACEMENT);
	simtime from = hw.clk;
	int i = 0, chosen;

	while (classes[i] != p->sched_class && i < ARRAY_SIZE(classes) - 1)
		i++;
	chosen = original[i](p, cpu, flags);
	hw_function_ran(HW_SELECT_TASK_RQ, from);
	hw_spend_on(before);
	trace_select_task_rq(p, cpu, chosen, flags);
	return chosen;
}

void shim_setup_decisions(void)
{
	int i;

	_Static_assert(__builtin_types_compatible_p(typeof(fair_sched_class.select_task_rq), select_fn),
		       "select_task_rq() of struct sched_class is not int (struct task_struct *, int, int): "
		       "the simulator, which traces its calls (engine/kernel/decisions.c), cannot pass on "
		       "other parameters");
	for (i = 0; i < ARRAY_SIZE(classes); i++) {
		select_fn *method = (select_fn *)&classes[i]->select_task_rq;

		original[i] = *method;
		hw_make_writable(method, sizeof(*method));
		*method = select_traced;
	}
}

/* ------------------------------------------------------------------ idle states */

struct shim_idle_inputs shim_idle_asked[HW_MAX_CPUS];

static struct {
	const struct cpuidle_governor *governor;
	int (*select)(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick);
} governors[8];

static int idle_traced(struct cpuidle_driver *drv, struct cpuidle_device *dev, bool *stop_tick)
{
	struct shim_idle_inputs *asked = &shim_idle_asked[hw.cpu];
	int i = 0, chosen;

	while (governors[i].governor != cpuidle_curr_governor)
		i++;
	*asked = (struct shim_idle_inputs) { -1, -1, -1 };
	chosen = governors[i].select(drv, dev, stop_tick);
	trace_idle_choice(dev->cpu, drv->states[chosen].name, *stop_tick, asked);
	return chosen;
}

/* After the governors' initcalls. */
void shim_setup_idle_decisions(void)
{
	struct cpuidle_governor *governor;
	int i = 0;

	list_for_each_entry(governor, &cpuidle_governors, governor_list) {
		if (i == ARRAY_SIZE(governors))
			hw_die("too many cpuidle governors", governor->name, i);
		governors[i].governor = governor;
		governors[i++].select = governor->select;
		governor->select = idle_traced;
	}
}
