// SPDX-License-Identifier: GPL-2.0-only
/* schedsim: one scenario on one machine with one build of the kernel's scheduler. */
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <time.h>
#include <unistd.h>
#include "instance.h"
#include "json.h"
#include "scenario.h"
#include "steady.h"
#include "trace.h"

#define MAX_SEED	(1ULL << 53)	/* a double has every whole number up to here */
#define LONGEST_UNLOADING (60 * SEC)
#define LONGEST_LOADING	(60 * SEC)	/* and leaving after an error: twice what the kernel's watchdog waits */
#define CHECK_INTERVAL	(5 * MSEC)	/* of simulated time, longer with very many tasks */

static double host_now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

static void print_domains(void)
{
	static char text[65536];
	char path[128];

	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		for (int d = 0; ; d++) {
			static const char *const files[] = { "name", "flags", "min_interval",
							     "max_interval", "busy_factor", "imbalance_pct" };
			size_t i;

			for (i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
				snprintf(path, sizeof(path), "/sys/kernel/debug/sched/domains/cpu%d/domain%d/%s",
					 cpu, d, files[i]);
				if (kern_read_file(path, text, sizeof(text)) < 0)
					break;
				text[strcspn(text, "\n")] = 0;
				if (i)
					printf(" %s=%s", files[i], text);
				else
					printf("cpu%d/domain%d/name=%s", cpu, d, text);
			}
			if (!i)
				break;
			kern_print_domain(cpu, d, text, sizeof(text));
			printf(" %s\n", text);
		}
}

/* Its first line too, where it may be written; files of a group have none without the group. */
static void print_file(const char *name, int writable)
{
	static char text[65536];

	if (!writable || kern_read_file(name, text, sizeof(text)) < 0)
		text[0] = 0;
	text[strcspn(text, "\n")] = 0;
	printf("%s %s %s\n", writable ? "rw" : "r-", name, text);
}

/* What settings can be written to, of the machine and of a group. */
static void print_files(void)
{
	kern_list_files(print_file);
	kern_list_cgroup_files(print_file);
}

static int is_warm(void)
{
	return origin && (scenario.until_settled ? steady_warm() : hw.clk >= origin + scenario.warmup);
}

/* Reading kernel files, or asking a CPU for something, is not part of the run. */
static void stop_time(void)
{
	hw.live = 0;
	hw.catch_up = HW_NEVER;
}

/* Nothing else ends a run that does not begin, or waits for the kernel to say why a scheduler failed. */
static void check_scheduler(void)
{
	static simtime fine;

	stop_time();
	kern_scx_look();
	hw.live = 1;
	if (origin && !sched_ext_fails())
		fine = hw.clk;
	else if (hw.clk - fine > LONGEST_LOADING + (origin ? 0 : scenario.settle))
		hw_end_run(origin ? "sched_ext: the scheduler has failed, and the kernel has not removed it in 60 s" :
			   "sched_ext: with the scheduler, init has not come to start the workload in 60 s", NULL);
}

/* From warm-up to the end, with the invariants checked on the way. */
static const char *run(void)
{
	int in_window = 0;
	simtime next_check = 0, settled = 0;

	for (;;) {
		simtime begin = origin ? origin + scenario.warmup : HW_NEVER;
		simtime end = origin ? origin + settled + scenario.duration : HW_NEVER;
		simtime bound = origin && scenario.max_simulated != HW_NEVER ?
				origin + scenario.max_simulated : HW_NEVER;
		simtime t = next_check;

		if (scenario.end_when_done || (scenario.until_settled && !in_window) || sched_ext_fails())
			end = HW_NEVER;
		if (origin && steady_due() < t)
			t = steady_due();
		if (!in_window && !scenario.until_settled && begin < t)
			t = begin;
		if (end < t)
			t = end;
		if (t < hw.clk)
			t = hw.clk;
		hw_run_until(t);
		if (origin)
			steady_look();
		if (!in_window && is_warm()) {
			in_window = 1;
			if (scenario.until_settled)
				settled = hw.clk - origin;
			/*
			 * What is counted is what is timed: the measured part of a call is not cut.
			 */
			if (!instances_warmed_up() || !scenario.end_when_done)
				results_window_begin();
		}
		if (hw.clk >= next_check) {
			kern_check();
			instances_check();
			if (scenario.scheduler)
				check_scheduler();
			next_check = hw.clk + CHECK_INTERVAL * (1 + tasks_started / 1000);
		}
		if (scenario.end_when_done && origin && !instances_running() && !sched_ext_fails())
			return "done";
		if (hw.clk >= bound)
			return "simulated_bound";
		if (!scenario.end_when_done && in_window && hw.clk >= origin + settled + scenario.duration &&
		    !sched_ext_fails())
			return "done";
	}
}

