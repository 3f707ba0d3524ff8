// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tree of groups of the controllers cpu and, where it is built, cpuset: css objects come from a
 * controller's own css_alloc() and go through its css_online(), attach() and file handlers.
 */
#include <linux/psi.h>
#include <linux/seq_file.h>
#include <linux/sched/task.h>
#include <linux/ctype.h>
#include <linux/hashtable.h>
#include <linux/jhash.h>
#include "shim.h"
#include "groups.h"

static DEFINE_HASHTABLE(groups, 14);	/* all but the root, by path */

static struct kernfs_node root_node = { .id = 1 };	/* by which cgroup_psi() knows it */
struct cgroup_root cgrp_dfl_root = {
	.cgrp = {
		.kn = &root_node, .root = &cgrp_dfl_root, .self = { .cgroup = &shim_root_cgroup },
	},
};
struct css_set shim_root_css_set = {
	.dfl_cgrp = &shim_root_cgroup,
	.subsys = { [cpu_cgrp_id] = &root_task_group.css },
};

static struct group root;
static u64 last_id = 1;			/* of root_node */

struct static_key_true cpu_cgrp_subsys_on_dfl_key = STATIC_KEY_TRUE_INIT;
DEFINE_MUTEX(cgroup_mutex);

static void init_css(struct cgroup_subsys_state *css, struct cgroup_subsys *ss)
{
	css->ss = ss;
	css->flags = CSS_NO_REF | CSS_ONLINE;
	INIT_LIST_HEAD(&css->children);
	INIT_LIST_HEAD(&css->sibling);
}

/* What cgroup_init() does for a controller. */
void shim_root_css(struct cgroup_subsys *ss, int id, struct cgroup_subsys_state *css)
{
	ss->id = id;
	init_css(css, ss);
	css->cgroup = &shim_root_cgroup;
	shim_root_css_set.subsys[id] = css;
	RCU_INIT_POINTER(shim_root_cgroup.subsys[id], css);
}

/* The scheduler walks down from the root without any group. */
void shim_setup_cgroups(void)
{
	init_css(&shim_root_cgroup.self, NULL);
	shim_root_cgroup.ancestors[0] = &shim_root_cgroup;
	root.css = &root_task_group.css;
	shim_root_css(&cpu_cgrp_subsys, cpu_cgrp_id, root.css);
#ifdef CONFIG_SCHED_CLASS_EXT
	if (cpu_cgrp_subsys.css_online(root.css))
		hw_die("css_online() of the root failed", "cgroup", 0);
#endif
	shim_setup_cpusets();
}

/* What css_create() and online_css() do. */
int shim_add_css(struct cgroup_subsys *ss, struct cgroup_subsys_state *parent, struct cgroup *cgrp,
		struct css_set *cset)
{
	struct cgroup_subsys_state *css = ss->css_alloc(parent);

	if (IS_ERR(css))
		return PTR_ERR(css);
	init_css(css, ss);
	css->parent = parent;
	css->cgroup = cgrp;
	list_add_tail_rcu(&css->sibling, &parent->children);
	cset->subsys[ss->id] = css;
	rcu_assign_pointer(cgrp->subsys[ss->id], css);
	return ss->css_online(css);
}

/* Every group has all controllers; cpusets and sub-schedulers ask. */
struct cgroup_subsys_state *cgroup_e_css(struct cgroup *cgrp, struct cgroup_subsys *ss);
struct cgroup_subsys_state *cgroup_e_css(struct cgroup *cgrp, struct cgroup_subsys *ss)
{
	return (cgrp == &shim_root_cgroup ? &shim_root_css_set :
		&container_of(cgrp, struct group, cgroup)->cset)->subsys[ss->id];
}

#ifdef CONFIG_EXT_SUB_SCHED
/* Only sub-schedulers ask to be notified: of groups that come, and of tasks that move. */
BLOCKING_NOTIFIER_HEAD(cgroup_lifetime_notifier);
BLOCKING_NOTIFIER_HEAD(cgroup_task_notifier);

int blocking_notifier_chain_register(struct blocking_notifier_head *chain, struct notifier_block *block)
{
	rcu_assign_pointer(chain->head, block);
	return 0;
}

static int notify(struct blocking_notifier_head *chain, unsigned long event, void *data)
{
	struct notifier_block *block = rcu_dereference_raw(chain->head);

	return notifier_to_errno(block->notifier_call(block, event, data));
}

static void notify_of_group(struct cgroup *cgrp)
{
	notify(&cgroup_lifetime_notifier, CGROUP_LIFETIME_ONLINE, cgrp);
}

static int notify_of_move(const struct cgroup_taskset *tset, unsigned long event)
{
	struct cgroup_task_migrate_ctx ctx = {
		.task = tset->task, .src_dcgrp = tset->from->dfl_cgrp, .dst_dcgrp = tset->to->dfl_cgrp,
	};

	return ctx.src_dcgrp == ctx.dst_dcgrp ? 0 : notify(&cgroup_task_notifier, event, &ctx);
}

