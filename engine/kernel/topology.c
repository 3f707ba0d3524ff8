// SPDX-License-Identifier: GPL-2.0-only
/* The machine's CPUs as masks, for the kernel's own topology code. */
#include <linux/topology.h>
#include <linux/nodemask.h>
#include <linux/cacheinfo.h>
#include "shim.h"

struct cpumask *shim_thread_mask[NR_CPUS], *shim_cluster_mask[NR_CPUS], *shim_llc_mask[NR_CPUS];
struct cpumask *shim_package_mask[NR_CPUS], *shim_node_mask[MAX_NUMNODES];

struct cpumask __cpu_possible_mask, __cpu_online_mask, __cpu_present_mask;
struct cpumask __cpu_active_mask, __cpu_dying_mask;
atomic_t __num_online_cpus;
unsigned int __num_possible_cpus;	/* where the tree keeps count */

nodemask_t node_states[NR_NODE_STATES];
unsigned int nr_node_ids = 1, nr_online_nodes = 1;
int node_reclaim_distance = RECLAIM_DISTANCE;
HW_TOPOLOGY_KEY(reclaim_distance, 10, 254);	/* what the architecture sets */

void set_cpu_online(unsigned int cpu, bool online)
{
	if (online) {
		if (!cpumask_test_and_set_cpu(cpu, &__cpu_online_mask))
			atomic_inc(&__num_online_cpus);
	} else {
		if (cpumask_test_and_clear_cpu(cpu, &__cpu_online_mask))
			atomic_dec(&__num_online_cpus);
	}
}

/* Is it the first CPU of its LLC's domain?  (Some trees number LLCs by it, others densely.) */
bool shim_leads_llc(int cpu)
{
	struct sched_domain *llc = rcu_dereference_raw(*raw_per_cpu_ptr(&sd_llc, cpu));

	return llc && cpumask_first(sched_domain_span(llc)) == cpu;
}

const struct cpumask *cpu_coregroup_mask(int cpu)
{
	return shim_llc_mask[cpu];
}

const struct cpumask *cpu_clustergroup_mask(int cpu)
{
	return shim_cluster_mask[cpu];
}

/* What cache-aware scheduling asks of a CPU's last cache. */
struct cacheinfo *get_cpu_cacheinfo_llc(unsigned int cpu);
struct cacheinfo *get_cpu_cacheinfo_llc(unsigned int cpu)
{
	static struct cacheinfo of[NR_CPUS];

	of[cpu].size = hw_llc_bytes;
	cpumask_copy(&of[cpu].shared_cpu_map, shim_llc_mask[cpu]);
	return &of[cpu];
}

/* CPUs with the same id share one mask. */
static void group_by(struct cpumask **masks, int (*id)(int cpu))
{
	int cpu, other;

	for (cpu = 0; cpu < hw_nr_cpus; cpu++) {
		for (other = 0; other < cpu; other++)
			if (id(other) == id(cpu))
				break;
		masks[cpu] = other < cpu ? masks[other] : hw_zalloc(sizeof(struct cpumask), 64);
		cpumask_set_cpu(cpu, masks[cpu]);
	}
}

/*
 * A core's mask has the siblings that run, as an architecture keeps it: the scheduler's count of
 * cores with SMT goes by the coming of the second one, however many there are.
 */
void shim_sibling_comes(unsigned int cpu)
{
	cpumask_set_cpu(cpu, shim_thread_mask[cpu]);
}

void shim_sibling_goes(unsigned int cpu)
{
	cpumask_clear_cpu(cpu, shim_thread_mask[cpu]);
}

static int core_of(int cpu) { return hw_cpu_topo[cpu].core; }
static int cluster_of(int cpu) { return hw_cpu_topo[cpu].cluster; }
static int llc_of(int cpu) { return hw_cpu_topo[cpu].llc; }
static int package_of(int cpu) { return hw_cpu_topo[cpu].package; }

void shim_setup_topology(void)
{
	int cpu, node;

	nr_cpu_ids = hw_nr_cpus;
	group_by(shim_thread_mask, core_of);
	for (cpu = 1; cpu < hw_nr_cpus; cpu++)
		shim_sibling_goes(cpu);
	group_by(shim_cluster_mask, cluster_of);
	group_by(shim_llc_mask, llc_of);
	group_by(shim_package_mask, package_of);
	nr_node_ids = nr_online_nodes = hw_nr_nodes;
	if (reclaim_distance)
		node_reclaim_distance = reclaim_distance;
	for (node = 0; node < hw_nr_nodes; node++) {
		shim_node_mask[node] = hw_zalloc(sizeof(struct cpumask), 64);
		node_set_state(node, N_POSSIBLE);
		node_set_state(node, N_ONLINE);
		if (!hw_node_pages[node])
			continue;
		node_set_state(node, N_MEMORY);
		node_set_state(node, N_NORMAL_MEMORY);
	}
	for (cpu = 0; cpu < hw_nr_cpus; cpu++) {
		cpumask_set_cpu(cpu, shim_node_mask[cpu_to_node(cpu)]);
		node_set_state(cpu_to_node(cpu), N_CPU);
		cpumask_set_cpu(cpu, &__cpu_possible_mask);
		__num_possible_cpus++;
		cpumask_set_cpu(cpu, &__cpu_present_mask);
	}
}
