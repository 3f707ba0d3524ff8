// SPDX-License-Identifier: GPL-2.0-only
/* Tasks and cgroups as the scheduler finds and holds them. */
#include <linux/bpf.h>
#include <linux/cgroup.h>
#include <linux/sched/task.h>
#include "scx.h"
#include "../groups.h"

static unsigned long acquired;

struct task_struct *native_bpf_task_acquire(struct task_struct *p)
{
	acquired++;
	return get_task_struct(p);
}

void native_bpf_task_release(struct task_struct *p)
{
	if (!acquired--)
		hw_end_in_scheduler("the scheduler releases a task that it did not acquire");
	put_task_struct(p);
}

struct task_struct *native_bpf_task_from_pid(s32 pid)
{
	struct task_struct *p = shim_find_task(pid);

	return p ? native_bpf_task_acquire(p) : NULL;
}

struct task_struct *native_bpf_task_from_vpid(s32 pid)
{
	return native_bpf_task_from_pid(pid);
}

/* Cgroups stay for the whole run: nothing counts who holds one. */
struct cgroup *native_bpf_cgroup_acquire(struct cgroup *cgrp)
{
	return cgrp;
}

void native_bpf_cgroup_release(struct cgroup *cgrp)
{
}

struct cgroup *native_bpf_cgroup_from_id(u64 id)
{
	struct cgroup_subsys_state *css = NULL;

	while ((css = css_next_descendant_pre(css, &root_task_group.css))) {
		struct cgroup *cgrp = css->cgroup ?: &shim_root_cgroup;

		if (cgroup_id(cgrp) == id)
			return cgrp;
	}
	return NULL;
}

struct cgroup *native_bpf_cgroup_ancestor(struct cgroup *cgrp, int level)
{
	if (level < 0 || level > cgrp->level)
		return NULL;
	while (cgrp->level > level)
		cgrp = container_of(cgrp->self.parent, struct cgroup, self);
	return cgrp;
}
