// SPDX-License-Identifier: GPL-2.0-only
/* schedlab-load: one workload as a native program, supervised by its parent process. */
#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include "arena.h"
#include "calibration.h"

#define DRIFT_PERCENT	3	/* beyond this the calibration is doubtful */
#define LOOKS		30	/* a tenth of a second apart: unchanged for so many, and all wait */

const struct workload *running;
static pid_t load;		/* process group of the workload */

void fail(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "schedlab-load%s%s: ", running ? " " : "", running ? running->name : "");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	_exit(2);
}

/* ------------------------------------------------------------------ results */

static void print_text(const struct calibration *c, double drift)
{
	for (const struct result *r = arena->results; r; r = r->next)
		printf("%s: %.10g%s%s\n", r->name, r->value, r->unit[0] ? " " : "", r->unit);
	if (drift > DRIFT_PERCENT || drift < -DRIFT_PERCENT)
		fprintf(stderr, "schedlab-load: this CPU now runs at %+.1f %% of its calibration (%s); "
			"schedlab-load --calibrate measures anew\n", drift, c->file);
}

static void print_json(const struct calibration *c, double drift, unsigned long long seed)
{
	json_t *options = json_object(), *results = json_array(), *root;

	for (int i = 0; running->options[i].name; i++) {
		const struct wl_option *o = &running->options[i];

		json_object_set_new(options, o->name, o->kind >= WL_WORD ?
				    json_string(arena->text[i]) : o->kind == WL_FRACTION ?
				    json_real(arena->number[i] / 1e6) : json_integer(arena->number[i]));
	}
	for (const struct result *r = arena->results; r; r = r->next)
		json_array_append_new(results, json_pack("{s:s, s:f, s:s}", "name", r->name, "value",
							 r->value, "unit", r->unit));
	root = json_pack("{s:s, s:s, s:o, s:I, s:f, s:o, s:{s:f, s:f}}", "workload", running->name,
			 "follows", running->original, "options", options, "seed", (json_int_t)seed,
			 "elapsed_s", (arena->ended - arena->began) / 1e9, "results", results,
			 "calibration", "turns_per_ns", c->stored, "drift_percent", drift);
	json_dumpf(root, stdout, JSON_INDENT(1));
	putchar('\n');
	json_decref(root);
}

/* ------------------------------------------------------------------ supervising */

/* Sum of all tasks' steps, or 0 when one of them is not waiting for another. */
static unsigned long waiting_state(void)
{
	unsigned long sum = 1;

	pthread_mutex_lock(&arena->lock);
	for (struct wl_task *t = arena->tasks; t; t = t->next) {
		if (!t->alive)
			continue;
		if (!t->waits_for) {
			sum = 0;
			break;
		}
		sum += t->steps;
	}
	pthread_mutex_unlock(&arena->lock);
	return sum;
}

static void fail_deadlocked(void)
{
	fprintf(stderr, "schedlab-load %s: deadlock: all its tasks wait\n", running->name);
	for (struct wl_task *t = arena->tasks; t; t = t->next) {
		if (!t->alive)
			continue;
		fprintf(stderr, "  %s/%d waits for %s", t->name, t->pid,
			task_waits_for(t));
		if (t->holder)
			fprintf(stderr, " of %s/%d", t->holder->name, t->holder->pid);
		fputc('\n', stderr);
	}
	kill(-load, SIGKILL);
	exit(3);
}

/* Until the workload's first process has ended: its wait status. */
static int supervise(const sigset_t *signals)
{
	const struct timespec tenth = { 0, 100 * WL_MSEC };
	unsigned long before = 0, now;
	int status, unchanged = 0, sig;

	for (;;) {
		if (waitpid(load, &status, WNOHANG) == load)
			return status;
		sig = sigtimedwait(signals, NULL, &tenth);
		if (sig == SIGINT || sig == SIGTERM) {
			kill(-load, SIGKILL);
			exit(128 + sig);
		}
		if (sig == SIGCHLD)
			continue;
		now = waiting_state();
		unchanged = now && now == before ? unchanged + 1 : 0;
		before = now;
		if (unchanged == LOOKS)
			fail_deadlocked();
	}
}

static void run(void)
{
	sigset_t signals;
	int status;

	sigemptyset(&signals);
	sigaddset(&signals, SIGCHLD);
	sigaddset(&signals, SIGINT);
	sigaddset(&signals, SIGTERM);
	sigprocmask(SIG_BLOCK, &signals, NULL);
	fflush(stdout);
	load = fork();
	if (load < 0)
		fail("fork: %s", strerror(errno));
	if (!load) {
		setpgid(0, 0);
		sigprocmask(SIG_UNBLOCK, &signals, NULL);
		task_begin_main(running->main);
		_exit(0);
	}
	setpgid(load, load);
	status = supervise(&signals);
	kill(-load, SIGKILL);		/* whoever is left */
	if (WIFSIGNALED(status))
		fail("ended by signal %d (%s)", WTERMSIG(status), strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status))
		exit(WEXITSTATUS(status));
	if (!arena->done)
		fail("ended before its end");
}

/* ------------------------------------------------------------------ command line */

static void list(void)
{
	for_each_workload(w)
		printf("%-14s %s\n", (*w)->name, (*w)->summary);
}

static void usage(void)
{
	printf("usage: schedlab-load NAME [options] [--json] [--seed N]\n"
	       "       schedlab-load NAME --help\n"
	       "       schedlab-load --list | --calibrate\n\n"
	       "Runs a workload of schedlab on this host.  Workloads:\n\n");
	list();
}

