// SPDX-License-Identifier: GPL-2.0-only
/* Reads a scenario. */
#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "instance.h"
#include "scenario.h"

struct scenario scenario;
simtime origin;
static json_t *group_paths;		/* their set: tasks refer to groups by path */

static void set_bit(int cpu, void *arg)
{
	unsigned long *mask = arg;

	mask[cpu / 64] |= 1UL << cpu % 64;
}

static void read_affinity(json_t *v, const struct path *at, unsigned long *mask)
{
	json_cpu_list(v, at, hw_nr_cpus - 1, set_bit, mask);
}

static const struct {
	const char *name;
	int policy;
} policies[] = {
	{ "normal", SCHED_OTHER }, { "batch", SCHED_BATCH }, { "idle", SCHED_IDLE },
	{ "fifo", SCHED_FIFO }, { "rr", SCHED_RR }, { "deadline", 6 },
};

/* Returns whether anything differs from a plain task. */
static int read_attr(json_t *obj, const struct path *at, struct kern_attr *attr)
{
	static const char *const reserved[] = { "runtime", "deadline", "period" };
	const char *policy = json_get_text(obj, at, "policy", "normal");
	size_t i;

	for (i = 0; i < sizeof(policies) / sizeof(policies[0]); i++)
		if (!strcmp(policy, policies[i].name))
			break;
	if (i == sizeof(policies) / sizeof(policies[0]))
		json_error_at(AT(at, "policy"), "\"%s\": normal, batch, idle, fifo, rr or deadline", policy);
	attr->policy = policies[i].policy;
	attr->nice = json_get_int(obj, at, "nice", -20, 19, 0);
	attr->uclamp_min = json_get_int(obj, at, "uclamp_min", 0, 1024, -1);
	attr->uclamp_max = json_get_int(obj, at, "uclamp_max", 0, 1024, -1);
	if (attr->policy == SCHED_FIFO || attr->policy == SCHED_RR)
		attr->rt_priority = json_int(json_need(obj, at, "priority"), AT(at, "priority"), 1, 99);
	else if (json_object_get(obj, "priority"))
		json_error_at(AT(at, "priority"), "only the policies fifo and rr have one");
	for (i = 0; attr->policy != 6 && i < sizeof(reserved) / sizeof(reserved[0]); i++)
		if (json_object_get(obj, reserved[i]))
			json_error_at(AT(at, reserved[i]), "only the policy deadline has one");
	if (attr->policy == 6) {
		attr->dl_runtime = json_time(json_need(obj, at, "runtime"), AT(at, "runtime"));
		attr->dl_period = json_time(json_need(obj, at, "period"), AT(at, "period"));
		attr->dl_deadline = json_get_time(obj, at, "deadline", attr->dl_period);
	}
	if (json_object_get(obj, "slice")) {
		attr->dl_runtime = json_time(json_object_get(obj, "slice"), AT(at, "slice"));
		if (!kern_has_slices())
			json_error_at(AT(at, "slice"), "this kernel gives all fair tasks the same slice; 6.12 and newer ask each");
		if (attr->policy != SCHED_OTHER && attr->policy != SCHED_BATCH)
			json_error_at(AT(at, "slice"), "only the policies normal and batch have one");
		if (attr->dl_runtime < 100000 || attr->dl_runtime > 100000000)
			json_error_at(AT(at, "slice"), "the kernel takes 100us to 100ms");
	}
	return attr->dl_runtime || attr->policy || attr->nice || attr->uclamp_min >= 0 || attr->uclamp_max >= 0;
}

static const char *group_name(json_t *obj, const struct path *at)
{
	const char *name = json_get_text(obj, at, "group", NULL);

	if (!name || !strcmp(name, "/"))
		return NULL;
	if (!json_object_get(group_paths, name))
		json_error_at(AT(at, "group"), "no group \"%s\" in groups", name);
	return name;
}

static const struct cookie *read_cookie(json_t *obj, const struct path *at, const char *key)
{
	const char *name = json_get_text(obj, at, key, NULL);
	struct cookie *cookie;

	if (!name)
		return NULL;
	if (!hw_machine.has_smt)
		json_error_at(AT(at, key), "every core has one thread: the kernel takes cookies where cores have more");
	for (cookie = scenario.cookies; cookie; cookie = cookie->next)
		if (!strcmp(cookie->name, name))
			return cookie;
	cookie = hw_zalloc(sizeof(*cookie), 16);
	*cookie = (struct cookie) { .name = name, .next = scenario.cookies };
	scenario.cookies = cookie;
	return cookie;
}

