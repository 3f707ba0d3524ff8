/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine description as the scheduler's topology code asks for it. */
#ifndef _ASM_SIM_TOPOLOGY_H
#define _ASM_SIM_TOPOLOGY_H

#include <linux/types.h>
#include <hw.h>

struct cpumask;

extern struct cpumask *sim_thread_mask[], *sim_cluster_mask[], *sim_llc_mask[];
extern struct cpumask *sim_package_mask[], *sim_node_mask[];
extern unsigned long sim_thermal_pressure[];

#define topology_physical_package_id(c)	(sim_cpu_topo[c].package)
#define topology_cluster_id(c)		(sim_cpu_topo[c].cluster)
#define topology_core_id(c)		(sim_cpu_topo[c].core)
#define topology_sibling_cpumask(c)	((const struct cpumask *)sim_thread_mask[c])
#define topology_core_cpumask(c)	((const struct cpumask *)sim_package_mask[c])
#define topology_cluster_cpumask(c)	((const struct cpumask *)sim_cluster_mask[c])
#define cpu_to_node(c)			(sim_cpu_topo[c].node)
#define cpumask_of_node(n)		((const struct cpumask *)sim_node_mask[n])
#define node_distance(a, b)		sim_node_distance(a, b)
#define arch_scale_cpu_capacity(c)	((unsigned long)sim_cpu_topo[c].capacity)
#define arch_scale_freq_capacity(c)	((unsigned long)sim_cpu_topo[c].freq_scale)
#define arch_scale_freq_invariant()	true
#define arch_scale_thermal_pressure(c)	sim_thermal_pressure[c]		/* before cpufreq_pressure */

extern const struct cpumask *cpu_coregroup_mask(int cpu);
extern const struct cpumask *cpu_clustergroup_mask(int cpu);

#include <asm-generic/topology.h>

#endif
