// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attributes below /sys/devices/system/cpu of the linked sources' objects, by path.
 * Reading and writing go through the kernel's own handlers.
 */
#include <linux/device.h>
#include <linux/kobject.h>
#include <linux/sysfs.h>
#include <linux/cpuidle.h>
#include <../drivers/cpuidle/cpuidle.h>
#include "shim.h"

#define CPU_ROOT	"/sys/devices/system/cpu"
#define NAME_LEN	24

struct device shim_cpu_root;
static struct device *cpu_devices[NR_CPUS];
static LIST_HEAD(objects);

void kobject_init(struct kobject *kobj, const struct kobj_type *type)
{
	kref_init(&kobj->kref);
	INIT_LIST_HEAD(&kobj->entry);
	kobj->ktype = type;
}

static int add(struct kobject *kobj, struct kobject *parent, const char *fmt, va_list args)
{
	char *name = hw_zalloc(NAME_LEN, 8);

	vsnprintf(name, NAME_LEN, fmt, args);
	kobj->name = name;
	kobj->parent = parent;
	list_add_tail(&kobj->entry, &objects);
	return 0;
}

int kobject_add(struct kobject *kobj, struct kobject *parent, const char *fmt, ...)
{
	va_list args;
	int ret;

	va_start(args, fmt);
	ret = add(kobj, parent, fmt, args);
	va_end(args);
	return ret;
}

int kobject_init_and_add(struct kobject *kobj, const struct kobj_type *type,
			 struct kobject *parent, const char *fmt, ...)
{
	va_list args;
	int ret;

	kobject_init(kobj, type);
	va_start(args, fmt);
	ret = add(kobj, parent, fmt, args);
	va_end(args);
	return ret;
}

void kobject_del(struct kobject *kobj)
{
	list_del_init(&kobj->entry);
}

static void release(struct kref *kref)
{
	struct kobject *kobj = container_of(kref, struct kobject, kref);

	kobject_del(kobj);
	hw_free((void *)kobj->name);
	kobj->ktype->release(kobj);
}

struct kobject *kobject_get(struct kobject *kobj)
{
	kref_get(&kobj->kref);
	return kobj;
}

void kobject_put(struct kobject *kobj)
{
	kref_put(&kobj->kref, release);
}

int kobject_uevent(struct kobject *kobj, enum kobject_action action)
{
	return 0;
}

struct device *get_cpu_device(unsigned int cpu)
{
	struct device *dev = cpu_devices[cpu];

	if (!dev) {
		dev = hw_zalloc(sizeof(*dev), 64);
		if (kobject_init_and_add(&dev->kobj, NULL, &shim_cpu_root.kobj, "cpu%u", cpu))
			return NULL;
		cpu_devices[cpu] = dev;
	}
	return dev;
}

void put_device(struct device *dev)
{
}

int sysfs_emit_at(char *buf, int at, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(buf + at, PAGE_SIZE - at, fmt, args);
	va_end(args);
	return len;
}

int sysfs_emit(char *buf, const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = vscnprintf(buf, PAGE_SIZE, fmt, args);
	va_end(args);
	return len;
}

/* cpuidle's attributes that belong to no CPU. */
#ifdef TREE_HAS_BUS_ROOT
#ifdef TREE_HAS_BUS_CONST
const struct bus_type cpu_subsys;
#else
struct bus_type cpu_subsys;
#endif

struct device *bus_get_dev_root(const struct bus_type *bus)
{
	return &shim_cpu_root;
}
#endif

int shim_add_cpuidle_interface(void)
{
#ifdef TREE_HAS_CPUIDLE_INTERFACE_VOID
	return cpuidle_add_interface();
#else
	return cpuidle_add_interface(&shim_cpu_root);
#endif
}

/* -------------------------------------------------------------- groups of a device's attributes */

struct group {
	struct kobject kobj;
	struct kobj_type type;
	const struct attribute_group *groups[2];
};

static ssize_t show_device(struct kobject *kobj, struct attribute *attr, char *buf)
{
	struct device_attribute *of = container_of(attr, struct device_attribute, attr);

	return of->show ? of->show(&shim_cpu_root, of, buf) : -EIO;
}

