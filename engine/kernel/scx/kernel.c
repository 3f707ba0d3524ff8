// SPDX-License-Identifier: GPL-2.0-only
/* What the kernel's sched_ext asks of BPF, sysfs and others around it. */
#include <linux/bpf.h>
#include <linux/btf.h>
#include <linux/btf_ids.h>
#include <linux/cacheinfo.h>
#include <linux/kobject.h>
#include <linux/random.h>
#include <linux/suspend.h>
#include <linux/sysfs.h>
#include <linux/timer.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include "scx.h"

struct kobject *kernel_kobj;
const struct sysfs_ops kobj_sysfs_ops;
struct btf *btf_vmlinux;
const struct bpf_func_proto bpf_task_storage_get_proto, bpf_task_storage_delete_proto;
u32 btf_tracing_ids[MAX_BTF_TRACING_TYPE];

/* Programs are native: nothing is verified, so nobody looks up what is registered. */
int __register_bpf_struct_ops(struct bpf_struct_ops *st_ops)
{
	return 0;
}

int register_btf_kfunc_id_set(enum bpf_prog_type prog_type, const struct btf_kfunc_id_set *kset)
{
	return 0;
}

/* A name of letters, digits, '_' and '.' that ends within its room: its length, or an error. */
int bpf_obj_name_cpy(char *dst, const char *src, unsigned int size)
{
	unsigned int i;

	memset(dst, 0, size);
	for (i = 0; i < size && src[i]; i++) {
		if (!isalnum(src[i]) && src[i] != '_' && src[i] != '.')
			return -EINVAL;
		dst[i] = src[i];
	}
	return i < size ? i : -EINVAL;
}

static void free_kset(struct kobject *kobj)
{
	hw_free(container_of(kobj, struct kset, kobj));
}

struct kset *kset_create_and_add(const char *name, const struct kset_uevent_ops *ops, struct kobject *parent)
{
	static const struct kobj_type type = { .release = free_kset };
	struct kset *kset = hw_zalloc(sizeof(*kset), 64);

	kobject_init(&kset->kobj, &type);
	if (!kobject_add(&kset->kobj, parent, "%s", name))
		return kset;
	hw_free(kset);
	return NULL;
}

int add_uevent_var(struct kobj_uevent_env *env, const char *format, ...)
{
	return 0;
}

u32 get_random_u32(void)
{
	return hw_random() >> 32;
}

long copy_from_kernel_nofault(void *dst, const void *src, size_t size)
{
	memcpy(dst, src, size);
	return 0;
}

/* ----------------------------------------- a format and its arguments, packed for bstr_printf() */

static char packed[1024];

/*
 * The bytes of an argument, by what stands behind its % up to the letter: 0 is a text, -1 nothing
 * that BPF has.
 */
static int argument_size(const char **fmt)
{
	const char *at = *fmt;
	int longs = 0;

	at += strspn(at, "-+ #0");
	while (isdigit(*at) || *at == '.')
		at++;
	while (*at == 'l')
		at++, longs++;
	*fmt = at + 1;
	switch (*at) {
	case 's':
		return 0;
	case 'c':
		return 1;
	case 'p':
		return sizeof(void *);
	case 'd': case 'i': case 'u': case 'x': case 'X':
		return longs ? sizeof(long long) : sizeof(int);
	}
	return -1;
}

#ifdef TREE_HAS_BPRINTF_CONST
int bpf_bprintf_prepare(const char *fmt, u32 fmt_size, const u64 *raw_args, u32 num_args,
			struct bpf_bprintf_data *data)
#else
int bpf_bprintf_prepare(char *fmt, u32 fmt_size, const u64 *raw_args, u32 num_args,
			struct bpf_bprintf_data *data)
