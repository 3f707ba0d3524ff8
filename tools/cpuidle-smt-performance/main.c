// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpuidle-smt-performance: throughput of a thread and wakeup latency of its SMT siblings against
 * the period at which those are woken, a stand-in for the target residency of an idle state.
 *
 * Exit status: 0, 2 for what cannot be run, 128 + signal when stopped (what was measured is shown).
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "experiment.h"
#include "fail.h"
#include "options.h"
#include "placement.h"
#include "report.h"
#include "selftest.h"
#include "summary.h"

/* A report that was lost is a failure. */
static void check_written(void)
{
	if (fflush(stdout) || ferror(stdout))
		fail("standard output cannot be written: %s", strerror(errno));
}

static void tell_nothing(const struct experiment *x)
{
	(void)x;
}

int main(int argc, char **argv)
{
	const struct options o = read_options(argc, argv);
	struct experiment *x;
	struct summary s;

	if (o.self_test) {
		self_test(&o);
		check_written();
		return 0;
	}
	check_placement(&o);
	x = calloc(1, sizeof(*x));
	if (!x)
		return 2;
	x->options = &o;
	run_experiment(x, o.json ? tell_nothing : print_placement);
	if (x->interrupted && !x->waker.lateness.count) {
		fputs("cpuidle-smt-performance: stopped before the first wake that counts\n", stderr);
		return 128 + x->interrupted;
	}
	s = summarise(x);
	(o.json ? print_json : print_text)(x, &s);
	check_written();
	return x->interrupted ? 128 + x->interrupted : 0;
}
