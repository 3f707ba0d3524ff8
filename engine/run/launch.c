// SPDX-License-Identifier: GPL-2.0-only
/* Pid 1: applies the scenario's settings, starts its tasks, performs its actions. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "instance.h"
#include "json.h"
#include "scenario.h"

static void check(int err, const char *what, const char *name)
{
	if (err < 0)
		hw_refuse("%s %s: %s", what, name, strerror(-err));
}

/* Deadline tasks have to fit into what sched_rt_runtime_us grants. */
static void check_attr(int err, const struct kern_attr *attr, const char *name)
{
	if (attr->dl_period && (err == -EBUSY || err == -EPERM))
		hw_refuse("attributes of %s: %s; runtime / period of all deadline tasks together may be what "
			    "kernel.sched_rt_runtime_us leaves, and they may use all CPUs only", name, strerror(-err));
	if (err == -EOPNOTSUPP && (attr->uclamp_min >= 0 || attr->uclamp_max >= 0))
		hw_refuse("attributes of %s: uclamp: this kernel is built without UCLAMP_TASK "
			  "(`schedlab kernel show NAME`: configuration)", name);
	check(err, "attributes of", name);
}

static void start_one(struct task_spec *spec, int number)
{
	struct task *t = task_launch(spec->name, spec->count > 1 ? number + 1 : 0,
					program_main, spec);

	t->measured = 1;
	t->footprint_kb = spec->footprint_kb;
	t->slow_ratio = spec->slow_ratio;
	t->memory_share = spec->memory_share;
	if (spec->group)
		check(kern_cgroup_attach(&t->kern, spec->group), "group", spec->group);
	if (spec->has_affinity)
		check(kern_setaffinity(&t->kern, spec->affinity, hw_nr_cpus), "affinity of", t->comm);
	if (spec->has_attr)
		check_attr(kern_setattr(&t->kern, &spec->attr), &spec->attr, t->comm);
	if (waits_to_be_placed(spec)) {
		t->placed = 1;
		kern_futex_wake(&t->placed, 1);
	}
}

/* ------------------------------------------------------------------ memory and groups */

static void create_surroundings(void)
{
	for (int i = 0; i < scenario.nr_memory; i++)
		scenario.memory[i].region = kern_memory_create(scenario.memory[i].bytes,
							       scenario.memory[i].huge,
							       scenario.memory[i].node);
	for (int i = 0; i < scenario.nr_groups; i++) {
		struct group_spec *g = &scenario.groups[i];

		check(kern_cgroup_create(g->path, has_own_cpuset(g->path)), "creating group", g->path);
		for (int f = 0; f < g->nr_files; f++)
			group_write(g->path, g->file[f].name, g->file[f].value);
		for (int f = 0; f < g->nr_files; f++)
			group_check(g->path, g->file[f].name, g->file[f].value);
		hw_progress();
	}
}

/* Those that tasks share are there before them, and stay. */
static void create_cookies(void)
{
	for (struct cookie *cookie = scenario.cookies; cookie; cookie = cookie->next)
		if (strcmp(cookie->name, EACH_PROCESS))
			cookie->value = kern_core_cookie();
}

/* Tasks that pid 1 starts belong to the session that starts them; its group's parents come first. */
static void enter_session(struct kern_task *init)
{
	char path[4096];

	snprintf(path, sizeof(path), "%s", hw_machine.session);
	for (char *end = strchr(path + 1, '/'); end; end = strchr(end + 1, '/')) {
		*end = 0;
		kern_cgroup_create(path, has_own_cpuset(path));	/* or it is there */
		*end = '/';
	}
	kern_cgroup_create(path, has_own_cpuset(path));
	check(kern_cgroup_attach(init, path), "session", path);
}

/* ------------------------------------------------------------------ what happens when */

struct step {
	simtime at;
	int order;			/* as written, for equal times */
	struct task_spec *spec;
	int number;
	struct instance *workload;
	struct action *action;
};

static int by_time(const void *a, const void *b)
{
	const struct step *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	return x->order - y->order;
}

#define action_error(a, ...) \
	json_error_at(AT_INDEX(AT(NULL, "actions"), (a) - scenario.actions), __VA_ARGS__)

static void off_line(const struct action *a)
{
	int err = kern_cpu_down(a->cpu);

	if (err < 0)
		action_error(a, "offline %d: %s: %s", a->cpu, strerror(-err), err == -EINVAL ?
			     "it is off-line already" :
			     "no other CPU is on-line or in its partition, or deadline tasks have reserved what the others "
			     "cannot give");
}

static void on_line(const struct action *a)
{
	int err = kern_cpu_up(a->cpu);

	if (err < 0)
		action_error(a, "online %d: %s: it is on-line already", a->cpu, strerror(-err));
}

