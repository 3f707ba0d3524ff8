/* SPDX-License-Identifier: GPL-2.0-only */
/* A cgroup as cgroup.c has it, for what else looks into one. */
#ifndef SIM_GROUPS_H
#define SIM_GROUPS_H

#include <linux/cgroup.h>
#include <linux/kernfs.h>

struct group {
	struct hlist_node node;
	struct css_set cset;
	struct cgroup_subsys_state *css;	/* of the cpu controller */
	struct kernfs_node kn;		/* only to be recognised by kernfs_path_from_node() */
	unsigned int length;
	char *path;
	struct cgroup cgroup;		/* with room for its ancestors behind it */
};

struct cgroup_taskset {
	struct task_struct *task;
	struct css_set *from, *to;
	struct cgroup_subsys *ss;
};

#define shim_root_cgroup cgrp_dfl_root.cgrp

int shim_add_css(struct cgroup_subsys *ss, struct cgroup_subsys_state *parent, struct cgroup *cgrp,
		struct css_set *cset);
void shim_root_css(struct cgroup_subsys *ss, int id, struct cgroup_subsys_state *css);

/* cpuset.c */
#ifdef CONFIG_CPUSETS
void shim_setup_cpusets(void);
int shim_cpuset_create(struct group *g, const struct css_set *parent, bool own);
int shim_cpuset_can_attach(struct cgroup_taskset *tset);
void shim_cpuset_attach(struct cgroup_taskset *tset, bool refused);
#else
static inline void shim_setup_cpusets(void) { }
static inline int shim_cpuset_create(struct group *g, const struct css_set *parent, bool own) { return 0; }
static inline int shim_cpuset_can_attach(struct cgroup_taskset *tset) { return 0; }
static inline void shim_cpuset_attach(struct cgroup_taskset *tset, bool refused) { }
#endif

#endif
