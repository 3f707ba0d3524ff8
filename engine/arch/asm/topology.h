/* SPDX-License-Identifier: GPL-2.0-only */
/* The machine description as the scheduler's topology code asks for it. */
#ifndef _ASM_SIM_TOPOLOGY_H
#define _ASM_SIM_TOPOLOGY_H

#include <linux/types.h>
#include <hw.h>

struct cpumask;

extern struct cpumask *shim_thread_mask[], *shim_cluster_mask[], *shim_llc_mask[];
extern struct cpumask *shim_package_mask[], *shim_node_mask[];
extern unsigned long shim_thermal_pressure[];

#define topology_physical_package_id(c)	(hw_cpu_topo[c].package)
#define topology_cluster_id(c)		(hw_cpu_topo[c].cluster)
#define topology_core_id(c)		(hw_cpu_topo[c].core)
#define topology_sibling_cpumask(c)	((const struct cpumask *)shim_thread_mask[c])
#define topology_core_cpumask(c)	((const struct cpumask *)shim_package_mask[c])
#define topology_cluster_cpumask(c)	((const struct cpumask *)shim_cluster_mask[c])
#define cpu_to_node(c)			(hw_cpu_topo[c].node)
#define cpumask_of_node(n)		((const struct cpumask *)shim_node_mask[n])
#define node_distance(a, b)		hw_node_distance(a, b)
#define arch_scale_cpu_capacity(c)	((unsigned long)hw_cpu_topo[c].capacity)
#define arch_scale_freq_capacity(c)	((unsigned long)hw_cpu_topo[c].freq_scale)
#define arch_scale_freq_invariant()	true
#define arch_scale_thermal_pressure(c)	shim_thermal_pressure[c] /* before cpufreq_pressure */

extern const struct cpumask *cpu_coregroup_mask(int cpu);
extern const struct cpumask *cpu_clustergroup_mask(int cpu);

#include <asm-generic/topology.h>

#endif