static void print_standard(const struct wl_option *o, const char *text)
{
	if (o->kind == WL_WORD)
		printf(" (%s; %s)", o->words, text);
	else if (o->kind == WL_TIME)
		printf(" (%gs)", o->standard / 1e9);
	else if (o->kind == WL_FRACTION)
		printf(" (%g)", o->standard / 1e6);
	else if (o->kind == WL_COUNT || o->kind == WL_SIZE)
		printf(" (%lld)", o->standard);
}

static void help(const struct wl_values *values)
{
	const struct workload *w = values->workload;

	printf("schedlab-load %s: %s\nFollows %s.\n\n", w->name, w->summary, w->original);
	for (int i = 0; w->options[i].name; i++) {
		const struct wl_option *o = &w->options[i];
		char name[60];

		snprintf(name, sizeof(name), "%s%.1s%s--%s%s", o->letter ? "-" : "", &o->letter,
			 o->letter ? ", " : "", o->name, o->kind == WL_FLAG ? "" : " X");
		printf("  %-26s %s", name, o->help);
		print_standard(o, values->text[i]);
		putchar('\n');
	}
	printf("  %-26s random numbers begin here (1)\n  %-26s result as JSON\n"
	       "  %-26s only read the options and files\n", "--seed N", "--json", "--check");
}

enum { OPT_JSON = 1000, OPT_SEED, OPT_CHECK, OPT_HELP, OPT_FIRST = 2000 };

struct command {
	struct wl_values values;
	unsigned long long seed;
	int json;
	int check;
};

static void parse_option(struct command *command, int index, const char *text)
{
	const struct wl_option *o = &command->values.workload->options[index];
	char why[200];

	if (wl_value_parse(&command->values, index, text, why, sizeof(why)))
		fail("--%s: %s", o->name, why);
}

static void parse(struct command *command, int argc, char **argv)
{
	const struct workload *w = command->values.workload;
	struct option options[WL_MAX_OPTIONS + 5] = { };
	char letters[3 * WL_MAX_OPTIONS] = "", *end;
	int n, c;

	for (n = 0; w->options[n].name; n++) {
		const struct wl_option *o = &w->options[n];
		char letter[4] = { o->letter, o->kind == WL_FLAG ? 0 : ':' };

		options[n] = (struct option) { o->name, o->kind != WL_FLAG, NULL, OPT_FIRST + n };
		if (o->letter)
			strcat(letters, letter);
	}
	options[n++] = (struct option) { "json", 0, NULL, OPT_JSON };
	options[n++] = (struct option) { "seed", 1, NULL, OPT_SEED };
	options[n++] = (struct option) { "check", 0, NULL, OPT_CHECK };
	options[n++] = (struct option) { "help", 0, NULL, OPT_HELP };
	while ((c = getopt_long(argc, argv, letters, options, NULL)) != -1) {
		if (c == OPT_JSON) {
			command->json = 1;
		} else if (c == OPT_SEED) {
			command->seed = strtoull(optarg, &end, 10);
			if (*end || end == optarg)
				fail("--seed: \"%s\": a whole number is expected", optarg);
		} else if (c == OPT_CHECK) {
			command->check = 1;
		} else if (c == OPT_HELP) {
			help(&command->values);
			exit(0);
		} else if (c >= OPT_FIRST) {
			parse_option(command, c - OPT_FIRST, optarg ? optarg : "1");
		} else {
			for (n = 0; w->options[n].name && w->options[n].letter != c; n++)
				;
			if (!w->options[n].name)
				fail("schedlab-load %s --help lists the options", w->name);
			parse_option(command, n, optarg ? optarg : "1");
		}
	}
	if (optind < argc)
		fail("\"%s\" is not an option; --help lists them", argv[optind]);
}

static void allow_many_files(void)
{
	struct rlimit limit;

	if (!getrlimit(RLIMIT_NOFILE, &limit)) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

/* Everything the processes of the workload will look up. */
static void fill_arena(const struct command *command)
{
	const struct wl_values *values = &command->values;

	arena_create();
	arena_read_machine();
	strcpy(arena->workload, values->workload->name);
	arena->seed = command->seed;
	for (int i = 0; values->workload->options[i].name; i++) {
		arena->number[i] = values->number[i];
		arena->text[i] = wl_alloc(strlen(values->text[i]) + 1);
		strcpy(arena->text[i], values->text[i]);
	}
}

/* A program of the workload after its exec(). */
static void resume(char **argv)
{
	arena_attach(atoi(argv[2]));
	running = wl_find(arena->workload);
	task_resume((struct wl_task *)((char *)arena + atol(argv[3])), atol(argv[4]));
}

int main(int argc, char **argv)
{
	struct command command = { .seed = 1 };
	struct calibration calibration;
	double drift;

	if (argc == 5 && !strcmp(argv[1], "--resume"))
		resume(argv);
	if (argc < 2 || !strcmp(argv[1], "--help")) {
		usage();
		return argc < 2 ? 2 : 0;
	}
	if (!strcmp(argv[1], "--list")) {
		list();
		return 0;
	}
	if (!strcmp(argv[1], "--calibrate")) {
		calibration_get(&calibration, 1);
		printf("turns_per_ns: %.6f\nkept in %s\n", calibration.stored, calibration.file);
		return 0;
	}
	running = wl_find(argv[1]);
	if (!running)
		fail("no workload \"%s\"; --list shows them", argv[1]);
	wl_values_init(&command.values, running);
	parse(&command, argc - 1, argv + 1);
	allow_many_files();
	fill_arena(&command);
	if (running->prepare)
		arena->prepared = running->prepare();
	if (command.check)
		return 0;
	calibration_get(&calibration, 0);
	drift = calibration_drift(&calibration);
	arena->iterations_per_ns = calibration.stored;
	run();
	if (running->finish)
		running->finish(arena->prepared);
	if (command.json)
		print_json(&calibration, drift, command.seed);
	else
		print_text(&calibration, drift);
	return 0;
}
