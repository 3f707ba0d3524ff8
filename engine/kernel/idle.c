// SPDX-License-Identifier: GPL-2.0-only
/* Idle states of the machine behind the kernel's own cpuidle core, governors and idle loop. */
#include <linux/cpuidle.h>
#include <linux/pm_qos.h>
#include <linux/sched/idle.h>
#include <../drivers/cpuidle/cpuidle.h>
#include "shim.h"

static struct cpuidle_driver driver = { .name = "sim", .owner = NULL };
static DEFINE_PER_CPU(struct cpuidle_device, device);

void arch_cpu_idle_enter(void)
{
	/* An idle loop that finds no rest must not run ahead of the others. */
	if (hw.clk >= hw.catch_up)
		hw_catch_up();
	hw_enter(HW_ENTRY_IDLE);
	hw.epoch++;
	hw_charge(hw_costs.idle_enter);
}

void arch_cpu_idle_exit(void)
{
	hw_charge(hw_costs.idle_exit);
}

/* No idle states described: the CPU halts, polling its flags as x86 does with mwait. */
void arch_cpu_idle(void)
{
	if (!current_set_polling_and_test())
		hw_halt(0, 0, HW_NEVER);
	__current_clr_polling();
	shim_arch_cpu_idle_return();
}

static int enter_state(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	const struct hw_idle_state *state = &hw_idle_states[index];

	/* call_cpuidle() cleared the flag; a CPU that waits for a write to it says so again */
	if (state->mwait && current_set_polling_and_test()) {
		current_clr_polling();
		return index;
	}
	if (hw_mechanisms.idle_latency)
		hw_idle_change(index, state->entry_ns, state->firmware);
	if (!need_resched())
		hw_halt(index, 0, HW_NEVER);
	if (hw_mechanisms.idle_latency)
		hw_idle_change(index, state->exit_ns, state->firmware);
	if (state->mwait)
		current_clr_polling();
	return index;
}

/* As poll_idle(), without its turns. */
static int poll(struct cpuidle_device *dev, struct cpuidle_driver *drv, int index)
{
	simtime start = hw.clk;

	dev->poll_time_limit = false;
	local_irq_enable();
	if (!current_set_polling_and_test()) {
		simtime end = start + cpuidle_poll_time(drv, dev);

		while (!need_resched()) {
			hw_halt(index, 1, end);
			if (hw.clk >= hw.irq_due)
				shim_irq_window();
			if (hw.clk >= end) {
				dev->poll_time_limit = true;
				break;
			}
		}
	}
	local_irq_disable();
	current_clr_polling();
	return index;
}

void shim_setup_idle_drivers(void)
{
	int i;

	if (!hw_nr_idle_states) {
		disable_cpuidle();
		return;
	}
	for (i = 0; i < hw_nr_idle_states; i++) {
		const struct hw_idle_state *from = &hw_idle_states[i];
		struct cpuidle_state *to = &driver.states[i];

		strscpy(to->name, from->name, sizeof(to->name));
		strscpy(to->desc, from->desc, sizeof(to->desc));
		to->exit_latency = from->latency_us;
		to->target_residency = from->residency_us;
		to->enter = from->polling ? poll : enter_state;
		if (from->declared)
			to->flags |= CPUIDLE_FLAG_POLLING;
	}
	driver.state_count = hw_nr_idle_states;
	/* as cpuidle.governor= on the command line */
	strscpy(param_governor, hw_idle_governor, CPUIDLE_NAME_LEN);
	if (cpuidle_register_driver(&driver))
		hw_die("cpuidle_register_driver() failed", driver.name, 0);
	shim_add_cpuidle_interface();
}

/* After the governors' initcalls. */
void shim_setup_idle_devices(void)
{
	int cpu;

	if (!hw_nr_idle_states)
		return;
	for_each_online_cpu(cpu) {
		struct cpuidle_device *dev = raw_per_cpu_ptr(&device, cpu);

		dev->cpu = cpu;
		if (cpuidle_register_device(dev))
			hw_die("cpuidle_register_device() failed", driver.name, cpu);
	}
}

s32 cpu_latency_qos_limit(void)
{
	return PM_QOS_CPU_LATENCY_DEFAULT_VALUE;
}
