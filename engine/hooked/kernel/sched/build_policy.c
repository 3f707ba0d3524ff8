// SPDX-License-Identifier: GPL-2.0-only
/*
 * kernel/sched/build_policy.c; with sched_ext, the registration of a scheduler that was compiled
 * natively.
 */
#ifdef CONFIG_SCHED_CLASS_EXT
#ifdef TREE_HAS_EXT_FILTER
/*
 * scx_kfunc_context_filter() asks in which of its sets a kfunc is, by an id that only BTF has: here
 * a set is what its source lists, and the kfunc in question is found by its name.
 */
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/string.h>
struct shim_kfunc {
	const char	*name;
	long		place;		/* in the source, where a set's kfuncs are between its begin and end */
};
extern const struct shim_kfunc __start_scx_kfuncs[], __stop_scx_kfuncs[];
static const char *shim_asked_kfunc;
static long shim_place(const char *name)
{
	const struct shim_kfunc *kfunc;

	for (kfunc = __start_scx_kfuncs; kfunc < __stop_scx_kfuncs; kfunc++)
		if (!strcmp(kfunc->name, name))
			return kfunc->place;
	return 0;
}
static bool shim_lists(const char *begin, const char *end)
{
	long first = shim_place(begin), last = shim_place(end);
	const struct shim_kfunc *kfunc;

	for (kfunc = __start_scx_kfuncs; kfunc < __stop_scx_kfuncs; kfunc++)
		if (kfunc->place > first && kfunc->place < last && !strcmp(kfunc->name, shim_asked_kfunc))
			return true;
	return false;
}
#undef BTF_KFUNCS_START
#undef BTF_ID_FLAGS
#undef BTF_KFUNCS_END
#define SHIM_KFUNC(name)		\
	static const struct shim_kfunc __UNIQUE_ID(kfunc) __used __section("scx_kfuncs") = { name, __COUNTER__ };
#define BTF_KFUNCS_START(name)		SHIM_KFUNC("begin &" #name)
#define BTF_ID_FLAGS(kind, name, ...)	SHIM_KFUNC(#name)
#define BTF_KFUNCS_END(name)		\
	SHIM_KFUNC("end &" #name) struct btf_id_set8 __maybe_unused name = { .flags = BTF_SET8_KFUNCS };
#define btf_id_set8_contains(set, id)	((void)(id), shim_lists("begin " #set, "end " #set))
#endif
#endif

#include <kernel/sched/build_policy.c>

#ifdef CONFIG_SCHED_CLASS_EXT
#include "scx/scx.h"

const u64 shim_ext_slice_ns = SCX_SLICE_DFL;
const unsigned int shim_ext_longest_timeout = SCX_WATCHDOG_MAX_TIMEOUT;

#ifndef TREE_HAS_EXT_DEAD /* where sched_ext is one file, a declaration makes this kfunc local */
void native_scx_bpf_kick_cpu(s32 cpu, u64 flags);
void native_scx_bpf_kick_cpu(s32 cpu, u64 flags)
{
	scx_bpf_kick_cpu(cpu, flags);
}
#endif

void shim_ext_exits(struct shim_scheduler *s, struct scx_exit_info *info)
{
	if (s->own_exit)
		s->own_exit(info);
	if (info->kind != SCX_EXIT_UNREG)
		shim_scx_ended(s->loaded->name, info->reason, info->msg,
			       info->kind == SCX_EXIT_ERROR_STALL ? shim_scx_stall(s, info->msg, info->dump) : "",
			       info->dump);
}

#ifdef CONFIG_EXT_SUB_SCHED
/* The operations that the program calling a kfunc was registered with. */
void *bpf_prog_get_assoc_struct_ops(const struct bpf_prog_aux *aux)
{
	const struct shim_scheduler *s = (void *)rcu_access_pointer(aux->st_ops_assoc);

	return s->loaded;
}
#endif

static const char *refused_member;

const char *shim_ext_refused_member(void)
{
	return refused_member;
}

static const char *member_at(u32 at)
{
	switch (at) {
	case offsetof(struct sched_ext_ops, dispatch_max_batch):
		return "dispatch_max_batch";
	case offsetof(struct sched_ext_ops, flags):
		return "flags";
	case offsetof(struct sched_ext_ops, name):
		return "name: letters, digits, '_' and '.'";
	case offsetof(struct sched_ext_ops, timeout_ms):
		return "timeout_ms";
	}
	return NULL;
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
		if (ret < 0) {
			refused_member = member_at(at);
			return ret;
		}
	}
	shim_scheduler->own_exit = to->exit;
	to->exit = shim_scheduler->exits;
	return bpf_scx_validate(to);
}