static void act_on_task(const struct action *a, struct task *t)
{
	int err;

	if (a->kind == ACTION_MOVE)
		err = kern_cgroup_attach(&t->kern, a->group ? a->group : "/");
	else if (a->kind == ACTION_AFFINITY)
		err = kern_setaffinity(&t->kern, a->affinity, hw_nr_cpus);
	else
		err = kern_setattr(&t->kern, &a->attr);
	if (err != -ESRCH && a->kind == ACTION_ATTR)
		check_attr(err, &a->attr, t->comm);
	/* it may have ended by now, as a process may between ps and kill */
	if (err != -ESRCH)
		check(err, "changing task", t->comm);
}

static void act_on_tasks(const struct action *a)
{
	int found = 0;

	for_each_task(t)
		if (t->kernel && !fnmatch(a->task, t->comm, 0)) {
			act_on_task(a, t);
			found = 1;
		}
	if (!found)
		action_error(a, "no task is called \"%s\" at that time", a->task);
}

/* A file of a group, by the path that it has on a host. */
static int write_to_group(const struct action *a)
{
	const char *path = a->path + strlen(CGROUPS), *file = strrchr(a->path, '/') + 1;
	static char group[4096];

	if (strncmp(a->path, CGROUPS "/", strlen(CGROUPS "/")))
		return 0;
	if (!strncmp(file, "cpuset.mems", 11))
		action_error(a, "%s: cpuset.mems is not simulated: memory is where its region says", a->path);
	snprintf(group, sizeof(group), "%.*s", (int)(file - path - 1), path);
	group_write(*group ? group : "/", file, a->value);
	group_check(*group ? group : "/", file, a->value);
	return 1;
}

static void perform(struct action *a)
{
	switch (a->kind) {
	case ACTION_OFFLINE:
		off_line(a);
		break;
	case ACTION_ONLINE:
		on_line(a);
		break;
	case ACTION_WRITE:
		if (write_to_group(a))
			break;
		setting_write(a->path, a->value);
		setting_check(a->path, a->value);
		break;
	default:
		act_on_tasks(a);
	}
	a->done = 1;
}

/*
 * A run in which not everything happened is not the one that the scenario describes.  The first
 * action that was not done is the one that the others wait for.
 */
void actions_check(void)
{
	const struct action *first = NULL;

	for (int i = 0; i < scenario.nr_actions; i++) {
		const struct action *a = &scenario.actions[i];

		if (!a->done && (!first || a->at < first->at))
			first = a;
	}
	if (first && origin + first->at < hw.clk)
		action_error(first, "was asked for at %.15g ms and was not done by the end (%.15g ms)",
			     first->at / 1e6, (hw.clk - origin) / 1e6);
}

static struct step *plan(int *nr)
{
	int n = 0, total = scenario.nr_workloads + scenario.nr_actions;
	struct step *steps;

	for (int i = 0; i < scenario.nr_tasks; i++)
		total += scenario.tasks[i].count;
	steps = hw_zalloc((total + 1) * sizeof(*steps), 64);
	for (int i = 0; i < scenario.nr_tasks; i++)
		for (int k = 0; k < scenario.tasks[i].count; k++, n++)
			steps[n] = (struct step) {
				.at = scenario.tasks[i].start + k * scenario.tasks[i].stagger,
				.order = n, .spec = &scenario.tasks[i], .number = k };
	for (int i = 0; i < scenario.nr_workloads; i++, n++)
		steps[n] = (struct step) { .at = scenario.workloads[i].start, .order = n,
					   .workload = &scenario.workloads[i] };
	for (int i = 0; i < scenario.nr_actions; i++, n++)
		steps[n] = (struct step) { .at = scenario.actions[i].at, .order = n,
					   .action = &scenario.actions[i] };
	qsort(steps, n, sizeof(*steps), by_time);
	*nr = n;
	return steps;
}

void scenario_main(struct kern_task *init)
{
	struct step *steps;
	int nr;

	/* Every CPU has had its first ticks and runs its timers in high resolution. */
	kern_sleep(8 * SEC / kern_hz);
	settings_apply();
	create_surroundings();
	sched_ext_load_below();
	create_cookies();
	kern_spread_balance();
	if (scenario.background)
		background_start();
	kern_setsid();
	if (hw_machine.session)
		enter_session(init);
	/* Blocks differ by their seed also in how they lie against the ticks. */
	kern_sleep(scenario.settle + hw_random() % (SEC / kern_hz));
	/* The engine's own loop sees the beginning at that very moment. */
	origin = kern_now() + 1000;
	hw_ask_control(origin);
	kern_run(2000);
	steps = plan(&nr);
	for (int i = 0; i < nr; i++) {
		if (origin + steps[i].at > kern_now())
			kern_sleep_until(origin + steps[i].at);
		if (steps[i].spec)
			start_one(steps[i].spec, steps[i].number);
		else if (steps[i].workload)
			instance_start(steps[i].workload);
		else
			perform(steps[i].action);
	}
	for (;;)
		kern_sleep(1000 * SEC);
}