/* A scheduler that ran well may still fail to let its tasks go. */
static void unload_scheduler(void)
{
	simtime end = hw.clk + LONGEST_UNLOADING;

	kern_scx_unload();
	hw.live = 1;
	while (kern_scx_is_loaded()) {
		if (hw.clk >= end)
			hw_end_run("sched_ext: the kernel has not unloaded the scheduler after 60 s", NULL);
		hw_run_until(hw.clk + CHECK_INTERVAL);
		kern_check();
	}
	stop_time();
}

enum { OPT_TRACE = 256, OPT_FORMAT, OPT_EVENTS, OPT_CPUS, OPT_TASKS, OPT_FROM, OPT_TO, OPT_RING,
       OPT_BOOT, OPT_DOMAINS, OPT_FILES };

static const struct option options[] = {
	{ "machine", 1, NULL, 'm' }, { "scenario", 1, NULL, 's' }, { "out", 1, NULL, 'o' },
	{ "seed", 1, NULL, 'r' }, { "verbose", 0, NULL, 'v' }, { "help", 0, NULL, 'h' },
	{ "trace", 1, NULL, OPT_TRACE }, { "trace-format", 1, NULL, OPT_FORMAT },
	{ "trace-events", 1, NULL, OPT_EVENTS }, { "trace-cpus", 1, NULL, OPT_CPUS },
	{ "trace-tasks", 1, NULL, OPT_TASKS }, { "trace-from", 1, NULL, OPT_FROM },
	{ "trace-to", 1, NULL, OPT_TO }, { "trace-ring", 1, NULL, OPT_RING },
	{ "trace-boot", 0, NULL, OPT_BOOT },
	{ "print-domains", 0, NULL, OPT_DOMAINS }, { "print-files", 0, NULL, OPT_FILES }, { }
};

static void usage(void)
{
	printf("usage: schedsim --machine FILE --scenario FILE --out FILE [--seed N] [--verbose]\n"
	       "                [--trace FILE [--trace-format ftrace|perfetto] [--trace-events A,B]\n"
	       "                 [--trace-cpus LIST] [--trace-tasks PATTERN] [--trace-from S] [--trace-to S]\n"
	       "                 [--trace-ring N] [--trace-boot]] [--print-domains | --print-files]\n"
	       "Linux %s scheduler, HZ=%d.  docs/internals/engine.md describes the files.\n", kern_release, kern_hz);
	exit(0);
}

static double number(const char *text, const char *what, double max)
{
	char *end;
	double d = strtod(text, &end);

	if (*end || end == text || !(d >= 0 && d <= max))
		hw_refuse("%s: \"%s\" is not a number from 0 to %.15g", what, text, max);
	return d;
}

static void read_machine(const char *file)
{
	json_t *machine = hw_read_machine(file);

	background_read(machine);
	figures_read(machine);
}

static const struct kern_handlers handlers = {
	.task_exits = trace_task, .task_released = task_released, .no_memory = task_no_memory, .traced = trace_write,
};

#define ADDRESSES	"SCHEDSIM_ADDRESSES"

