// SPDX-License-Identifier: GPL-2.0-only
/*
 * debugfs, procfs and sysctl files of the linked sources, by path; what is none of
 * them is asked of sysfs.c.  Reading and writing go through the kernel's own handlers.
 */
#include <linux/debugfs.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/sysctl.h>
#include <linux/fs.h>
#include "shim.h"

enum kind { DIR, FOPS, U32, U64, ULONG, BOOL, STR, SYSCTL, SEQ };

struct entry {
	struct list_head list;
	enum kind kind;
	umode_t mode;
	void *data;
	const struct file_operations *fops;
	const struct seq_operations *seq;
	SHIM_SYSCTL *table;
	size_t length;			/* of the path */
	char path[];
};

static LIST_HEAD(entries);

#define DEBUGFS	"/sys/kernel/debug"

static struct entry *add(const char *dir, const char *name, umode_t mode, enum kind kind, void *data)
{
	struct entry *e = hw_zalloc(sizeof(*e) + strlen(dir) + strlen(name) + 2, 16);

	e->length = sprintf(e->path, "%s/%s", dir, name);
	e->kind = kind;
	e->mode = mode;
	e->data = data;
	list_add_tail(&e->list, &entries);
	return e;
}

/* Our entries serve as the dentries debugfs hands out. */
static struct entry *add_debugfs(const char *name, struct dentry *parent, umode_t mode, enum kind kind,
				 void *data)
{
	return add(parent ? ((struct entry *)parent)->path : DEBUGFS, name, mode, kind, data);
}

static struct entry *find(const char *path)
{
	struct entry *e;

	list_for_each_entry(e, &entries, list)
		if (!strcmp(e->path, path))
			return e;
	return NULL;
}

struct dentry *debugfs_create_dir(const char *name, struct dentry *parent)
{
	return (struct dentry *)add_debugfs(name, parent, 0, DIR, NULL);
}

#ifdef TREE_HAS_DEBUGFS_FULL_NO_AUX
struct dentry *debugfs_create_file_full(const char *name, umode_t mode, struct dentry *parent,
					void *data, const struct file_operations *fops)
#elif defined(TREE_HAS_DEBUGFS_FULL)
struct dentry *debugfs_create_file_full(const char *name, umode_t mode, struct dentry *parent,
					void *data, const void *aux, const struct file_operations *fops)
#else
struct dentry *debugfs_create_file(const char *name, umode_t mode, struct dentry *parent,
				   void *data, const struct file_operations *fops)
#endif
{
	struct entry *e = add_debugfs(name, parent, mode, FOPS, data);

	e->fops = fops;
	return (struct dentry *)e;
}

struct dentry *debugfs_create_file_unsafe(const char *name, umode_t mode, struct dentry *parent,
					  void *data, const struct file_operations *fops)
{
	return debugfs_create_file(name, mode, parent, data, fops);
}

void debugfs_create_u32(const char *name, umode_t mode, struct dentry *parent, u32 *value)
{
	add_debugfs(name, parent, mode, U32, value);
}

void debugfs_create_u64(const char *name, umode_t mode, struct dentry *parent, u64 *value)
{
	add_debugfs(name, parent, mode, U64, value);
}

void debugfs_create_ulong(const char *name, umode_t mode, struct dentry *parent, unsigned long *value)
{
	add_debugfs(name, parent, mode, ULONG, value);
}

void debugfs_create_bool(const char *name, umode_t mode, struct dentry *parent, bool *value)
{
	add_debugfs(name, parent, mode, BOOL, value);
}

void debugfs_create_str(const char *name, umode_t mode, struct dentry *parent, char **value)
{
	add_debugfs(name, parent, mode, STR, value);
}

int simple_open(struct inode *inode, struct file *file)
{
	file->private_data = inode->i_private;
	return 0;
}

/* sched/verbose has handlers of its own around these two. */
ssize_t debugfs_read_file_bool(struct file *file, char __user *ubuf, size_t count, loff_t *ppos)
{
	return scnprintf((char *)ubuf, count, "%c\n", *(bool *)file->f_inode->i_private ? 'Y' : 'N');
}

ssize_t debugfs_write_file_bool(struct file *file, const char __user *ubuf, size_t count,
				loff_t *ppos)
{
	int ret = kstrtobool((const char *)ubuf, file->f_inode->i_private);

	return ret ? ret : count;
}