static void read_task(json_t *obj, const struct path *at, struct task_spec *t)
{
	json_only(obj, at, "name", "count", "start", "stagger", "policy", "nice", "priority", "runtime",
		  "deadline", "period", "slice", "uclamp_min", "uclamp_max", "affinity", "group", "cookie", "footprint",
		  "slow_speed", "memory_share", "mm", "program", "loops", NULL);
	t->name = json_get_text(obj, at, "name", "task");
	t->count = json_get_int(obj, at, "count", 1, 1000000, 1);
	t->start = json_get_time(obj, at, "start", 0);
	t->stagger = json_get_time(obj, at, "stagger", 0);
	if (t->start + (double)t->stagger * (t->count - 1) > LONGEST_TIME)
		json_error_at(AT(at, "stagger"), "the last of %d starts after more than %.15gs", t->count,
			      LONGEST_TIME / 1e9);
	t->has_attr = read_attr(obj, at, &t->attr);
	if (json_object_get(obj, "affinity")) {
		read_affinity(json_object_get(obj, "affinity"), AT(at, "affinity"), t->affinity);
		t->has_affinity = 1;
	}
	t->group = group_name(obj, at);
	t->cookie = read_cookie(obj, at, "cookie");
	if (json_object_get(obj, "footprint"))
		t->footprint_kb = json_kb(json_object_get(obj, "footprint"), AT(at, "footprint"));
	t->slow_ratio = json_get_num(obj, at, "slow_speed", 0.01, 1, 0) * 65536;
	t->memory_share = json_get_num(obj, at, "memory_share", 0, 1, 0) * 1024;
	t->mm = json_get_int(obj, at, "mm", 0, scenario.nr_memory - 1, -1);
	t->loops = json_get_int(obj, at, "loops", 0, 1L << 40, 0);
	program_read(json_need(obj, at, "program"), AT(at, "program"), &t->program);
}

static const char *beside_scenario(const char *name, char *path, size_t size)
{
	const char *slash = strrchr(json_file, '/');

	snprintf(path, size, "%.*s%s", *name != '/' && slash ? (int)(slash - json_file + 1) : 0, json_file, name);
	return path;
}

/* An option of a workload: a text as on its command line, a number, true or false. */
static void read_option(json_t *v, const struct path *at, struct wl_values *values, int index)
{
	char number[40], path[1000], why[200];
	const char *text = number;

	if (values->workload->options[index].kind == WL_PATH)
		text = beside_scenario(json_text(v, at), path, sizeof(path));
	else if (json_is_string(v))
		text = json_string_value(v);
	else if (json_is_integer(v) || json_is_boolean(v))
		snprintf(number, sizeof(number), "%lld", json_is_integer(v) ? json_integer_value(v) :
			 (json_int_t)json_is_true(v));
	else if (json_is_real(v))
		snprintf(number, sizeof(number), "%.17g", json_real_value(v));
	else
		json_error_at(at, "a text, a number, true or false is expected");
	if (wl_value_parse(values, index, text, why, sizeof(why)))
		json_error_at(at, "%s", why);
}

static const struct workload *read_kind(json_t *obj, const struct path *at)
{
	const char *kind = json_text(json_need(obj, at, "kind"), AT(at, "kind"));
	const struct workload *found = wl_find(kind);
	char known[1000] = "";

	if (found)
		return found;
	for_each_workload(w)
		snprintf(known + strlen(known), sizeof(known) - strlen(known), "%s%s", *known ? ", " : "",
			 (*w)->name);
	json_error_at(AT(at, "kind"), "no workload \"%s\"; there are %s", kind, known);
}

/* The attributes of a task that are not options of a workload. */
static const char *const inherited[] = { "policy", "nice", "priority", "slice" };

static int is_inherited(const char *key)
{
	for (size_t i = 0; i < sizeof(inherited) / sizeof(inherited[0]); i++)
		if (!strcmp(key, inherited[i]))
			return 1;
	return 0;
}

static void read_inherited(json_t *obj, const struct path *at, struct instance *instance)
{
	json_t *own = json_object(), *v;
	const char *key;

	json_object_foreach(obj, key, v)
		if (is_inherited(key))
			json_object_set(own, key, v);
	instance->has_attr = read_attr(own, at, &instance->attr);
	if (scenario.workloads_policy && !json_object_size(own)) {
		instance->attr = scenario.workloads_attr;
		instance->has_attr = instance->begins_as_all = 1;
	}
	json_decref(own);
}

