// SPDX-License-Identifier: GPL-2.0-only
/* The scheduler's lines that many CPUs write, beside those of task groups (cgroup.c). */
#include "sim.h"

/* After boot and whenever domains were built anew; registered ones stay as they are. */
void sim_register_hot_lines(void)
{
	int cpu;

	sim_register_nohz_lines();
	for_each_online_cpu(cpu) {
		struct root_domain *rd = raw_cpu_rq(cpu)->rd;
		struct sched_domain_shared *sds =
			rcu_dereference_raw(*raw_per_cpu_ptr(&sd_llc_shared, cpu));
#ifdef SIM_HAS_BALANCE_SHARED
		/* Where capacities differ, wakeups look at another one's (has_idle_cores). */
		struct sched_domain_shared *balance =
			rcu_dereference_raw(*raw_per_cpu_ptr(&sd_balance_shared, cpu));

		if (balance && balance != sds)
			sim_hot_register(balance, &balance->nr_busy_cpus);
#endif

		sim_hot_register(rd, &SIM_RD_OVERLOADED(rd));
		sim_hot_register(rd, &rd->overutilized);
		if (sds)
			sim_hot_register(sds, &sds->nr_busy_cpus);
	}
}