static void remove_below(const char *path)
{
	size_t len = strlen(path);
	struct entry *e, *n;

	/* Most paths differ at the end, the number of a CPU. */
	list_for_each_entry_safe(e, n, &entries, list)
		if (e->length >= len && e->path[len - 1] == path[len - 1] &&
		    (!e->path[len] || e->path[len] == '/') && !memcmp(e->path, path, len)) {
			list_del(&e->list);
			hw_free(e);
		}
}

void debugfs_remove(struct dentry *dentry)
{
	if (dentry)
		remove_below(((struct entry *)dentry)->path);
}

void debugfs_lookup_and_remove(const char *name, struct dentry *parent)
{
	char path[160];

	snprintf(path, sizeof(path), "%s/%s", ((struct entry *)parent)->path, name);
	remove_below(path);
}

struct proc_dir_entry *proc_create_seq_private(const char *name, umode_t mode,
					       struct proc_dir_entry *parent,
					       const struct seq_operations *ops,
					       unsigned int state_size, void *data)
{
	add("/proc", name, mode, SEQ, data)->seq = ops;
	return NULL;
}

/*
 * Files of PSI. Its triggers are for programs that poll them: there are none, so nothing is written
 * here.
 */
struct proc_dir_entry *proc_mkdir(const char *name, struct proc_dir_entry *parent)
{
	return NULL;
}

struct proc_dir_entry *proc_create(const char *name, umode_t mode, struct proc_dir_entry *parent,
				   const struct proc_ops *ops)
{
	struct file_operations *fops = hw_zalloc(sizeof(*fops), 64);

	fops->open = ops->proc_open;
	fops->read = ops->proc_read;
	fops->release = ops->proc_release;
	add("/proc", name, mode & 0444, FOPS, NULL)->fops = fops;
	return NULL;
}

void shim_add_sysctl(const char *dir, SHIM_SYSCTL *table)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/sys/%s", dir);
	add(path, table->procname, table->mode, SYSCTL, NULL)->table = table;
}

/* ------------------------------------------------------------------ writing */

static int write_fops(struct entry *e, char *value)
{
	struct inode inode = { .i_private = e->data };
	struct file file = { .f_inode = &inode };
	loff_t pos = 0;
	ssize_t ret;

	init_rwsem(&inode.i_rwsem);
	if (!e->fops->write)
		return -EACCES;
	ret = e->fops->open ? e->fops->open(&inode, &file) : 0;
	if (ret)
		return ret;
	ret = e->fops->write(&file, (const char __user *)value, strlen(value), &pos);
	if (e->fops->release)
		e->fops->release(&inode, &file);
	return ret < 0 ? ret : 0;
}

static int write_sysctl(struct entry *e, char *value)
{
	size_t len = strlen(value);
	loff_t pos = 0;

	return e->table->proc_handler(e->table, 1, value, &len, &pos);
}

int kern_write_file(const char *path, const char *value)
{
	struct entry *e = find(path);
	unsigned long long number;
	char buf[128];

	if (!e)
		return shim_sysfs_write(path, value);
	if (!(e->mode & 0222))
		return -EACCES;
	if (strscpy(buf, value, sizeof(buf)) < 0)
		return -E2BIG;
	/* 6.1 takes it where it changes nothing */
	if (e->kind == SYSCTL && !strcmp(e->table->procname, "sched_energy_aware") && !shim_energy_aware_possible())
		return -EOPNOTSUPP;
	switch (e->kind) {
	case FOPS:
		return write_fops(e, buf);
	case SYSCTL:
		return write_sysctl(e, buf);
	case BOOL:
		return kstrtobool(buf, e->data);
	case U32:
		return kstrtou32(strim(buf), 0, e->data);
	case U64:
	case ULONG:
		if (kstrtoull(strim(buf), 0, &number))
			return -EINVAL;
		*(u64 *)e->data = number;
		return 0;
	default:
		return -EACCES;
	}
}