static void read_workload(json_t *obj, const struct path *at, struct instance *instance)
{
	const struct workload *w = read_kind(obj, at);
	const char *key;
	json_t *v;

	wl_values_init(&instance->values, w);
	instance->label = json_get_text(obj, at, "label", w->name);
	instance->group = group_name(obj, at) ?: scenario.workloads_group;
	instance->cookie = read_cookie(obj, at, "cookie") ?: scenario.workloads_cookie;
	instance->start = json_get_time(obj, at, "start", 0);
	if (json_object_get(obj, "affinity")) {
		read_affinity(json_object_get(obj, "affinity"), AT(at, "affinity"), instance->affinity);
		instance->has_affinity = 1;
	}
	read_inherited(obj, at, instance);
	instance->results = json_array();
	json_object_foreach(obj, key, v) {
		int index = wl_option_index(w, key);

		if (!strcmp(key, "kind") || !strcmp(key, "label") || !strcmp(key, "group") ||
		    !strcmp(key, "start") || !strcmp(key, "affinity") || !strcmp(key, "cookie") || is_inherited(key))
			continue;
		if (index < 0)
			json_error_at(AT(at, key), "unknown key; schedlab-load %s --help lists its options", w->name);
		read_option(v, AT(at, key), &instance->values, index);
	}
}

static int is_dots(const char *name, size_t length)
{
	return length <= 2 && !memcmp(name, "..", length);
}

/* What mkdir() in a cgroup file system refuses, and a group that is there already. */
static void check_group_path(const char *path, const struct path *at)
{
	size_t length = strlen(path), name = 0;
	char parent[PATH_MAX] = "";

	if (path[0] != '/' || !path[1])
		json_error_at(at, "\"%s\" does not begin with / and a name", path);
	if (length >= PATH_MAX)
		json_error_at(at, "%zu bytes long; a path has at most %d", length, PATH_MAX - 1);
	for (size_t start = 1; start <= length; start += name + 1) {
		const char *part = path + start;

		name = strcspn(part, "/");
		if (name > NAME_MAX)
			json_error_at(at, "a name in it is %zu bytes long; a name has at most %d", name, NAME_MAX);
		if (is_dots(part, name) || memchr(part, '\n', name))
			json_error_at(at, "\"%s\": names are not empty, . or .., and have no line break", path);
	}
	if (json_object_get(group_paths, path))
		json_error_at(at, "\"%s\" is in groups twice", path);
	memcpy(parent, path, length - name - 1);
	if (*parent && !json_object_get(group_paths, parent))
		json_error_at(at, "its parent \"%s\" is not in groups before it", parent);
	json_object_set_new(group_paths, path, json_true());
}

/* Not cpuset.mems: memory is where its region says. */
static int is_cpuset_file(const char *name)
{
	return !strncmp(name, "cpuset.cpus", 11) && (!name[11] || name[11] == '.');
}

/*
 * As cgroup.subtree_control has it: every group has one whose parent has such a group somewhere
 * below.
 */
int has_own_cpuset(const char *group)
{
	size_t parent = strrchr(group, '/') - group;

	for (int i = 0; i < scenario.nr_groups; i++) {
		const struct group_spec *g = &scenario.groups[i];

		if (g->has_cpuset && !strncmp(g->path, group, parent) && g->path[parent] == '/')
			return 1;
	}
	return 0;
}

static void read_group(json_t *obj, const struct path *at, struct group_spec *g)
{
	const char *key;
	json_t *v;

	g->path = json_text(json_need(obj, at, "path"), AT(at, "path"));
	check_group_path(g->path, AT(at, "path"));
	json_object_foreach(obj, key, v) {
		if (!strcmp(key, "path"))
			continue;
		if (strncmp(key, "cpu.", 4) && !is_cpuset_file(key))
			json_error_at(AT(at, key), "unknown key; files of a group are cpu.weight, cpu.max, ..., "
				      "cpuset.cpus, cpuset.cpus.exclusive and cpuset.cpus.partition");
		if (is_cpuset_file(key) && !kern_has_cpusets())
			json_error_at(AT(at, key), "this kernel is built without CPUSETS; `schedlab kernel build NAME "
				      "--config FILE` with a line CONFIG_CPUSETS=y has it");
		g->has_cpuset |= is_cpuset_file(key);
		if (g->nr_files == 8)
			json_error_at(at, "more than 8 files");
		g->file[g->nr_files].name = key;
		g->file[g->nr_files++].value = json_text(v, AT(at, key));
	}
}