/*
 * A kernel may decide by an address, as by hash_ptr(): each run has the same ones, unless the host does
 * not allow it, or a test wants to know whether anything depends on them.
 */
static void begin_at_the_same_addresses(char **argv)
{
	int persona = personality(0xffffffff);

	if (getenv(ADDRESSES) || persona == -1 || (persona & ADDR_NO_RANDOMIZE) ||
	    personality(persona | ADDR_NO_RANDOMIZE) == -1)
		return;
	setenv(ADDRESSES, "same", 1);
	execv("/proc/self/exe", argv);
}

int main(int argc, char **argv)
{
	const char *machine_file = NULL, *scenario_file = NULL, *out = NULL, *status;
	struct trace_options trace = { .format = "ftrace", .to = -1 };
	static struct task init = { .kern = { .hw = { .pid = 1, .comm = "init", .mem_node = -1 },
					      .main = scenario_main },
				    .process = 1 };
	static char stderr_buffer[4096];
	double seed = 1, began, cpu_began;
	json_t *results;
	int domains = 0, files = 0, c;

	begin_at_the_same_addresses(argv);
	hw_memory_init();
	/* Unbuffered output takes 8 KiB of stack, half of a coroutine's. */
	setvbuf(stderr, stderr_buffer, _IOLBF, sizeof(stderr_buffer));
	while ((c = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (c) {
		case 'm': machine_file = optarg; break;
		case 's': scenario_file = optarg; break;
		case 'o': out = optarg; break;
		case 'r': seed = number(optarg, "--seed", MAX_SEED); break;
		case 'v': hw_verbose = 1; break;
		case 'h': usage(); break;
		case OPT_TRACE: trace.file = optarg; break;
		case OPT_FORMAT: trace.format = optarg; break;
		case OPT_EVENTS: trace.events = optarg; break;
		case OPT_CPUS: trace.cpus = optarg; break;
		case OPT_TASKS: trace.tasks = optarg; break;
		case OPT_FROM: trace.from = number(optarg, "--trace-from", LONGEST_TIME / 1e9); break;
		case OPT_TO: trace.to = number(optarg, "--trace-to", LONGEST_TIME / 1e9); break;
		case OPT_RING: trace.ring = number(optarg, "--trace-ring", INT_MAX); break;
		case OPT_BOOT: trace.boot = 1; break;
		case OPT_DOMAINS: domains = 1; break;
		case OPT_FILES: files = 1; break;
		default: return 2;
		}
	}
	if (optind < argc)
		hw_refuse("unknown argument %s", argv[optind]);
	if (!machine_file)
		hw_refuse("--machine FILE is missing");
	if (!domains && !files && (!scenario_file || !out))
		hw_refuse("--scenario FILE and --out FILE are needed");

	hw_seed(seed);
	read_machine(machine_file);
	hw_power_on();
	if (scenario_file) {
		scenario_read(scenario_file);
		instances_prepare();
	}
	hw_fail_after(scenario.max_host);
	if (domains || files)
		kern_show_domains();
	hw.clk = 1;			/* 0 means "never" in many places of the kernel */
	kern_isolate(scenario.isolcpus, scenario.nohz_full);
	if (!domains && !files)
		trace_open(&trace);
	kern_boot(&init.kern, &handlers);
	if (domains)
		print_domains();
	if (files)
		print_files();
	if (domains || files)
		return 0;
	began = host_now(CLOCK_MONOTONIC);
	cpu_began = host_now(CLOCK_PROCESS_CPUTIME_ID);
	hw.live = 1;
	status = run();
	stop_time();
	hw_check_time();
	hw_settle_times();
	actions_check();
	partitions_check();
	instances_finish();
	results = results_json(status, host_now(CLOCK_MONOTONIC) - began,
			       host_now(CLOCK_PROCESS_CPUTIME_ID) - cpu_began);
	trace_close();
	if (scenario.scheduler)
		unload_scheduler();
	results_write(results, out);
	return strcmp(status, "done") ? 4 : 0;
}
