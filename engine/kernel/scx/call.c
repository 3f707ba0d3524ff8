// SPDX-License-Identifier: GPL-2.0-only
/*
 * Before a helper or kfunc is called: what the call costs, and whether the operation may call it.
 */
#include <linux/hash.h>
#include "scx.h"

#define LINES	1024		/* of dispatch queues; more share */

/* The line with the lock and the list of a scheduler's own queue. */
static const char *line_of(u64 queue)
{
	static const char *lines[LINES];
	unsigned int nr = hash_64(queue, ilog2(LINES));

	lines[nr] = lines[nr] ?: shim_scx_row(L1_CACHE_BYTES);
	return lines[nr];
}

/* Looked up in the kernel's hash; those of CPUs and the global one are not. */
static void look_up(const struct shim_signature *function, u64 queue)
{
	if (queue >> 63)
		return;
	shim_scx_charge(hw_costs.bpf_hash);
	hw_hot_line(line_of(queue), strstr(function->name, "insert") || strstr(function->name, "dispatch"));
}

/* The operation that an address lies in, found once for each address. */
static const struct shim_op *operation_of(const void *ip)
{
	static struct { const void *ip; const struct shim_op *op; } found[1024];
	struct shim_scheduler *const *at;
	unsigned int i, nr = hash_ptr(ip, 10);
	typeof(found[0]) *f = &found[nr];
	const void *function;

	for (i = 1; f->ip && f->ip != ip && i < ARRAY_SIZE(found); i++)
		f = &found[(nr + i) % ARRAY_SIZE(found)];
	if (f->ip == ip)
		return f->op;
	function = hw_function_of(ip);
	f->ip = ip;
	shim_for_each_scheduler(at)
		for (i = 0; i < (*at)->nr_ops; i++) {
			const struct shim_op *op = &(*at)->op_table[i];

			if (function && function == (*op->real ?: *(void **)((*at)->ops + op->offset)))
				f->op = op;
		}
	return f->op;
}

/* Timers and other callbacks have no operation of their own. */
static void check_may(struct shim_signature *function)
{
	const void *ip = shim_scx_operation_ip();
	const struct shim_op *op = ip ? operation_of(ip) : NULL;
	static char text[160];
	u64 bit;

	if (!op)
		return;
	bit = 1ULL << (op - function->of->op_table);
	if (!(function->asked & bit)) {
		function->asked |= bit;
		if (!shim_ext_may_call(function->name, op->offset, function->of->by_cid))
			function->refused |= bit;
	}
	if (!(function->refused & bit))
		return;
	snprintf(text, sizeof(text), "the scheduler calls %s() from %s(), where the kernel's verifier refuses it",
		 function->name, op->signature->name);
	hw_end_in_scheduler(text);
}

/*
 * What the verifier lets a scheduler call with a lock held: kfuncs of lists and trees, and releasing
 * the lock (lock.c looks at a second one).  Newer kernels have a flag for such kfuncs, KF_SPINLOCK_SAFE.
 */
static bool may_be_called_locked(const char *name)
{
	static const char *const those[] = {
		"bpf_spin_", "bpf_list_", "bpf_rbtree_", "bpf_refcount_acquire",
#ifdef TREE_HAS_LOCKED_CALLS
		"bpf_res_spin_", "bpf_iter_num_", "bpf_loop_begins", "bpf_loop_turn", "bpf_arena_", "bpf_stream_",
		"bpf_kptr_xchg",
#endif
	};
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(those); i++)
		if (strstarts(name, those[i]))
			return true;
	return false;
}

/*
 * The verifier asks for the lock beside the list's head or the tree's root (process_kf_arg_ptr_to_graph_root()),
 * which nothing here knows: for any.
 */
static bool must_be_called_locked(const char *name)
{
	return strstarts(name, "bpf_list_") || strstarts(name, "bpf_rbtree_");
}

/* As the verifier knows it, for which the headers here have one of their own. */
static const char *known_as(const char *function)
{
	if (!strcmp(function, "bpf_loop_begins"))
		return "bpf_iter_num_new";
	if (!strcmp(function, "bpf_loop_turn"))
		return "bpf_iter_num_next";
	return function;
}

static void check_locked(const char *function)
{
	bool held = shim_scx_held(SHIM_SCX_LOCKS);
	static char text[160];

	if (held ? may_be_called_locked(function) : !must_be_called_locked(function))
		return;
	snprintf(text, sizeof(text), "the scheduler calls %s() with %s spinlock held, where the kernel's verifier refuses it",
		 known_as(function), held ? "a" : "no");
	hw_end_in_scheduler(text);
}

void shim_scx_inlines(const char *function)
{
	check_locked(function);
}

void shim_scx_calls(struct shim_signature *function, const u64 *arguments)
{
	shim_scx_charge(hw_costs.bpf_call);
	check_may(function);
	check_locked(function->name);
	if (function->queue >= 0)
		look_up(function, arguments[function->queue]);
}
