// SPDX-License-Identifier: GPL-2.0-only
/*
 * What kernel/cgroup/cpuset.c, compiled as it is, finds around it: its controller among cgroup.c's
 * groups, and what workqueues and memory policies make of its changes.
 */
#include <linux/cpuset.h>
#include <linux/mempolicy.h>
#include <linux/sched/isolation.h>
#include <linux/kthread.h>
#include <linux/workqueue.h>
#include "shim.h"
#include "groups.h"
#include "tasks.h"

int kern_has_cpusets(void)
{
	return IS_ENABLED(CONFIG_CPUSETS);
}

/* A list of CPUs as a file of a cpuset shows it. */
int kern_cpu_list(const char *list, char *buf, unsigned long size)
{
	cpumask_t mask;
	int err = cpulist_parse(list, &mask);

	return err ? err : scnprintf(buf, size, "%*pbl", cpumask_pr_args(&mask));
}

#ifdef CONFIG_CPUSETS
struct static_key_true cpuset_cgrp_subsys_on_dfl_key = STATIC_KEY_TRUE_INIT;
struct static_key_true cpuset_cgrp_subsys_enabled_key = STATIC_KEY_TRUE_INIT;

/*
 * A group without a cpuset of its own is in its parent's, as where cgroup.subtree_control does not
 * name cpuset.
 */
int shim_cpuset_create(struct group *g, const struct css_set *parent, bool own)
{
	struct cgroup_subsys_state *above = parent->subsys[cpuset_cgrp_id];

	g->cset.subsys[cpuset_cgrp_id] = above;
	return own ? shim_add_css(&cpuset_cgrp_subsys, above, &g->cgroup, &g->cset) : 0;
}

/* ------------------------------------------------------------------ tasks come, move and go */

/* Tasks of a group, and groups below it that have some. */
#ifdef TREE_HAS_CSS_POPULATED
#define OWN_TASKS(cgrp)		((cgrp)->self.nr_populated_csets)
#define TASKS_BELOW(cgrp)	((cgrp)->self.nr_populated_children)
#else
#define OWN_TASKS(cgrp)		((cgrp)->nr_populated_csets)
#define TASKS_BELOW(cgrp)	((cgrp)->nr_populated_domain_children)
#endif

/* As cgroup_update_populated(): whether a group, and so each above it, has tasks. */
static void populate(struct css_set *cset, int by)
{
	struct cgroup *cgrp = cset->dfl_cgrp, *child = NULL;
	bool was;

	do {
		was = cgroup_is_populated(cgrp);
		if (child)
			TASKS_BELOW(cgrp) += by;
		else
			OWN_TASKS(cgrp) += by;
		child = cgrp;
		cgrp = cgroup_parent(cgrp);
	} while (cgrp && cgroup_is_populated(child) != was);
}

static void count_task(struct css_set *cset, int by)
{
	int before = cset->nr_tasks;

	cset->nr_tasks += by;
	if (!before != !cset->nr_tasks)
		populate(cset, by);
}

/* The kernel's threads never leave the root, and pid 1 begins there. */
void shim_setup_cpusets(void)
{
	static struct cgroup_root hierarchy;	/* of cgroup v2, mounted without options */

	cpuset_cgrp_subsys.root = &hierarchy;
	cpuset_init();
	shim_root_css(&cpuset_cgrp_subsys, cpuset_cgrp_id, cpuset_cgrp_subsys.css_alloc(NULL));
	cpuset_cgrp_subsys.bind(shim_root_css_set.subsys[cpuset_cgrp_id]);
	count_task(&shim_root_css_set, 2);
}

/* cgroup_can_fork(), cgroup_post_fork(): the child is where its parent is. */
void shim_cpuset_fork(struct task_struct *p)
{
	count_task(rcu_dereference_raw(p->cgroups), 1);
	cpuset_cgrp_subsys.fork(p);
}

void shim_cpuset_exit(struct task_struct *p)
{
	count_task(rcu_dereference_raw(p->cgroups), -1);
}

static bool changes_cpuset(const struct cgroup_taskset *tset)
{
	return tset->from->subsys[cpuset_cgrp_id] != tset->to->subsys[cpuset_cgrp_id];
}

/* It takes what cgroup_attach_lock() takes; shim_cpuset_attach() gives it back. */
int shim_cpuset_can_attach(struct cgroup_taskset *tset)
{
	int ret = 0;

	cpus_read_lock();
	tset->ss = &cpuset_cgrp_subsys;
	if (changes_cpuset(tset))
		ret = cpuset_cgrp_subsys.can_attach(tset);
	if (ret)
		cpus_read_unlock();
	return ret;
}

void shim_cpuset_attach(struct cgroup_taskset *tset, bool refused)
{
	if (!refused) {
		count_task(tset->from, -1);
		count_task(tset->to, 1);
	}
	tset->ss = &cpuset_cgrp_subsys;
	if (changes_cpuset(tset) && refused)
		cpuset_cgrp_subsys.cancel_attach(tset);
	else if (changes_cpuset(tset))
		cpuset_cgrp_subsys.attach(tset);
	cpus_read_unlock();
}

/* Nobody waits for a change of one of its files. */
void cgroup_file_notify(struct cgroup_file *cfile)
{
}

/* Nor does a group go while one of them is written. */
void kernfs_break_active_protection(struct kernfs_node *kn)
{
}

void kernfs_unbreak_active_protection(struct kernfs_node *kn)
{
}

/* -------------------------------------------------------------- works and threads without a CPU */

int workqueue_unbound_exclude_cpumask(cpumask_var_t isolated)
{
	cpumask_t left;

	cpumask_andnot(&left, housekeeping_cpumask(HK_TYPE_DOMAIN), isolated);
	shim_unbound_works_on(&left);
	return 0;
}

int workqueue_unbound_housekeeping_update(const struct cpumask *left);
int workqueue_unbound_housekeeping_update(const struct cpumask *left)
{
	shim_unbound_works_on(left);
	return 0;
}

/* What housekeeping.c folds is in the queue of all bound works. */
void vmstat_flush_workqueue(void);
void vmstat_flush_workqueue(void)
{
}

/* Every thread of the kernel is a CPU's own, or one of those. */
int kthreads_update_housekeeping(void);
int kthreads_update_housekeeping(void)
{
	return 0;
}

/* Its only works move the memory of tasks. */
struct workqueue_struct *
#ifdef TREE_HAS_WORKQUEUE_NOPROF
alloc_workqueue_noprof
#else
alloc_workqueue
#endif
(const char *fmt, unsigned int flags, int max_active, ...)
{
	return system_unbound_wq;
}

void __flush_workqueue(struct workqueue_struct *wq)
{
}

/* ------------------------------------------------------------------ memory */

/* No task has a policy of its own, and cpuset.mems is refused: nodes change for nobody. */
void mpol_rebind_task(struct task_struct *tsk, const nodemask_t *nodes)
{
}

/* Asked for where memory would follow its task to other nodes. */
struct mm_struct *get_task_mm(struct task_struct *task)
{
	return NULL;
}
#endif
