// SPDX-License-Identifier: GPL-2.0-only
/* Pid 1: applies the scenario's settings, starts its tasks, performs its actions. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "instance.h"
#include "scenario.h"

struct sim_task *all_tasks;
simtime origin;
int workloads_running;
unsigned long tasks_started;

static struct sim_task *last_task;
static int next_pid = 2;

void workload_done(void)
{
	if (!--workloads_running)
		cpu_set_control(kern_now());
}

struct sim_task *sim_first_task(void)
{
	return all_tasks;
}

static void set_working_set(struct sim_task *t)
{
	const struct wl_working_set *set = &t->instance->values.workload->working_set;

	t->working_set = (struct sim_working_set) {
		.process = set->process, .child = set->child, .thread = set->thread,
		.stack = set->stack,
	};
}

/*
 * A new child of the calling task.  number < 0: named as given; -2: a thread.
 * Runs on the caller's time, as fork() does.
 */
struct sim_task *launch_task(const char *comm, int number, void (*main)(struct sim_task *), void *arg)
{
	struct sim_task *t = sim_zalloc(sizeof(*t), 64), *parent = cpus[sim.cpu].task;
	char name[32] = "";

	tasks_started++;
	t->pid = next_pid++;
	if (number > 0)
		snprintf(name, sizeof(name), "%.9s%d", comm, number);
	else
		snprintf(name, sizeof(name), "%.15s", comm);
	memcpy(t->comm, name, sizeof(t->comm) - 1);
	t->main = main;
	t->arg = arg;
	t->mem_node = -1;
	t->instance = parent ? parent->instance : NULL;
	if (t->instance)
		set_working_set(t);
	t->is_thread = number == -2;
	t->chance = sim_random();
	t->previous = last_task;
	if (last_task)
		last_task->next = t;
	else
		all_tasks = t;
	last_task = t;
	kern_fork(t, t->is_thread ? KERN_THREAD : 0);
	return t;
}

void launch_workload(const char *comm, void (*main)(struct sim_task *), struct instance *instance)
{
	struct sim_task *init = cpus[sim.cpu].task;

	init->instance = instance;
	launch_task(comm, 0, main, instance);
	init->instance = NULL;
}

/* Its results are of no interest and nobody holds it any more. */
void task_free(struct sim_task *task)
{
	if (task->measured)
		return;
	if (task->previous)
		task->previous->next = task->next;
	else
		all_tasks = task->next;
	if (task->next)
		task->next->previous = task->previous;
	else
		last_task = task->previous;
	kern_futex_forget(&task->thread);
	sim_free(task);
}

void sim_task_released(struct sim_task *task)
{
	task->released = 1;
	if (task->joined)
		task_free(task);
}

static void check(int err, const char *what, const char *name)
{
	if (err < 0)
		usage_error("%s %s: %s", what, name, strerror(-err));
}

static void start_one(struct task_spec *spec, int number)
{
	struct sim_task *t = launch_task(spec->name, spec->count > 1 ? number + 1 : 0,
					 program_main, spec);

	t->measured = 1;
	t->footprint_kb = spec->footprint_kb;
	t->slow_ratio = spec->slow_ratio;
	t->memory_share = spec->memory_share;
	if (spec->group)
		check(kern_cgroup_attach(t, spec->group), "group", spec->group);
	if (spec->has_affinity)
		check(kern_setaffinity(t, spec->affinity, sim_nr_cpus), "affinity of", t->comm);
	if (spec->has_attr)
		check(kern_setattr(t, &spec->attr), "attributes of", t->comm);
}

static void daemon_main(struct sim_task *task)
{
	uint64_t rng = sim_random();

	(void)task;
	for (;;) {
		kern_run(60000);
		kern_sleep(2 * MSEC + rng_next(&rng) % (4 * MSEC));
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

		check(kern_cgroup_create(g->path), "creating group", g->path);
		for (int f = 0; f < g->nr_files; f++)
			check(kern_cgroup_write(g->path, g->file[f].name, g->file[f].value),
			      g->path, g->file[f].name);
	}
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

static void act_on_task(const struct action *a, struct sim_task *t)
{
	int err;

	if (a->kind == ACTION_MOVE)
		err = kern_cgroup_attach(t, a->group ? a->group : "/");
	else if (a->kind == ACTION_AFFINITY)
		err = kern_setaffinity(t, a->affinity, sim_nr_cpus);
	else
		err = kern_setattr(t, &a->attr);
	/* it may have ended by now, as a process may between ps and kill */
	if (err != -ESRCH)
		check(err, "changing task", t->comm);
}

static void perform(const struct action *a)
{
	char cpu[16];

	snprintf(cpu, sizeof(cpu), "CPU %d", a->cpu);
	switch (a->kind) {
	case ACTION_OFFLINE:
		check(kern_cpu_down(a->cpu), "off-line", cpu);
		break;
	case ACTION_ONLINE:
		check(kern_cpu_up(a->cpu), "on-line", cpu);
		break;
	case ACTION_WRITE:
		setting_write(a->path, a->value);
		setting_check(a->path, a->value);
		break;
	default:
		for (struct sim_task *t = all_tasks; t; t = t->next)
			if (t->kernel && !fnmatch(a->task, t->comm, 0))
				act_on_task(a, t);
	}
}

static struct step *plan(int *nr)
{
	int n = 0, total = scenario.nr_workloads + scenario.nr_actions;
	struct step *steps;

	for (int i = 0; i < scenario.nr_tasks; i++)
		total += scenario.tasks[i].count;
	steps = sim_zalloc((total + 1) * sizeof(*steps), 64);
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

void scenario_main(struct sim_task *init)
{
	struct step *steps;
	int nr;

	(void)init;
	workloads_running = scenario.nr_workloads;
	/* Every CPU has had its first ticks and runs its timers in high resolution. */
	kern_sleep(8 * SEC / kern_hz);
	settings_apply();
	create_surroundings();
	kern_spread_balance();
	for (int i = 0; i < scenario.background; i++)
		launch_task("daemon", 0, daemon_main, NULL);
	kern_setsid();
	/* Blocks differ by their seed also in how they lie against the ticks. */
	kern_sleep(scenario.settle + sim_random() % (SEC / kern_hz));
	/* The engine's own loop sees the beginning at that very moment. */
	origin = kern_now() + 1000;
	cpu_set_control(origin);
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