static int announce_move(const struct cgroup_taskset *tset)
{
	return notify_of_move(tset, CGROUP_TASK_MIGRATING);
}

static void conclude_move(const struct cgroup_taskset *tset, bool refused)
{
	notify_of_move(tset, refused ? CGROUP_TASK_MIGRATE_CANCELED : CGROUP_TASK_MIGRATED);
}

struct cgroup *cgroup_get_from_id(u64 id)
{
	struct group *g;
	int i;

	hash_for_each(groups, i, g, node)
		if (g->kn.id == id)
			return &g->cgroup;
	return ERR_PTR(-ENOENT);
}
#else
static void notify_of_group(struct cgroup *cgrp)
{
}

static int announce_move(const struct cgroup_taskset *tset)
{
	return 0;
}

static void conclude_move(const struct cgroup_taskset *tset, bool refused)
{
}
#endif

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

u64 shim_cgroup_id(const char *path)
{
	const struct css_set *cset = shim_cgroup_css_set(path);

	return cset ? cset->dfl_cgrp->kn->id : 0;
}

int kern_cgroup_create(const char *path, int cpuset)
{
	unsigned int length = strlen(path);
	const char *slash = strrchr(path, '/');
	struct group *parent, *g;
	struct cgroup *above;
	struct task_group *tg;
	int ret;

	if (path[0] != '/' || !slash[1])
		return -EINVAL;
	if (find_group(path, length))
		return -EEXIST;
	parent = find_group(path, max(1L, slash - path));
	if (!parent)
		return -ENOENT;

	above = parent == &root ? &shim_root_cgroup : &parent->cgroup;
	g = hw_zalloc(sizeof(*g) + (above->level + 1) * sizeof(above), 64);
	g->path = hw_zalloc(length + 1, 8);
	memcpy(g->path, path, length);
	g->length = length;
	g->kn.id = ++last_id;
	init_css(&g->cgroup.self, NULL);
	g->cgroup.self.cgroup = &g->cgroup;
	g->cgroup.self.parent = &above->self;
	list_add_tail_rcu(&g->cgroup.self.sibling, &above->self.children);
	g->cgroup.kn = &g->kn;
	g->cgroup.root = &cgrp_dfl_root;
	g->cgroup.level = above->level + 1;
	memcpy(g->cgroup.ancestors, above->ancestors, g->cgroup.level * sizeof(above));
	g->cgroup.ancestors[g->cgroup.level] = &g->cgroup;
	notify_of_group(&g->cgroup);
	if (psi_cgroup_alloc(&g->cgroup))
		hw_die("psi_cgroup_alloc() failed", path, 0);
	g->cset.dfl_cgrp = &g->cgroup;
	ret = shim_cpuset_create(g, shim_cgroup_css_set(parent == &root ? "/" : parent->path), cpuset);
	if (!ret)
		ret = shim_add_css(&cpu_cgrp_subsys, parent->css, &g->cgroup, &g->cset);
	if (ret)
		return ret;
	g->css = g->cset.subsys[cpu_cgrp_id];
	hash_add(groups, &g->node, jhash(path, length, 0));
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

static struct {
	const char *prefix;
	int id;
	struct cgroup_subsys *ss;
} controllers[] = {
	{ "cpu.", cpu_cgrp_id, &cpu_cgrp_subsys },
#ifdef CONFIG_CPUSETS
	{ "cpuset.", cpuset_cgrp_id, &cpuset_cgrp_subsys },
#endif
};

/*
 * A file of a group, and file_css with it; one of a controller that the group does not have is not
 * there.
 */
static struct cftype *find_file(const struct group *g, const char *name)
{
	const struct css_set *cset = g == &root ? &shim_root_css_set : &g->cset;
	struct cftype *cft;
	size_t length;
	int i;

	for (i = 0; i < ARRAY_SIZE(controllers); i++) {
		length = strlen(controllers[i].prefix);
		file_css = cset->subsys[controllers[i].id];
		if (strncmp(name, controllers[i].prefix, length) ||
		    (g != &root && file_css->cgroup != &g->cgroup))
			continue;
		for (cft = controllers[i].ss->dfl_cftypes; cft->name[0]; cft++)
			if (!strcmp(cft->name, name + length))
				return cft;
	}
	return NULL;
}

int kern_cgroup_write(const char *path, const char *file, const char *value)
{
	struct group *g = find_group(path, strlen(path));
	struct cftype *cft = g ? find_file(g, file) : NULL;
	struct kernfs_node kn = { .priv = cft };
	struct kernfs_open_file of = { .kn = &kn };
	char buf[1024];
	s64 number;

	if (!cft)
		return -ENOENT;
	shim_has_limits |= strstarts(file, "cpu.max");
	if (strscpy(buf, value, sizeof(buf)) < 0)
		return -EINVAL;
	if (cft->write) {
		ssize_t ret = cft->write(&of, strim(buf), strlen(buf), 0);

		return ret < 0 ? ret : 0;
	}
	if (!cft->write_u64 && !cft->write_s64)
		return -EACCES;
	if (kstrtoll(strim(buf), 0, &number))
		return -EINVAL;
	if (cft->write_u64)
		return number < 0 ? -EINVAL : cft->write_u64(file_css, cft, number);
	return cft->write_s64(file_css, cft, number);
}

long kern_cgroup_read(const char *path, const char *file, char *buf, unsigned long size)
{
	struct group *g = find_group(path, strlen(path));
	struct cftype *cft = g ? find_file(g, file) : NULL;
	struct kernfs_node kn = { .priv = cft };
	struct kernfs_open_file of = { .kn = &kn };
	struct seq_file m = { .buf = buf, .size = size, .private = &of };
	int ret;

	if (!cft)
		return -ENOENT;
	if (cft->read_u64)
		return scnprintf(buf, size, "%llu\n", cft->read_u64(file_css, cft));
	if (cft->read_s64)
		return scnprintf(buf, size, "%lld\n", cft->read_s64(file_css, cft));
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
	int i;

	for (i = 0; i < ARRAY_SIZE(controllers); i++)
		for (cft = controllers[i].ss->dfl_cftypes; cft->name[0]; cft++) {
			snprintf(name, sizeof(name), "%s%s", controllers[i].prefix, cft->name);
			file(name, cft->write || cft->write_u64 || cft->write_s64);
		}
}

/* ------------------------------------------------------------------ moving tasks */

struct task_struct *cgroup_taskset_first(struct cgroup_taskset *tset,
					 struct cgroup_subsys_state **dst_cssp)
{
	*dst_cssp = tset->to->subsys[tset->ss->id];
	return tset->task;
}

struct task_struct *cgroup_taskset_next(struct cgroup_taskset *tset,
					struct cgroup_subsys_state **dst_cssp)
{
	return NULL;
}

int kern_cgroup_attach(struct kern_task *task, const char *path)
{
	struct css_set *cset = shim_cgroup_css_set(path);
	struct cgroup_taskset tset;
	struct task_struct *p = task->kernel;
	int ret = 0;

	if (!cset)
		return -ENOENT;
	if (!p || p->flags & PF_EXITING)
		return -ESRCH;
	get_task_struct(p);
	tset = (struct cgroup_taskset) { .task = p, .from = rcu_dereference_raw(p->cgroups), .to = cset };
	tset.from->mg_dst_cset = cset;	/* of the move that is under way */
	ret = announce_move(&tset);
	if (ret)
		goto out;
	ret = shim_cpuset_can_attach(&tset);
	if (ret)
		goto cancel;
	tset.ss = &cpu_cgrp_subsys;
	if (cpu_cgrp_subsys.can_attach)
		ret = cpu_cgrp_subsys.can_attach(&tset);
	if (!ret)
		cgroup_move_task(p, cset);
	shim_cpuset_attach(&tset, ret);
	tset.ss = &cpu_cgrp_subsys;
	if (!ret)
		cpu_cgrp_subsys.attach(&tset);
cancel:
	conclude_move(&tset, ret);
out:
	put_task_struct(p);
	return ret;
}

/* ----------------------------------------------------------------- walks the scheduler asks for */

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

static struct cgroup_subsys_state *leftmost_descendant(struct cgroup_subsys_state *pos)
{
	while (!list_empty(&pos->children))
		pos = list_first_entry(&pos->children, struct cgroup_subsys_state, sibling);
	return pos;
}

struct cgroup_subsys_state *css_next_descendant_post(struct cgroup_subsys_state *pos,
						     struct cgroup_subsys_state *root_css)
{
	struct cgroup_subsys_state *next;

	if (!pos)
		return leftmost_descendant(root_css);
	if (pos == root_css)
		return NULL;
	next = css_next_child(pos, pos->parent);
	return next ? leftmost_descendant(next) : pos->parent;
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
	it->ss = css->ss;		/* NULL: of a group itself */
	it->cset_pos = (void *)css;
	it->task_pos = NULL;
}

struct task_struct *css_task_iter_next(struct css_task_iter *it)
{
	struct hw_task *task = it->task_pos ? (void *)it->task_pos : NULL;

	for (task = task ? task->next : hw_first_task; task; task = task->next) {
		struct task_struct *p = kern_task_of(task)->kernel;

		if (!p || (it->ss ? p->cgroups->subsys[it->ss->id] : &p->cgroups->dfl_cgrp->self) != (void *)it->cset_pos)
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
