// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/sched/build_policy.c; with sched_ext, the registration of a scheduler that was compiled
 * natively.
 */
#ifdef CONFIG_SCHED_CLASS_EXT
/* One scheduler is loaded at a time, without sub-schedulers: it has every group. */
#define scx_cgroup_sched(cgrp)	rcu_dereference_raw(scx_root)
#endif

#include <kernel/sched/build_policy.c>

#ifdef CONFIG_SCHED_CLASS_EXT
#include "scx/scx.h"

const u64 shim_ext_slice_ns = SCX_SLICE_DFL;

#ifndef TREE_HAS_EXT_DEAD /* where sched_ext is one file, a declaration makes this kfunc local */
void native_scx_bpf_kick_cpu(s32 cpu, u64 flags);
void native_scx_bpf_kick_cpu(s32 cpu, u64 flags)
{
	scx_bpf_kick_cpu(cpu, flags);
}
#endif

static struct sched_ext_ops *loaded;
static void (*own_exit)(struct scx_exit_info *info);

static void exit_and_tell(struct scx_exit_info *info)
{
	if (own_exit)
		own_exit(info);
	if (info->kind != SCX_EXIT_UNREG)
		shim_scx_ended(loaded->name, info->reason, info->msg, info->dump);
}

/*
 * What bpf_struct_ops_map_update_elem() does: operations as they are, all else through the kernel's
 * own check.
 */
static int take_members(struct sched_ext_ops *to, const struct sched_ext_ops *from, size_t size)
{
	struct btf_member member = {};
	struct btf_type type = {};
	u32 at;
	int ret;

	for (at = 0; at < size; at += sizeof(u32)) {
		member.offset = at * BITS_PER_BYTE;
		ret = bpf_scx_init_member(&type, &member, to, from);
		if (ret < 0)
			return ret;
	}
	own_exit = to->exit;
	to->exit = exit_and_tell;
	return bpf_scx_validate(to);
}

/* Every CPU that becomes idle or busy writes these; trees since 6.15 can have them by node. */
static void register_idle_mask(const struct cpumask *mask)
{
	int word;

	for (word = 0; word < BITS_TO_LONGS(nr_cpu_ids); word++)
		hw_hot_register(mask, cpumask_bits(mask) + word);
}

static void register_idle_masks(void)
{
#ifdef TREE_HAS_EXT_DEAD
	int node;

	register_idle_mask(scx_idle_global_masks.cpu);
	register_idle_mask(scx_idle_global_masks.smt);
	for_each_node(node) {
		register_idle_mask(scx_idle_node_masks[node]->cpu);
		register_idle_mask(scx_idle_node_masks[node]->smt);
	}
#else
	register_idle_mask(idle_masks.cpu);
	register_idle_mask(idle_masks.smt);
#endif
}

u64 shim_ext_flags(unsigned int asked, bool has_nodes)
{
	u64 flags = 0;

	if (asked & SHIM_EXT_ENQ_LAST)
		flags |= SCX_OPS_ENQ_LAST;
	if (asked & SHIM_EXT_EXITING)
		flags |= SCX_OPS_ENQ_EXITING;
	if (asked & SHIM_EXT_OWN_IDLE)
		flags |= SCX_OPS_KEEP_BUILTIN_IDLE;
#ifdef TREE_HAS_EXT_DEAD
	if (asked & SHIM_EXT_MIGRATION_DISABLED)
		flags |= SCX_OPS_ENQ_MIGRATION_DISABLED;
	if (asked & SHIM_EXT_QUEUED_WAKEUP)
		flags |= SCX_OPS_ALLOW_QUEUED_WAKEUP;
	if (asked & SHIM_EXT_BY_NODE && has_nodes)
		flags |= SCX_OPS_BUILTIN_IDLE_PER_NODE;
#endif
	return flags;
}

bool shim_ext_reenqueues_anywhere(void)
{
#ifdef TREE_HAS_EXT_DEAD
	return true;
#else
	return false;
#endif
}

#ifdef TREE_HAS_EXT_CID
/* Those of cids begin as the others do, and are shorter. */
#define reg(ops, by_cid)	((by_cid) ? bpf_scx_reg_cid(ops, NULL) : bpf_scx_reg(ops, NULL))
#define size_of(by_cid)		((by_cid) ? sizeof(struct sched_ext_ops_cid) : sizeof(struct sched_ext_ops))
#else
#define reg(ops, by_cid)	bpf_scx_reg(ops, NULL)
#define size_of(by_cid)		sizeof(struct sched_ext_ops)
#endif

int shim_ext_load(const void *ops, bool by_cid, u64 flags)
{
	struct sched_ext_ops flagged = { };
	int ret;

	register_idle_masks();
	memcpy(&flagged, ops, size_of(by_cid));
	flagged.flags |= flags;
	loaded = kmemdup(&flagged, sizeof(flagged), GFP_KERNEL);
	ret = take_members(loaded, &flagged, size_of(by_cid));
	if (!ret)
		ret = reg(loaded, by_cid);
	if (ret)
		loaded = NULL;
	return ret;
}

void shim_ext_unload(void)
{
	bpf_scx_unreg(loaded, NULL);
	loaded = NULL;
}

bool shim_ext_is_loaded(void)
{
	return loaded;
}

/* From its first error on the kernel is taking it away. */
static bool is_leaving(void)
{
#ifdef TREE_HAS_EXT_DEAD
	const struct scx_sched *sched = rcu_dereference_raw(scx_root);

	return !sched || atomic_read(&sched->exit_kind) != SCX_EXIT_NONE;
#else
	return atomic_read(&scx_exit_kind) != SCX_EXIT_NONE;
#endif
}

/* The name under which the kernel runs it, as its sysfs file `ops` has it; NULL from its end on. */
const char *shim_ext_name(void)
{
	return loaded && scx_enabled() && !is_leaving() ? loaded->name : NULL;
}
#endif