static ssize_t store_device(struct kobject *kobj, struct attribute *attr, const char *buf,
			    size_t count)
{
	struct device_attribute *of = container_of(attr, struct device_attribute, attr);

	return of->store ? of->store(&shim_cpu_root, of, buf, count) : -EIO;
}

static const struct sysfs_ops device_ops = { .show = show_device, .store = store_device };

int sysfs_create_group(struct kobject *kobj, const struct attribute_group *attributes)
{
	struct group *group = hw_zalloc(sizeof(*group), 64);

	group->groups[0] = attributes;
	group->type.sysfs_ops = &device_ops;
	group->type.default_groups = group->groups;
	return kobject_init_and_add(&group->kobj, &group->type, kobj, "%s", attributes->name);
}

/* ------------------------------------------------------------------ files */

static struct kobject *find_child(const struct kobject *parent, const char *name, size_t len)
{
	struct kobject *kobj;

	list_for_each_entry(kobj, &objects, entry)
		if (kobj->parent == parent && !strncmp(kobj->name, name, len) && !kobj->name[len])
			return kobj;
	return NULL;
}

static struct attribute *find_attribute(const struct kobject *kobj, const char *name)
{
	const struct attribute_group **group;
	struct attribute **attr;

	if (!kobj->ktype || !kobj->ktype->default_groups)
		return NULL;
	for (group = kobj->ktype->default_groups; *group; group++)
		for (attr = (*group)->attrs; *attr; attr++)
			if (!strcmp((*attr)->name, name))
				return *attr;
	return NULL;
}

static struct kobject *find(const char *path, struct attribute **attr)
{
	struct kobject *kobj = &shim_cpu_root.kobj;
	const char *end;

	if (strncmp(path, CPU_ROOT "/", sizeof(CPU_ROOT)))
		return NULL;
	for (path += sizeof(CPU_ROOT); kobj && (end = strchr(path, '/')); path = end + 1)
		kobj = find_child(kobj, path, end - path);
	*attr = kobj ? find_attribute(kobj, path) : NULL;
	return *attr ? kobj : NULL;
}

/* Others, such as those of sched_ext, can neither be read nor written. */
static bool is_of_cpus(const struct kobject *kobj)
{
	while (kobj && kobj != &shim_cpu_root.kobj)
		kobj = kobj->parent;
	return kobj;
}

static int path_of(const struct kobject *kobj, char *buf, size_t size)
{
	if (kobj == &shim_cpu_root.kobj)
		return scnprintf(buf, size, CPU_ROOT);
	else {
		int len = path_of(kobj->parent, buf, size);

		return len + scnprintf(buf + len, size - len, "/%s", kobj->name);
	}
}

void shim_sysfs_list(void (*file)(const char *path, int writable))
{
	struct kobject *kobj;
	char path[160];

	list_for_each_entry(kobj, &objects, entry) {
		const struct attribute_group *const *group = kobj->ktype ? kobj->ktype->default_groups : NULL;
		struct attribute **attr;
		int len;

		if (!is_of_cpus(kobj))
			continue;
		len = path_of(kobj, path, sizeof(path));
		for (; group && *group; group++)
			for (attr = (*group)->attrs; *attr; attr++) {
				snprintf(path + len, sizeof(path) - len, "/%s", (*attr)->name);
				file(path, !!((*attr)->mode & 0222));
			}
	}
}

int shim_sysfs_write(const char *path, const char *value)
{
	struct attribute *attr;
	struct kobject *kobj = find(path, &attr);
	ssize_t ret;

	if (!kobj)
		return -ENOENT;
	if (!(attr->mode & 0222))
		return -EACCES;
	ret = kobj->ktype->sysfs_ops->store(kobj, attr, value, strlen(value));
	return ret < 0 ? ret : 0;
}

long shim_sysfs_read(const char *path, char *buf, unsigned long size)
{
	static char page[PAGE_SIZE] __aligned(PAGE_SIZE);
	struct attribute *attr;
	struct kobject *kobj = find(path, &attr);
	ssize_t ret;

	if (!kobj)
		return -ENOENT;
	ret = kobj->ktype->sysfs_ops->show(kobj, attr, page);
	return ret < 0 ? ret : strscpy(buf, page, size);
}