/* One thing happens at a time: how many of the keys are there? */
static int any_of(json_t *obj, const char *const *keys)
{
	int n = 0;

	for (; *keys; keys++)
		n += !!json_object_get(obj, *keys);
	return n;
}

static void check_action(json_t *obj, const struct path *at)
{
	static const char *const verbs[] = { "offline", "online", "write", "task", NULL };
	static const char *const places[] = { "group", "affinity", NULL };
	static const char *const attributes[] = { "policy", "nice", "priority", "runtime", "deadline", "period", "slice",
						  "uclamp_min", "uclamp_max", NULL };
	int task, changes;

	json_only(obj, at, "at", "offline", "online", "task", "group", "write", "value", "affinity",
		  "policy", "nice", "priority", "runtime", "deadline", "period", "slice", "uclamp_min",
		  "uclamp_max", NULL);
	if (any_of(obj, verbs) != 1)
		json_error_at(at, "one of offline, online, write and task is expected");
	task = !!json_object_get(obj, "task");
	changes = any_of(obj, places) + !!any_of(obj, attributes);
	if (changes != task)
		json_error_at(at, task ? "one of group, affinity and a policy's attributes is expected" :
			      "group, affinity and a policy's attributes are a task's");
	if (json_object_get(obj, "value") && !json_object_get(obj, "write"))
		json_error_at(AT(at, "value"), "only a write has one");
}

static void read_action(json_t *obj, const struct path *at, struct action *a)
{
	check_action(obj, at);
	a->at = json_time(json_need(obj, at, "at"), AT(at, "at"));
	if (!scenario.end_when_done && a->at >= scenario.duration)
		json_error_at(AT(at, "at"), "%.15g ms is not before the end of the run at %.15g ms", a->at / 1e6,
			      scenario.duration / 1e6);
	a->task = json_get_text(obj, at, "task", NULL);
	if (json_object_get(obj, "offline")) {
		a->kind = ACTION_OFFLINE;
		a->cpu = json_int(json_object_get(obj, "offline"), AT(at, "offline"), 0, hw_nr_cpus - 1);
	} else if (json_object_get(obj, "online")) {
		a->kind = ACTION_ONLINE;
		a->cpu = json_int(json_object_get(obj, "online"), AT(at, "online"), 0, hw_nr_cpus - 1);
	} else if (json_object_get(obj, "write")) {
		a->kind = ACTION_WRITE;
		a->path = json_text(json_object_get(obj, "write"), AT(at, "write"));
		a->value = json_text(json_need(obj, at, "value"), AT(at, "value"));
	} else if (json_object_get(obj, "group")) {
		a->kind = ACTION_MOVE;
		a->group = group_name(obj, at);
	} else if (json_object_get(obj, "affinity")) {
		a->kind = ACTION_AFFINITY;
		read_affinity(json_object_get(obj, "affinity"), AT(at, "affinity"), a->affinity);
	} else {
		a->kind = ACTION_ATTR;
		read_attr(obj, at, &a->attr);
	}
}

static const struct {
	const char *name;
	unsigned char *modelled;
} mechanisms[] = {
#define MECHANISM(name)	{ #name, &hw_mechanisms.name },
	HW_MECHANISMS(MECHANISM)
#undef MECHANISM
};

#define NAME_OF(name)	", " #name
static const char mechanism_names[] = HW_MECHANISMS(NAME_OF);
#undef NAME_OF

static void read_ablate(json_t *list, const struct path *at)
{
	json_t *v;
	size_t i, m;

	if (!json_is_array(list))
		json_error_at(at, "a list is expected");
	json_array_foreach(list, i, v) {
		const char *name = json_text(v, AT_INDEX(at, i));

		for (m = 0; m < sizeof(mechanisms) / sizeof(mechanisms[0]); m++)
			if (!strcmp(name, mechanisms[m].name))
				break;
		if (m == sizeof(mechanisms) / sizeof(mechanisms[0]))
			json_error_at(AT_INDEX(at, i), "no mechanism \"%s\": %s", name, mechanism_names + 2);
		*mechanisms[m].modelled = 0;
	}
}

