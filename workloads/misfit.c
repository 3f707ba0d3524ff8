// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test of the misfit series (LKML 2018): a short sysbench pinned to every big CPU, and
 * longer ones that may run anywhere.  When the short ones end, the big CPUs are there for those
 * on little ones.  How long each of the long ones took is the result; of several rounds, one
 * after the other, how long the longest of each took.
 */
#include <stdio.h>
#include "sysbench.h"

#define MAX_UNPINNED 100		/* each is a result */
#define MAX_ROUNDS 1000			/* so is each of these */

struct program {
	struct sysbench	bench;
	unsigned int	requests;
	unsigned long long divisions;
	int		cpu;			/* of a pinned one */
};

static int request(struct sysbench_thread *thread)
{
	const struct program *program = thread->bench->test;

	wl_divide(program->divisions);
	return 1;
}

static void sysbench(void *arg)
{
	struct program *program = arg;

	program->bench.event = request;
	program->bench.test = program;
	program->bench.threads = 1;
	program->bench.max_events = program->requests;
	sysbench_execute(&program->bench);
}

static void taskset(void *arg)
{
	struct program *program = arg;

	wl_pin_cpus(program->cpu, 1);
	wl_exec(sysbench, program);
}

/* The shell's children */
static void pinned(void *arg)
{
	wl_exec(taskset, arg);
}

static void unpinned(void *arg)
{
	wl_exec(sysbench, arg);
}

static int big_cpus(int *big)
{
	int top = 0, count = 0;

	for (int cpu = 0; cpu < wl_cpus(); cpu++)
		if (wl_capacity(cpu) > top)
			top = wl_capacity(cpu);
	for (int cpu = 0; cpu < wl_cpus(); cpu++)
		if (wl_capacity(cpu) == top)
			big[count++] = cpu;
	return count;
}

static double seconds(const struct program *program)
{
	return (double)(program->bench.end - program->bench.start) / WL_SEC;
}

static void write_tasks(const struct program *program, int count)
{
	for (int i = 0; i < count; i++) {
		char name[20];

		snprintf(name, sizeof(name), "time %d", i + 1);
		wl_result(name, seconds(&program[i]), "s");
	}
}

static double write_longest(int number, const struct program *program, int count)
{
	double longest = 0;
	char name[20];

	for (int i = 0; i < count; i++)
		if (seconds(&program[i]) > longest)
			longest = seconds(&program[i]);
	snprintf(name, sizeof(name), "longest %d", number);
	wl_result(name, longest, "s");
	return longest;
}

static double sum_of(const struct program *program, int count)
{
	double sum = 0;

	for (int i = 0; i < count; i++)
		sum += seconds(&program[i]);
	return sum;
}

static void run_round(struct program *on_big, int nr_big, struct program *anywhere, int count)
{
	for (int i = 0; i < nr_big; i++)
		wl_fork("pinned", pinned, &on_big[i]);
	for (int i = 0; i < count; i++)
		wl_fork("unpinned", unpinned, &anywhere[i]);
	while (wl_wait())
		;
}

static void misfit(void)
{
	unsigned long long divisions = sysbench_divisions(wl_option("cpu-max-prime"));
	unsigned int requests = wl_option("requests");
	int *big = wl_new(int, wl_cpus()), nr_big = big_cpus(big), count = wl_option("unpinned");
	int rounds = wl_option("rounds");
	struct program *on_big = wl_new(struct program, nr_big), *anywhere;
	double longest = 0, sum = 0;

	if (!count)
		count = wl_cpus() - nr_big;
	if (!count)
		wl_refuse("no CPU is smaller than the others; --unpinned says how many tasks may run anywhere");
	if (count > MAX_UNPINNED)
		wl_refuse("more than %d unpinned tasks", MAX_UNPINNED);
	anywhere = wl_new(struct program, count);
	wl_begin();
	for (int number = 1; number <= rounds; number++) {
		for (int i = 0; i < nr_big; i++)
			on_big[i] = (struct program) { .requests = requests / 4, .divisions = divisions, .cpu = big[i] };
		for (int i = 0; i < count; i++)
			anywhere[i] = (struct program) { .requests = requests, .divisions = divisions };
		run_round(on_big, nr_big, anywhere, count);
		if (number == 1)
			write_tasks(anywhere, count);
		longest += write_longest(number, anywhere, count);
		sum += sum_of(anywhere, count);
	}
	wl_end();
	wl_result("mean", sum / count / rounds, "s");
	wl_result("longest", longest / rounds, "s");
}

static const struct wl_option options[] = {
	{ "requests", 0, WL_COUNT, 1000, 4, 1 << 30, NULL, "requests of an unpinned task; pinned ones do a quarter" },
	{ "unpinned", 0, WL_COUNT, 0, 0, MAX_UNPINNED, NULL, "unpinned tasks; 0: one for each CPU that is not big" },
	{ "rounds", 0, WL_COUNT, 1, 1, MAX_ROUNDS, NULL, "of the whole test, one after the other" },
	{ "cpu-max-prime", 0, WL_COUNT, 10000, 1, 10000000, NULL, "numbers below this are tried in a request" },
	{ }
};

WORKLOAD(misfit) = {
	.name = "misfit",
	.summary = "long tasks on little CPUs while the big ones become free",
	.original = "test of \"sched/fair: Migrate 'misfit' tasks on asymmetric capacity systems\", LKML 2018",
	.options = options,
	.main = misfit,
};