#endif
{
	char *at = packed, *end = packed + sizeof(packed);
	const char *f = fmt, *fmt_end = fmt + strnlen(fmt, fmt_size);
	u32 used = 0;

	while (f < fmt_end) {
		int size;

		if (*f++ != '%')
			continue;
		if (*f == '%') {
			f++;
			continue;
		}
		size = argument_size(&f);
		if (size < 0 || used == num_args)
			return -EINVAL;
		if (size == 0) {
			const char *text = (const char *)(unsigned long)raw_args[used++];
			size_t length = strnlen(text ?: "", end - at);

			if (length == end - at)
				return -ENOSPC;
			memcpy(at, text ?: "", length);
			at[length] = 0;
			at += length + 1;
			continue;
		}
		at = PTR_ALIGN(at, min(size, 4));
		if (at + size > end)
			return -ENOSPC;
		memcpy(at, &raw_args[used++], size);
		at += size;
	}
	data->bin_args = (u32 *)packed;
	return 0;
}

void bpf_bprintf_cleanup(struct bpf_bprintf_data *data)
{
	data->bin_args = NULL;
}

#ifdef TREE_HAS_EXT_DEAD	/* of trees whose sched_ext is a folder */
bool mod_delayed_work_on(int cpu, struct workqueue_struct *wq, struct delayed_work *dwork, unsigned long delay)
{
	bool pending = cancel_delayed_work_sync(dwork);

	queue_delayed_work_on(cpu, wq, dwork, delay);
	return pending;
}

/*
 * RCU's callbacks run in a softirq, where a kworker may be made for what they queue; here they run
 * in the tick, so the softirq of a timer queues it.
 */
static LIST_HEAD(after_readers);

static void queue_after_readers(struct timer_list *unused)
{
	struct rcu_work *rwork, *next;

	list_for_each_entry_safe(rwork, next, &after_readers, work.entry) {
		list_del_init(&rwork->work.entry);
		queue_work(rwork->wq, &rwork->work);
	}
}

static DEFINE_TIMER(rcu_work_timer, queue_after_readers);

static void run_rcu_work(struct rcu_head *head)
{
	struct rcu_work *rwork = container_of(head, struct rcu_work, rcu);

	list_add_tail(&rwork->work.entry, &after_readers);
	mod_timer(&rcu_work_timer, jiffies + 1);
}

bool queue_rcu_work(struct workqueue_struct *wq, struct rcu_work *rwork)
{
	rwork->wq = wq;
	call_rcu(&rwork->rcu, run_rcu_work);
	return true;
}

bool cgroup_on_dfl(const struct cgroup *cgrp)
{
	return cgrp->root == &cgrp_dfl_root;
}

void synchronize_rcu_expedited(void)
{
	synchronize_rcu();
}

char *kstrdup(const char *text, gfp_t gfp)
{
	char *copy = hw_zalloc(strlen(text) + 1, 8);

	return strcpy(copy, text);
}

void kfree_const(const void *x)
{
	kfree(x);
}

void vfree(const void *addr)
{
	hw_free((void *)addr);
}

void kvfree_atomic(const void *addr)
{
	hw_free((void *)addr);
}

void *vzalloc_node_noprof(unsigned long size, int node)
{
	return hw_zalloc(size, 64);
}

/* The scheduler orders CPUs by what the machine is made of: its last-level caches. */
struct cpu_cacheinfo *get_cpu_cacheinfo(unsigned int cpu)
{
	static struct cacheinfo leaves[NR_CPUS];
	static struct cpu_cacheinfo infos[NR_CPUS];
	struct cacheinfo *leaf = &leaves[cpu];
	int other;

	if (!infos[cpu].info_list) {
		leaf->level = 3;
		leaf->id = hw_cpu_topo[cpu].llc;
		leaf->attributes = CACHE_ID;
		for_each_possible_cpu(other)
			if (hw_cpu_topo[other].llc == hw_cpu_topo[cpu].llc)
				cpumask_set_cpu(other, &leaf->shared_cpu_map);
		infos[cpu] = (struct cpu_cacheinfo) {
			.info_list = leaf, .num_levels = 1, .num_leaves = 1, .cpu_map_populated = true,
		};
	}
	return &infos[cpu];
}

int nearest_node_nodemask(int node, nodemask_t *mask)
{
	int other, nearest = MAX_NUMNODES;

	for_each_node_mask(other, *mask)
		if (nearest == MAX_NUMNODES || hw_node_distance(node, other) < hw_node_distance(node, nearest))
			nearest = other;
	return nearest;
}
#endif