static void read_end(json_t *obj, const struct path *at)
{
	const char *when;

	json_only(obj, at, "when", "max_simulated", "max_host", NULL);
	when = json_get_text(obj, at, "when", "duration");
	if (strcmp(when, "duration") && strcmp(when, "workloads_done"))
		json_error_at(AT(at, "when"), "duration or workloads_done");
	scenario.end_when_done = !strcmp(when, "workloads_done");
	scenario.max_simulated = json_get_time(obj, at, "max_simulated", HW_NEVER);
	scenario.max_host = json_get_num(obj, at, "max_host", 1, 1e9, 0);
	if (scenario.end_when_done && scenario.max_simulated == HW_NEVER)
		json_error_at(AT(at, "max_simulated"), "missing: workloads_done needs a bound on simulated time");
}

static void read_memory(json_t *obj, const struct path *at, struct memory_spec *m)
{
	const char *page;

	json_only(obj, at, "size", "page", "node", NULL);
	m->bytes = (unsigned long)json_kb(json_need(obj, at, "size"), AT(at, "size")) << 10;
	page = json_get_text(obj, at, "page", m->bytes < 2 << 20 ? "4KiB" : "2MiB");
	m->huge = !strcmp(page, "2MiB");
	if (!m->huge && strcmp(page, "4KiB"))
		json_error_at(AT(at, "page"), "4KiB or 2MiB");
	m->node = json_get_int(obj, at, "node", 0, hw_nr_nodes - 1, -1);
}

/* CPUs that are set apart at boot, as the kernel's parameters name them. */
static const char *read_apart(json_t *v, const struct path *at)
{
	unsigned long apart[HW_MAX_CPUS / 64] = { };
	const char *list = json_text(v, at);
	int count = 0;

	if (strlen(list) >= KERN_ISOLCPUS)
		json_error_at(at, "more than %d characters", KERN_ISOLCPUS - 1);
	read_affinity(v, at, apart);
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		count += apart[cpu / 64] >> cpu % 64 & 1;
	if (count == 0 || count == hw_nr_cpus)
		json_error_at(at, "some CPUs, and not all");
	return list;
}

/* CPU 0 keeps the time. */
static const char *read_nohz_full(json_t *v, const struct path *at)
{
	const char *list = read_apart(v, at);

	if (!kern_has_nohz_full())
		json_error_at(at, "this kernel is built without NO_HZ_FULL; `schedlab kernel build NAME --config FILE` with "
			      "a line CONFIG_NO_HZ_FULL=y has it");
	return list;
}

/* A kernel without PSI would take the option and do nothing. */
static void read_psi(json_t *v, const struct path *at)
{
	int err = kern_psi_option(json_text(v, at));

	if (err == -EOPNOTSUPP)
		json_error_at(at, "this kernel is built without PSI; `schedlab kernel build NAME --config FILE` with a line "
			      "CONFIG_PSI=y has it");
	if (err)
		json_error_at(at, "\"%s\": 0 or 1 is expected", json_string_value(v));
	scenario.sets_psi = 1;
}

/* What would stand on the kernel's command line. */
static void read_boot(json_t *obj, const struct path *at)
{
	json_only(obj, at, "isolcpus", "nohz_full", "psi", NULL);
	if (json_object_get(obj, "isolcpus"))
		scenario.isolcpus = read_apart(json_object_get(obj, "isolcpus"), AT(at, "isolcpus"));
	if (json_object_get(obj, "nohz_full"))
		scenario.nohz_full = read_nohz_full(json_object_get(obj, "nohz_full"), AT(at, "nohz_full"));
	if (json_object_get(obj, "psi"))
		read_psi(json_object_get(obj, "psi"), AT(at, "psi"));
}

/* Groups above one that no list has: the kernel's mkdir -p. */
static void add_parents(const char *path, const struct path *at)
{
	for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		char *parent = hw_zalloc(slash - path + 1, 16);

		memcpy(parent, path, slash - path);
		if (json_object_get(group_paths, parent))
			continue;
		check_group_path(parent, at);
		scenario.groups[scenario.nr_groups++].path = parent;
	}
}

static int nr_slashes(const char *path)
{
	int n = 0;

	for (; *path; path++)
		n += *path == '/';
	return n;
}

