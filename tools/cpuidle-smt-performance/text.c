// SPDX-License-Identifier: GPL-2.0-only
/* The report as text: first what this tool has always printed, then the rest. */
#include <stdio.h>
#include <string.h>
#include "clock.h"
#include "report.h"

#define RULE	"==============================================="
#define BAR	40

static double us(double ns)
{
	return ns / NSEC_PER_USEC;
}

void print_placement(const struct experiment *x)
{
	printf("Workload[PID %d] affined to CPUs: %d,\n", x->workload.tid, x->options->workload_cpu);
	for (int i = 0; i < x->options->nr_irritators; i++)
		printf("Irritator %d[PID %d] affined to CPUs: %d,\n", i, x->irritator[i].tid, x->irritator[i].cpu);
	printf("Waker[PID %d] affined to CPUs: %d,\n", x->waker.tid, x->options->waker_cpu);
	fflush(stdout);
}

static void print_state(const struct experiment *x, const char *scope, const struct idle_state *state, int cpus)
{
	double time = (double)state->count[TIME] / cpus;

	printf("\t  %s State %10s : Usage = %8.0f, Time = %9.0f us(%.2f %%)", scope, state->name,
	       (double)state->count[USAGE] / cpus, time, idle_percent(x, time));
}

static void print_summary(const struct experiment *x, const struct summary *s)
{
	printf(RULE "\n                  Summary \n" RULE "\n");
	printf("Irritator wakeup period = %.10g us\n", us(x->options->period));
	printf("Workload Throughput            = %.3f Mops/seconds\n", s->throughput);
	printf("Overall average sleep duration = %.3f us\n", us(histogram_mean(&s->sleep)));
	printf("Overall average wakeup latency = %.3f us\n", us(histogram_mean(&s->wakeup)));
	for (int i = 0; i < s->nr_states; i++) {
		print_state(x, "Overall", &s->state[i].sum, s->state[i].cpus);
		putchar('\n');
	}
	printf(RULE "\n");
}

static void print_percentiles(const char *what, const struct histogram *h)
{
	printf("%s: min %.3f, p50 %.3f, p90 %.3f, p99 %.3f, p99.9 %.3f, max %.3f us\n", what, us(h->min),
	       us(histogram_percentile(h, 50)), us(histogram_percentile(h, 90)),
	       us(histogram_percentile(h, 99)), us(histogram_percentile(h, 99.9)), us(h->max));
}

static void print_histogram(const char *what, const struct histogram *h)
{
	printf("%s, how often:\n", what);
	for (uint64_t from = 0, to = 128; from <= h->max; from = to, to *= 2) {
		uint64_t n = histogram_between(h, from, to);
		int bar = n * BAR / h->count;

		if (n)
			printf("  %12.3f to %12.3f us %10llu %.*s\n", us(from), us(to), (unsigned long long)n, bar,
			       "########################################");
	}
}

static void print_irritators(const struct experiment *x)
{
	char name[32];

	for (int i = 0; i < x->options->nr_irritators; i++) {
		const struct irritator *it = &x->irritator[i];

		printf("Irritator %d on CPU %d: %llu wakes, %llu found it awake, %llu lost; "
		       "average sleep duration %.3f us, wakeup latency %.3f us\n", i, it->cpu,
		       (unsigned long long)it->wakeup.count, (unsigned long long)it->late,
		       (unsigned long long)it->lost, us(histogram_mean(&it->sleep)),
		       us(histogram_mean(&it->wakeup)));
		snprintf(name, sizeof(name), "  Wakeup latency");
		print_percentiles(name, &it->wakeup);
	}
}

static void print_cpus(const struct experiment *x)
{
	for (int i = 0; i < x->nr_idle_cpus; i++) {
		const struct idle_states *states = &x->idle[i];
		char scope[20];

		snprintf(scope, sizeof(scope), "CPU %d", x->idle_cpu[i]);
		for (int s = 0; s < states->nr; s++) {
			const struct idle_state *state = &states->state[s];

			print_state(x, scope, state, 1);
			for (int c = ABOVE; c < NR_COUNTS; c++)
				if (state->has[c])
					printf(", %s %llu", idle_count_name[c],
					       (unsigned long long)state->count[c]);
			putchar('\n');
		}
	}
}

void print_text(const struct experiment *x, const struct summary *s)
{
	print_summary(x, s);
	printf("Measured %.3f s, wakes every %.3f us, %llu periods missed\n", (x->end - x->begin) / 1e9,
	       us(s->period), (unsigned long long)x->waker.missed);
	printf("%llu wakes: %llu found the irritator awake, %llu were lost\n", (unsigned long long)s->wakes,
	       (unsigned long long)s->late, (unsigned long long)s->lost);
	print_percentiles("Wakeup latency ", &s->wakeup);
	print_percentiles("Sleep duration ", &s->sleep);
	print_percentiles("Waker's lateness", &x->waker.lateness);
	if (!x->options->verbose)
		return;
	print_irritators(x);
	print_cpus(x);
	print_histogram("Wakeup latency", &s->wakeup);
	print_histogram("Sleep duration", &s->sleep);
}
