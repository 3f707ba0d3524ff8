// SPDX-License-Identifier: GPL-2.0-only
/* Interrupts from one simulated CPU to another: sending costs, the way takes time by distance. */
#include <linux/smp.h>
#include "sim.h"

static void send(int cpu, int vector)
{
	simtime latency = 0;

	sim_charge(sim_costs.ipi_send);
	if (sim_mechanisms.ipi)
		latency = sim_costs.ipi_latency +
			  sim_costs.line[sim_cpu_distance[sim.cpu][cpu]];
	sim_send_vector(cpu, vector, latency);
}

void arch_smp_send_reschedule(int cpu)
{
	send(cpu, SIM_RESCHED);
}

#ifndef SIM_HAS_RESCHED_BY_ARCH
void smp_send_reschedule(int cpu)
{
	arch_smp_send_reschedule(cpu);
}
#endif

void arch_send_call_function_single_ipi(int cpu)
{
	send(cpu, SIM_CALL);
}

void arch_send_call_function_ipi_mask(const struct cpumask *mask)
{
	int cpu;

	for_each_cpu(cpu, mask)
		send(cpu, SIM_CALL);
}

/* An irq_work raised on this CPU: its own interrupt, at once. */
void arch_irq_work_raise(void)
{
	sim_charge(sim_costs.ipi_send);
	sim_send_vector(sim.cpu, SIM_CALL, 0);
}