/* A group for the workloads that name none: the last one. */
static void read_cgroup(json_t *obj, const struct path *at)
{
	const char *path = json_text(json_need(obj, at, "path"), AT(at, "path"));
	struct group_spec *more = hw_zalloc((scenario.nr_groups + nr_slashes(path) + 1) * sizeof(*more), 64);

	memcpy(more, scenario.groups, scenario.nr_groups * sizeof(*more));
	scenario.groups = more;
	if (*path == '/')
		add_parents(path, AT(at, "path"));
	read_group(obj, at, &scenario.groups[scenario.nr_groups++]);
	scenario.workloads_group = path;
}

/* What is for the workloads must have one that takes it. */
static void refuse_without_effect(void)
{
	int in_group = 0, begins = 0;

	for (int i = 0; i < scenario.nr_workloads; i++)
		in_group += scenario.workloads[i].group == scenario.workloads_group;
	if (scenario.workloads_group && !in_group)
		json_error_at(AT(NULL, "cgroup"),
			      "no workload is in it: there is none, or each names a group of its own");
	for (int i = 0; i < scenario.nr_workloads; i++)
		begins += scenario.workloads[i].begins_as_all;
	if (scenario.workloads_policy && !begins)
		json_error_at(AT(NULL, "scheduling"),
			      "no workload begins with it: there is none, or each names a policy of its own");
	if (scenario.workloads_cookie && !scenario.nr_workloads)
		json_error_at(AT(AT(NULL, "core_sched"), "workloads"), "there is no workload; a task takes `cookie`");
}

static void read_core_sched(json_t *obj, const struct path *at)
{
	json_only(obj, at, "workloads", NULL);
	scenario.workloads_cookie = read_cookie(obj, at, "workloads");
}

/* By group, as they are linked: a group comes behind those above it. */
static void check_sub_schedulers(void)
{
	const struct path *at = AT(NULL, "sched_ext_below");
	const char *group, *source;
	unsigned int nr = 0;
	json_t *v;

	if (json_object_size(scenario.sub_schedulers) && !scenario.scheduler)
		json_error_at(at, "a sub-scheduler needs a scheduler: sched_ext");
	json_object_foreach(scenario.sub_schedulers, group, v) {
		source = kern_scx_choose(++nr, NULL);
		if (!source || strcmp(source, json_text(v, AT(at, group))))
			json_error_at(AT(at, group), "\"%s\": this build of the simulator has %s there",
				      json_text(v, AT(at, group)), source ?: "none");
		if (!kern_scx_has_subs())
			json_error_at(AT(at, group), "this kernel has no sub-schedulers of sched_ext; Linux has them from 7.3 on");
		if (!json_object_get(group_paths, group))
			json_error_at(AT(at, group), "the scenario has no group of this path");
	}
}

/* What the tasks of workloads begin with that name nothing of it. */
static void read_scheduling(json_t *obj, const struct path *at)
{
	static char text[100];
	int length;

	json_only(obj, at, "policy", "nice", "priority", "slice", NULL);
	read_attr(obj, at, &scenario.workloads_attr);
	length = snprintf(text, sizeof(text), "%s", json_get_text(obj, at, "policy", "normal"));
	if (scenario.workloads_attr.rt_priority)
		length += snprintf(text + length, sizeof(text) - length, " priority=%d",
				   scenario.workloads_attr.rt_priority);
	if (json_object_get(obj, "nice"))
		length += snprintf(text + length, sizeof(text) - length, " nice=%d", scenario.workloads_attr.nice);
	if (json_object_get(obj, "slice"))
		snprintf(text + length, sizeof(text) - length, " slice=%s", json_get_text(obj, at, "slice", ""));
	scenario.workloads_policy = text;
}

static json_t *read_object(json_t *root, const char *key)
{
	json_t *v = json_object_get(root, key);

	if (v && !json_is_object(v))
		json_error_at(AT(NULL, key), "an object is expected");
	return v;
}

/* Reads every element of an optional list into a new array. */
#define read_list(key, array, nr, fn)						\
do {										\
	json_t *list_ = json_object_get(root, key), *obj_;			\
	size_t i_;								\
										\
	if (list_ && !json_is_array(list_))					\
		json_error_at(AT(NULL, key), "a list is expected");		\
	array = hw_zalloc((json_array_size(list_) + 1) * sizeof(*array), 64); \
	json_array_foreach(list_, i_, obj_)					\
		fn(obj_, AT_INDEX(AT(NULL, key), i_), &array[i_]);		\
	nr = json_array_size(list_);						\
} while (0)

