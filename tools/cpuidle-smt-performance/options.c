// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include "clock.h"
#include "cpus.h"
#include "fail.h"
#include "options.h"

#define MAX_SECONDS	86400.0

static const char usage[] =
	"usage: cpuidle-smt-performance -w CPU -i CPU [-i CPU ...] -a CPU [options]\n"
	"       cpuidle-smt-performance --self-test [-i CPU] [-a CPU]\n"
	"\n"
	"What a wakeup period costs and gives: a workload computes on one thread of a core,\n"
	"irritators sleep on its siblings, and a waker on another core wakes them all each period.\n"
	"\n"
	"  -w, --wcpu CPU          the workload's CPU\n"
	"  -i, --icpu CPU          an irritator's CPU; again for each further irritator\n"
	"  -a, --acpu CPU          the waker's CPU\n"
	"  -r, --period US         wakeup period, 0.1 to 10000000 us (100)\n"
	"  -t, --timeout SECONDS   how long to measure, 0.01 to 86400 s (5)\n"
	"  -W, --warmup SECONDS    how long to run before that, 0 to 86400 s (0.2)\n"
	"  -s, --sleep             the waker sleeps on a timer instead of spinning\n"
	"  -g, --from-last-wake    count the period from the end of the last wakes, as versions\n"
	"                          before this one did, instead of keeping a schedule\n"
	"  -v, --verbose           each irritator, each CPU's idle states, histograms\n"
	"  -j, --json              the report as JSON\n"
	"  -S, --self-test         measure the measuring: cost of a stamp, latency floor\n"
	"  -h, --help              this text\n";

static const struct option long_options[] = {
	{ "wcpu", required_argument, NULL, 'w' },
	{ "icpu", required_argument, NULL, 'i' },
	{ "acpu", required_argument, NULL, 'a' },
	{ "period", required_argument, NULL, 'r' },
	{ "timeout", required_argument, NULL, 't' },
	{ "warmup", required_argument, NULL, 'W' },
	{ "sleep", no_argument, NULL, 's' },
	{ "from-last-wake", no_argument, NULL, 'g' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "json", no_argument, NULL, 'j' },
	{ "self-test", no_argument, NULL, 'S' },
	{ "help", no_argument, NULL, 'h' },
	{ }
};

static int read_cpu(const char *option, const char *text)
{
	char *end;
	long cpu;

	errno = 0;
	cpu = strtol(text, &end, 10);
	if (end == text || *end || errno || cpu < 0 || cpu >= MAX_CPUS)
		fail("%s '%s': is not a CPU; write its number, 0 to %d", option, text, MAX_CPUS - 1);
	return cpu;
}

/* In ns, from a number of `unit` ns. */
static uint64_t read_time(const char *option, const char *text, double unit, double least, double most,
			  const char *unit_name)
{
	char *end;
	double value = strtod(text, &end);

	/* Also no number at all, which is neither less nor more. */
	if (end == text || *end || !(value >= least && value <= most))
		fail("%s '%s': must be %g to %.0f %s", option, text, least, most, unit_name);
	return value * unit + 0.5;
}

struct options read_options(int argc, char **argv)
{
	struct options o = {
		.workload_cpu = -1, .waker_cpu = -1,
		.period = 100 * NSEC_PER_USEC, .duration = 5 * NSEC_PER_SEC, .warmup = NSEC_PER_SEC / 5,
	};
	int c;

	while ((c = getopt_long(argc, argv, "w:i:a:r:t:W:sgvjSh", long_options, NULL)) != -1) {
		switch (c) {
		case 'w':
			o.workload_cpu = read_cpu("--wcpu", optarg);
			break;
		case 'i':
			if (o.nr_irritators == MAX_IRRITATORS)
				fail("--icpu: there can be %d irritators at most", MAX_IRRITATORS);
			o.irritator_cpu[o.nr_irritators++] = read_cpu("--icpu", optarg);
			break;
		case 'a':
			o.waker_cpu = read_cpu("--acpu", optarg);
			break;
		case 'r':
			o.period = read_time("--period", optarg, NSEC_PER_USEC, 0.1, 1e7, "us");
			break;
		case 't':
			o.duration = read_time("--timeout", optarg, NSEC_PER_SEC, 0.01, MAX_SECONDS, "s");
			break;
		case 'W':
			o.warmup = read_time("--warmup", optarg, NSEC_PER_SEC, 0, MAX_SECONDS, "s");
			break;
		case 's':
			o.sleeping_waker = true;
			break;
		case 'g':
			o.from_last_wake = true;
			break;
		case 'v':
			o.verbose = true;
			break;
		case 'j':
			o.json = true;
			break;
		case 'S':
			o.self_test = true;
			break;
		case 'h':
			fputs(usage, stdout);
			exit(0);
		default:
			fputs("Try --help.\n", stderr);
			exit(2);
		}
	}
	if (optind < argc)
		fail("'%s': is not an option; --help shows them", argv[optind]);
	return o;
}