/* The numbers a file takes, where its kind or its sysctl's table says so. */
int kern_file_range(const char *path, long long *min, unsigned long long *max)
{
	const struct entry *e = find(path);
	const struct ctl_table *table = e ? e->table : NULL;

	*min = 0;
	if (e && e->kind == U32)
		*max = U32_MAX;
	else if (e && (e->kind == U64 || e->kind == ULONG))
		*max = U64_MAX;
	else if (table && table->proc_handler == proc_douintvec_minmax) {
		*min = table->extra1 ? *(unsigned int *)table->extra1 : 0;
		*max = table->extra2 ? *(unsigned int *)table->extra2 : UINT_MAX;
	} else if (table) {
		*min = table->extra1 ? *(int *)table->extra1 : INT_MIN;
		*max = table->extra2 ? *(int *)table->extra2 : INT_MAX;
	} else
		return -ENOENT;
	return 0;
}

/* All there are, in the order they came. */
void kern_list_files(void (*file)(const char *path, int writable))
{
	const struct entry *e;

	list_for_each_entry(e, &entries, list)
		if (e->kind != DIR)
			file(e->path, !!(e->mode & 0222));
	shim_sysfs_list(file);
}

/* ------------------------------------------------------------------ reading */

static long read_seq(struct seq_file *m, char *buf, unsigned long size)
{
	loff_t pos = 0;
	void *p;

	m->buf = buf;
	m->size = size;
	m->count = 0;
	p = m->op->start(m, &pos);
	while (p && !IS_ERR(p)) {
		m->op->show(m, p);
		if (seq_has_overflowed(m))
			break;
		p = m->op->next(m, p, &pos);
	}
	m->op->stop(m, p);
	m->buf = NULL;
	if (m->count >= size)
		return -ENOSPC;
	buf[m->count] = 0;
	return m->count;
}

static long read_fops(struct entry *e, char *buf, unsigned long size)
{
	struct inode inode = { .i_private = e->data };
	struct file file = { .f_inode = &inode };
	loff_t pos = 0;
	long ret;

	if (!e->fops->open || !e->fops->read)
		return -EACCES;
	ret = e->fops->open(&inode, &file);
	if (ret)
		return ret;
	if (e->fops->read == seq_read)
		ret = read_seq(file.private_data, buf, size);
	else
		ret = e->fops->read(&file, (char __user *)buf, size, &pos);
	if (e->fops->release)
		e->fops->release(&inode, &file);
	return ret;
}

static long read_sysctl(struct entry *e, char *buf, unsigned long size)
{
	size_t len = size - 1;
	loff_t pos = 0;
	int ret = e->table->proc_handler(e->table, 0, buf, &len, &pos);

	if (ret)
		return ret;
	buf[len] = 0;
	return len;
}

long kern_read_file(const char *path, char *buf, unsigned long size)
{
	struct entry *e = find(path);
	struct seq_file m = { };

	if (!e)
		return shim_sysfs_read(path, buf, size);
	switch (e->kind) {
	case FOPS:
		return read_fops(e, buf, size);
	case SEQ:
		mutex_init(&m.lock);
		m.op = e->seq;
		return read_seq(&m, buf, size);
	case SYSCTL:
		return read_sysctl(e, buf, size);
	case U32:
		return scnprintf(buf, size, "%u\n", *(u32 *)e->data);
	case U64:
	case ULONG:
		return scnprintf(buf, size, "%llu\n", *(u64 *)e->data);
	case BOOL:
		return scnprintf(buf, size, "%c\n", *(bool *)e->data ? 'Y' : 'N');
	case STR:
		return scnprintf(buf, size, "%s\n", *(char **)e->data);
	default:
		return -EACCES;
	}
}

/* What debugfs leaves out: the CPUs of a domain and of its groups. */
void kern_print_domain(int cpu, int level, char *buf, unsigned long size)
{
	struct sched_domain *sd = raw_cpu_rq(cpu)->sd;
	struct sched_group *sg;
	int len;

	while (sd && level--)
		sd = sd->parent;
	buf[0] = 0;
	if (!sd)
		return;
	len = scnprintf(buf, size, "span=%*pbl groups=", cpumask_pr_args(sched_domain_span(sd)));
	sg = sd->groups;
	do {
		len += scnprintf(buf + len, size - len, "%s{%*pbl}", sg == sd->groups ? "" : ",",
				 cpumask_pr_args(sched_group_span(sg)));
		sg = sg->next;
	} while (sg != sd->groups);
}