/* Every CPU that becomes idle or busy writes these; trees since 6.15 can have them by node. */
static void register_idle_mask(const struct cpumask *mask)
{
	shim_register_hot_mask(mask, mask);
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
#ifdef TREE_HAS_EXT_CID
	if (asked & SHIM_EXT_IMMED)
		flags |= SCX_OPS_ALWAYS_ENQ_IMMED;
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

int shim_ext_load(u64 flags)
{
	bool __maybe_unused by_cid = shim_scheduler->by_cid;
	struct sched_ext_ops flagged = { }, *loaded;
	int ret;

	if (!shim_scheduler->group)
		register_idle_masks();
	memcpy(&flagged, shim_scheduler->ops, size_of(by_cid));
	flagged.flags |= flags;
	if (flagged.flags & SCX_OPS_SWITCH_PARTIAL)
		hw_refuse("sched_ext: %s has SCX_OPS_SWITCH_PARTIAL: it takes tasks of policy SCHED_EXT, which no task here has",
			  shim_scheduler->source);
#ifdef TREE_HAS_EXT_SUB
	if (flagged.sub_cgroup_id > 1)
		hw_refuse("sched_ext: %s has sub_cgroup_id %llu: name the group instead, with `scx-sub GROUP=NAME`",
			  shim_scheduler->source, flagged.sub_cgroup_id);
	flagged.sub_cgroup_id = shim_scheduler->group_id;
#endif
	loaded = shim_scheduler->loaded = kmemdup(&flagged, sizeof(flagged), GFP_KERNEL);
	ret = take_members(loaded, &flagged, size_of(by_cid));
	if (!ret)
		ret = reg(loaded, by_cid);
	if (ret)
		shim_scheduler->loaded = NULL;
	return ret;
}

#ifdef TREE_HAS_EXT_FILTER
bool shim_ext_may_call(const char *kfunc, unsigned int operation, bool by_cid)
{
	struct bpf_prog_aux aux = {
		.st_ops = by_cid ? &bpf_sched_ext_ops_cid : &bpf_sched_ext_ops,
		.attach_st_ops_member_off = operation,
	};
	struct bpf_prog prog = { .type = BPF_PROG_TYPE_STRUCT_OPS, .aux = &aux };

	shim_asked_kfunc = kfunc;
	return !scx_kfunc_context_filter(&prog, 0);
}
#else
/* Where these trees allow a kfunc they check themselves, at each call. */
bool shim_ext_may_call(const char *kfunc, unsigned int operation, bool by_cid)
{
	return true;
}
#endif

/* Loading and unloading keep everybody from forking meanwhile. */
bool shim_ext_keeps_from_forking(void)
{
	return percpu_is_write_locked(&scx_fork_rwsem);
}

void shim_ext_unload(struct shim_scheduler *s)
{
	bpf_scx_unreg(s->loaded, NULL);
	s->loaded = NULL;
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

unsigned long shim_ext_watchdog_looked(void)
{
	return READ_ONCE(scx_watchdog_timestamp);
}

/* What the tick of any CPU does about sched_ext: among others it looks whether the watchdog is late. */
void shim_ext_tick(void)
{
	struct rq *rq = this_rq();
	struct rq_flags rf;

	rq_lock_irqsave(rq, &rf);
	update_rq_clock(rq);
	scx_tick(rq);
	rq_unlock_irqrestore(rq, &rf);
}

/* The name under which the kernel runs the root, as its sysfs file `ops` has it; NULL from its end on. */
const char *shim_ext_name(void)
{
	const struct shim_scheduler *root = shim_scheduler ? __start_scx_schedulers[0] : NULL;
	const struct sched_ext_ops *loaded = root ? root->loaded : NULL;

	return loaded && scx_enabled() && !is_leaving() ? loaded->name : NULL;
}
#endif
