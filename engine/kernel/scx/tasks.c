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
	shim_scx_charge(hw_costs.lock);
	return get_task_struct(p);
}

void native_bpf_task_release(struct task_struct *p)
{
	if (!acquired--)
		hw_end_in_scheduler("the scheduler releases a task that it did not acquire");
	shim_scx_charge(hw_costs.lock);
	put_task_struct(p);
}

struct task_struct *native_bpf_task_from_pid(s32 pid)
{
	struct task_struct *p = shim_find_task(pid);

	shim_scx_charge(hw_costs.bpf_hash);

	return p ? native_bpf_task_acquire(p) : NULL;
}

struct task_struct *native_bpf_task_from_vpid(s32 pid)
{
	return native_bpf_task_from_pid(pid);
}

/* Cgroups stay for the whole run: nothing counts who holds one. */
struct cgroup *native_bpf_cgroup_acquire(struct cgroup *cgrp)
{
	shim_scx_charge(hw_costs.lock);
	return cgrp;
}

void native_bpf_cgroup_release(struct cgroup *cgrp)
{
	shim_scx_charge(hw_costs.lock);
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

/* bpf_for_each(css, ...): a group and those below it, from either end. */
struct groups {				/* in struct bpf_iter_css */
	struct cgroup_subsys_state *start, *next;
	unsigned int flags;
};

int native_bpf_iter_css_new(struct groups *it, struct cgroup_subsys_state *start, unsigned int flags)
{
	shim_scx_check(it, sizeof(*it), true);
	*it = (struct groups) { .start = start, .next = NULL, .flags = flags };
	if (flags == BPF_CGROUP_ITER_DESCENDANTS_PRE || flags == BPF_CGROUP_ITER_DESCENDANTS_POST ||
	    flags == BPF_CGROUP_ITER_ANCESTORS_UP)
		return 0;
	it->start = NULL;
	return -EINVAL;
}

struct cgroup_subsys_state *native_bpf_iter_css_next(struct groups *it)
{
	if (!it->start)
		return NULL;
	if (it->flags == BPF_CGROUP_ITER_DESCENDANTS_PRE)
		it->next = css_next_descendant_pre(it->next, it->start);
	else if (it->flags == BPF_CGROUP_ITER_DESCENDANTS_POST)
		it->next = css_next_descendant_post(it->next, it->start);
	else
		it->next = it->next ? it->next->parent : it->start;
	if (!it->next)
		it->start = NULL;
	return it->next;
}

void native_bpf_iter_css_destroy(struct groups *it)
{
}

struct cgroup *native_bpf_cgroup_ancestor(struct cgroup *cgrp, int level)
{
	if (level < 0 || level > cgrp->level)
		return NULL;
	while (cgrp->level > level)
		cgrp = container_of(cgrp->self.parent, struct cgroup, self);
	return cgrp;
}
