// SPDX-License-Identifier: GPL-2.0-only
/*
 * The cpu controller's tree of groups: css objects come from the scheduler's own
 * css_alloc() and go through its css_online(), attach() and file handlers.
 */
#include <linux/cgroup.h>
#include <linux/kernfs.h>
#include <linux/psi.h>
#include <linux/seq_file.h>
#include <linux/sched/task.h>
#include <linux/ctype.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include "shim.h"

struct group {
	struct hlist_node node;
	struct cgroup cgroup;
	struct css_set cset;
	struct cgroup_subsys_state *css;
	struct kernfs_node kn;		/* only to be recognised by kernfs_path_from_node() */
	unsigned int length;
	char path[];
};

static DEFINE_HASHTABLE(groups, 14);	/* all but the root, by path */

static struct kernfs_node root_node = { .id = 1 };	/* by which cgroup_psi() knows it */
static struct cgroup root_cgroup = { .kn = &root_node };
struct css_set shim_root_css_set = {
	.dfl_cgrp = &root_cgroup,
	.subsys = { [cpu_cgrp_id] = &root_task_group.css },
};

static struct group root;

struct static_key_true cpu_cgrp_subsys_on_dfl_key = STATIC_KEY_TRUE_INIT;
DEFINE_MUTEX(cgroup_mutex);

/* What cgroup_init() does for the root: the scheduler walks down from it without any group. */
void shim_setup_cgroups(void)
{
	root.css = &root_task_group.css;
	root.css->ss = &cpu_cgrp_subsys;
	root.css->flags = CSS_NO_REF | CSS_ONLINE;
	INIT_LIST_HEAD(&root.css->children);
	INIT_LIST_HEAD(&root.css->sibling);
}

/* Without cgroup_disable=pressure. */
bool cgroup_psi_enabled(void)
{
	return true;
}

/* A task leaves its group when it exits (sched_autogroup_exit_task(), exit.c). */
void cgroup_task_dead(struct task_struct *p);
void cgroup_task_dead(struct task_struct *p)
{
}

/* The group with the first `length` bytes of a path. */
static struct group *find_group(const char *path, unsigned int length)
{
	struct group *g;

	if (length == 1)
		return &root;
	hash_for_each_possible(groups, g, node, jhash(path, length, 0))
		if (g->length == length && !memcmp(g->path, path, length))
			return g;
	return NULL;
}

struct css_set *shim_cgroup_css_set(const char *path)
{
	struct group *g = find_group(path, strlen(path));

	return !g ? NULL : g == &root ? &shim_root_css_set : &g->cset;
}

int kern_cgroup_create(const char *path)
{
	unsigned int length = strlen(path);
	const char *slash = strrchr(path, '/');
	struct group *parent, *g;
	struct task_group *tg;

	if (path[0] != '/' || !slash[1])
		return -EINVAL;
	if (find_group(path, length))
		return -EEXIST;
	parent = find_group(path, max(1L, slash - path));
	if (!parent)
		return -ENOENT;

	g = hw_zalloc(sizeof(*g) + length + 1, 64);
	memcpy(g->path, path, length);
	g->length = length;
	g->cgroup.kn = &g->kn;
	g->cgroup.self.parent = parent == &root ? &root_cgroup.self : &parent->cgroup.self;
	if (psi_cgroup_alloc(&g->cgroup))
		hw_die("psi_cgroup_alloc() failed", path, 0);
	g->css = cpu_cgrp_subsys.css_alloc(parent->css);
	if (IS_ERR(g->css))
		return PTR_ERR(g->css);
	g->css->parent = parent->css;
	g->css->ss = &cpu_cgrp_subsys;
	g->css->cgroup = &g->cgroup;
	g->css->flags = CSS_NO_REF | CSS_ONLINE;
	INIT_LIST_HEAD(&g->css->children);
	INIT_LIST_HEAD(&g->css->sibling);
	list_add_tail_rcu(&g->css->sibling, &parent->css->children);
	g->cset.subsys[cpu_cgrp_id] = g->css;
	g->cset.dfl_cgrp = &g->cgroup;
	hash_add(groups, &g->node, jhash(path, length, 0));
	if (cpu_cgrp_subsys.css_online(g->css))
		hw_die("css_online() failed", path, 0);
	tg = container_of(g->css, struct task_group, css);
	hw_hot_register(tg, &tg->load_avg);
	return 0;
}

/* ------------------------------------------------------------------ files of a group */

static struct cgroup_subsys_state *file_css;

struct cgroup_subsys_state *of_css(struct kernfs_open_file *of)
{
	return file_css;
}

static struct cftype *find_file(const char *name)
{
	struct cftype *cft;

	for (cft = cpu_cgrp_subsys.dfl_cftypes; cft->name[0]; cft++)
		if (!strncmp(name, "cpu.", 4) && !strcmp(cft->name, name + 4))
			return cft;
	return NULL;
}

int kern_cgroup_write(const char *path, const char *file, const char *value)
{
	struct group *g = find_group(path, strlen(path));
	struct cftype *cft;
	char buf[64];
	s64 number;

	if (!g)
		return -ENOENT;
	cft = find_file(file);
	if (!cft)
		return -ENOENT;
	if (strscpy(buf, value, sizeof(buf)) < 0)
		return -EINVAL;
	file_css = g->css;
	if (cft->write) {
		ssize_t ret = cft->write(NULL, strim(buf), strlen(buf), 0);

		return ret < 0 ? ret : 0;
	}
	if (!cft->write_u64 && !cft->write_s64)
		return -EACCES;
	if (kstrtoll(strim(buf), 0, &number))
		return -EINVAL;
	if (cft->write_u64)
		return number < 0 ? -EINVAL : cft->write_u64(g->css, cft, number);
	return cft->write_s64(g->css, cft, number);
}

