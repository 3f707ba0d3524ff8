// SPDX-License-Identifier: GPL-2.0-only
/* Pid 1: applies the scenario's settings, starts its tasks, performs its actions. */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "instance.h"
#include "scenario.h"

static void check(int err, const char *what, const char *name)
{
	if (err < 0)
		usage_error("%s %s: %s", what, name, strerror(-err));
}

static void start_one(struct task_spec *spec, int number)
{
	struct sim_task *t = task_launch(spec->name, spec->count > 1 ? number + 1 : 0,
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
	/* Every CPU has had its first ticks and runs its timers in high resolution. */
	kern_sleep(8 * SEC / kern_hz);
	settings_apply();
	create_surroundings();
	kern_spread_balance();
	for (int i = 0; i < scenario.background; i++)
		task_launch("daemon", 0, daemon_main, NULL);
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