static void read_sched_ext(json_t *obj, const struct path *at)
{
	const char *source = kern_scx_choose(0, NULL);

	json_only(obj, at, "scheduler", NULL);
	scenario.scheduler = json_text(json_need(obj, at, "scheduler"), AT(at, "scheduler"));
	if (!source)
		json_error_at(at, "this build of the simulator has no sched_ext scheduler");
	if (strcmp(source, scenario.scheduler))
		json_error_at(AT(at, "scheduler"), "\"%s\": this build of the simulator has %s", scenario.scheduler, source);
}

/* A time, or until the state has settled. */
static void read_warmup(json_t *root)
{
	json_t *v = json_object_get(root, "warmup");

	scenario.until_settled = json_is_string(v) && !strcmp(json_string_value(v), "settled");
	scenario.wind = json_get_flag(root, NULL, "wind_clocks", 1);
	if (json_object_get(root, "wind_clocks") && !scenario.until_settled)
		json_error_at(AT(NULL, "wind_clocks"), "only where warmup is \"settled\"");
	if (v && !scenario.until_settled)
		scenario.warmup = json_time(v, AT(NULL, "warmup"));
}

/* Whether the machine does besides what its file says; files had a number of daemons before. */
static int read_background(json_t *root)
{
	if (json_is_integer(json_object_get(root, "background")))
		return json_get_int(root, NULL, "background", 0, 100000, 0) > 0;
	return json_get_flag(root, NULL, "background", 0);
}

void scenario_read(const char *path)
{
	json_t *root = json_read(path);

	json_only(root, NULL, "name", "duration", "warmup", "wind_clocks", "settle", "features", "knobs", "cpuidle",
		  "cpufreq", "core_sched", "scheduling", "cgroup", "boot", "groups", "sched_ext", "sched_ext_tunables", "sched_ext_below",
		  "tasks", "workloads", "actions", "background", "ablate", "memory", "picture", "end", NULL);
	scenario.duration = json_time(json_need(root, NULL, "duration"), AT(NULL, "duration"));
	read_warmup(root);
	scenario.settle = json_get_time(root, NULL, "settle", 0);
	if (scenario.warmup > scenario.duration)
		json_error_at(AT(NULL, "warmup"), "longer than the duration");
	scenario.background = read_background(root);
	if (json_get_flag(root, NULL, "picture", 0))
		hw_ask_picture();
	scenario.features = read_object(root, "features");
	scenario.knobs = read_object(root, "knobs");
	scenario.cpuidle = read_object(root, "cpuidle");
	scenario.cpufreq = read_object(root, "cpufreq");
	if (json_object_get(root, "sched_ext"))
		read_sched_ext(read_object(root, "sched_ext"), AT(NULL, "sched_ext"));
	scenario.sched_ext_tunables = read_object(root, "sched_ext_tunables");
	scenario.sub_schedulers = read_object(root, "sched_ext_below");
	scenario.max_simulated = HW_NEVER;
	if (json_object_get(root, "end"))
		read_end(json_object_get(root, "end"), AT(NULL, "end"));
	if (json_object_get(root, "ablate"))
		read_ablate(json_object_get(root, "ablate"), AT(NULL, "ablate"));
	if (json_object_get(root, "boot"))
		read_boot(read_object(root, "boot"), AT(NULL, "boot"));
	if (json_object_get(root, "core_sched"))
		read_core_sched(read_object(root, "core_sched"), AT(NULL, "core_sched"));
	if (json_object_get(root, "scheduling"))
		read_scheduling(read_object(root, "scheduling"), AT(NULL, "scheduling"));
	group_paths = json_object();
	read_list("groups", scenario.groups, scenario.nr_groups, read_group);
	if (json_object_get(root, "cgroup"))
		read_cgroup(read_object(root, "cgroup"), AT(NULL, "cgroup"));
	check_sub_schedulers();
	read_list("memory", scenario.memory, scenario.nr_memory, read_memory);
	read_list("tasks", scenario.tasks, scenario.nr_tasks, read_task);
	read_list("workloads", scenario.workloads, scenario.nr_workloads, read_workload);
	read_list("actions", scenario.actions, scenario.nr_actions, read_action);
	refuse_without_effect();
	if (scenario.nr_workloads == 1)
		scenario.workloads->measures = 1;
	if (scenario.end_when_done && !scenario.nr_workloads)
		json_error_at(AT(AT(NULL, "end"), "when"), "workloads_done, but there is no workload");
}