long kern_cgroup_read(const char *path, const char *file, char *buf, unsigned long size)
{
	struct cftype *cft = find_file(file);
	struct seq_file m = { .buf = buf, .size = size };
	struct group *g = find_group(path, strlen(path));
	int ret;

	if (!g || !cft)
		return -ENOENT;
	file_css = g->css;
	if (cft->read_u64)
		return scnprintf(buf, size, "%llu\n", cft->read_u64(g->css, cft));
	if (cft->read_s64)
		return scnprintf(buf, size, "%lld\n", cft->read_s64(g->css, cft));
	if (!cft->seq_show)
		return -EACCES;
	ret = cft->seq_show(&m, NULL);
	buf[min(m.count, size - 1)] = 0;
	return ret ? ret : m.count;
}

void kern_list_cgroup_files(void (*file)(const char *name, int writable))
{
	const struct cftype *cft;
	char name[80];

	for (cft = cpu_cgrp_subsys.dfl_cftypes; cft->name[0]; cft++) {
		snprintf(name, sizeof(name), "cpu.%s", cft->name);
		file(name, cft->write || cft->write_u64 || cft->write_s64);
	}
}

/* ------------------------------------------------------------------ moving tasks */

struct cgroup_taskset {
	struct task_struct *task;
	struct cgroup_subsys_state *css;
	bool done;
};

struct task_struct *cgroup_taskset_first(struct cgroup_taskset *tset,
					 struct cgroup_subsys_state **dst_cssp)
{
	tset->done = true;
	*dst_cssp = tset->css;
	return tset->task;
}

struct task_struct *cgroup_taskset_next(struct cgroup_taskset *tset,
					struct cgroup_subsys_state **dst_cssp)
{
	return NULL;
}

int kern_cgroup_attach(struct hw_task *task, const char *path)
{
	struct css_set *cset = shim_cgroup_css_set(path);
	struct cgroup_taskset tset;
	struct task_struct *p = task->kernel;
	int ret = 0;

	if (!cset)
		return -ENOENT;
	if (!p || p->flags & PF_EXITING)
		return -ESRCH;
	tset = (struct cgroup_taskset) { .task = p, .css = cset->subsys[cpu_cgrp_id] };
	get_task_struct(p);
	if (cpu_cgrp_subsys.can_attach)
		ret = cpu_cgrp_subsys.can_attach(&tset);
	if (!ret) {
		cgroup_move_task(p, cset);
		cpu_cgrp_subsys.attach(&tset);
	}
	put_task_struct(p);
	return ret;
}

/* ------------------------------------------------------------------ walks the scheduler asks for */

struct cgroup_subsys_state *css_next_child(struct cgroup_subsys_state *pos,
					   struct cgroup_subsys_state *parent)
{
	struct list_head *next = pos ? pos->sibling.next : parent->children.next;

	return next == &parent->children ? NULL :
	       list_entry(next, struct cgroup_subsys_state, sibling);
}

struct cgroup_subsys_state *css_next_descendant_pre(struct cgroup_subsys_state *pos,
						    struct cgroup_subsys_state *root_css)
{
	struct cgroup_subsys_state *next;

	if (!pos)
		return root_css;
	next = css_next_child(NULL, pos);
	if (next)
		return next;
	while (pos != root_css) {
		next = css_next_child(pos, pos->parent);
		if (next)
			return next;
		pos = pos->parent;
	}
	return NULL;
}

struct cgroup_subsys_state *css_rightmost_descendant(struct cgroup_subsys_state *pos)
{
	while (!list_empty(&pos->children))
		pos = list_last_entry(&pos->children, struct cgroup_subsys_state, sibling);
	return pos;
}

int kernfs_path_from_node(struct kernfs_node *to, struct kernfs_node *from, char *buf, size_t buflen)
{
	return strscpy(buf, to && to != &root_node ? container_of(to, struct group, kn)->path : "/", buflen);
}

/* A decimal fraction in units of 10^-dec_shift, as cpu.uclamp.min takes it. */
int cgroup_parse_float(const char *input, unsigned int dec_shift, s64 *v)
{
	s64 value = 0;
	bool point = false, digits = false;

	for (; *input; input++) {
		if (*input == '.' && !point) {
			point = true;
		} else if (isdigit(*input)) {
			digits = true;
			if (point && !dec_shift)
				continue;
			value = value * 10 + *input - '0';
			if (point)
				dec_shift--;
		} else {
			return -EINVAL;
		}
	}
	if (!digits)
		return -EINVAL;
	while (dec_shift--)
		value *= 10;
	*v = value;
	return 0;
}

/* ------------------------------------------------------------------ the tasks of a group */

void css_task_iter_start(struct cgroup_subsys_state *css, unsigned int flags,
			 struct css_task_iter *it)
{
	it->ss = NULL;
	it->cset_pos = (void *)css;
	it->task_pos = NULL;
}

struct task_struct *css_task_iter_next(struct css_task_iter *it)
{
	struct hw_task *task = it->task_pos ? (void *)it->task_pos : NULL;

	for (task = task ? task->next : hw_first_task; task; task = task->next) {
		struct task_struct *p = task->kernel;

		if (!p || p->cgroups->subsys[cpu_cgrp_id] != (void *)it->cset_pos)
			continue;
		it->task_pos = (void *)task;
		return p;
	}
	return NULL;
}

void css_task_iter_end(struct css_task_iter *it)
{
}

/* CPU time per cgroup is read from the tasks; the counters of cgroup/rstat.c have no reader. */
void __cgroup_account_cputime(struct cgroup *cgrp, u64 delta_exec)
{
}

void __cgroup_account_cputime_field(struct cgroup *cgrp, enum cpu_usage_stat index, u64 delta_exec)
{
}
