// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts from one simulated CPU to another: sending costs, the way takes time by distance. */
#include <linux/smp.h>
#include "shim.h"

static void send(int cpu, int vector)
{
	simtime latency = 0;

	hw_charge(hw_costs.ipi_send);
	if (hw_mechanisms.ipi)
		latency = hw_costs.ipi_latency +
			  hw_costs.line[hw_cpu_distance[hw.cpu][cpu]];
	hw_send_vector(cpu, vector, latency);
	shim_spent_look(raw_cpu_rq(cpu));
}

void arch_smp_send_reschedule(int cpu)
{
	send(cpu, HW_RESCHED);
}

#ifndef TREE_HAS_RESCHED_BY_ARCH
void smp_send_reschedule(int cpu)
{
	arch_smp_send_reschedule(cpu);
}
#endif

void arch_send_call_function_single_ipi(int cpu)
{
	send(cpu, HW_CALL);
}

void arch_send_call_function_ipi_mask(const struct cpumask *mask)
{
	int cpu;

	for_each_cpu(cpu, mask)
		send(cpu, HW_CALL);
}

/* An irq_work raised on this CPU: its own interrupt, at once. */
void arch_irq_work_raise(void)
{
	hw_charge(hw_costs.ipi_send);
	hw_send_vector(hw.cpu, HW_CALL, 0);
}
