// SPDX-License-Identifier: GPL-2.0-only
/*
 * Preferred cores, as x86 has them (arch/x86/kernel/itmt.c, smpboot.c): a cpufreq driver tells the
 * priority of each CPU, here the machine file.  The domains of hooked/kernel/sched/build_utility.c
 * look at it while the switch is on.
 */
#include <linux/cpuset.h>
#include <linux/debugfs.h>
#include <linux/fs.h>
#include <linux/sched/topology.h>
#include <linux/sysctl.h>
#include "shim.h"

static int priority[NR_CPUS];
static bool topology_changed;

int arch_asym_cpu_priority(int cpu)
{
	return priority[cpu];
}

int arch_update_cpu_topology(void)
{
	bool changed = topology_changed;

	topology_changed = false;
	return changed;
}

#ifdef TREE_HAS_ITMT_OF_SIBLINGS
/*
 * The siblings of a core come one after another: what the second thread has is a quarter of the
 * first one's.
 */
static void set_core_priority(int core_cpu, int siblings)
{
	int cpu, i = 1;

	for_each_cpu(cpu, topology_sibling_cpumask(core_cpu)) {
		priority[cpu] = hw_cpu_topo[core_cpu].priority * siblings / (i * i);
		i++;
	}
}
#else
static void set_core_priority(int core_cpu, int siblings)
{
	priority[core_cpu] = hw_cpu_topo[core_cpu].priority;
}
#endif

static void rebuild_if(bool changed)
{
	if (!changed)
		return;
	topology_changed = true;
	rebuild_sched_domains();
	shim_register_hot_lines();
}

#ifdef TREE_HAS_ITMT_DEBUGFS
static bool enabled;

static ssize_t write_enabled(struct file *file, const char __user *ubuf, size_t count, loff_t *ppos)
{
	bool was = enabled;
	ssize_t ret = debugfs_write_file_bool(file, ubuf, count, ppos);

	rebuild_if(enabled != was);
	return ret;
}

static const struct file_operations enabled_fops = {
	.read = debugfs_read_file_bool,
	.write = write_enabled,
	.open = simple_open,
};

static void add_switch(void)
{
	debugfs_create_file_unsafe("sched_itmt_enabled", 0644, debugfs_create_dir("x86", NULL), &enabled,
				   &enabled_fops);
}
#else
static unsigned int enabled;

static int write_enabled(SHIM_SYSCTL_HANDLED *table, int write, void *buffer, size_t *lenp, loff_t *ppos)
{
	unsigned int was = enabled;
	int ret = proc_dointvec_minmax(table, write, buffer, lenp, ppos);

	rebuild_if(enabled != was);
	return ret;
}

static struct ctl_table enabled_table = {
	.procname = "sched_itmt_enabled", .data = &enabled, .maxlen = sizeof(enabled), .mode = 0644,
	.proc_handler = write_enabled, .extra1 = SYSCTL_ZERO, .extra2 = SYSCTL_ONE,
};

static void add_switch(void)
{
	shim_add_sysctl("kernel", &enabled_table);
}
#endif

int shim_itmt_flags(void)
{
	return enabled ? SD_ASYM_PACKING : 0;
}

/* Before the domains are built; a driver would have them built anew. */
void shim_setup_itmt(void)
{
	int cpu, siblings = 1;

	if (!hw_has_priorities)
		return;
	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		siblings = max_t(int, siblings, cpumask_weight(topology_sibling_cpumask(cpu)));
	for (cpu = 0; cpu < hw_nr_cpus; cpu++)
		set_core_priority(cpu, siblings);
	shim_prefer_cores(hw_is_hybrid);
	enabled = true;
	add_switch();
}
