// SPDX-License-Identifier: GPL-2.0-only
/* The report as JSON: all there is, whatever the options. */
#include <stdio.h>
#include "clock.h"
#include "fail.h"
#include "report.h"

static const double shown[] = { 50, 90, 99, 99.9 };
#define NR_SHOWN	(sizeof(shown) / sizeof(shown[0]))

static double us(double ns)
{
	return ns / NSEC_PER_USEC;
}

static void print_string(const char *text)
{
	putchar('"');
	for (; *text; text++) {
		unsigned char c = *text;

		if (c == '"' || c == '\\')
			printf("\\%c", c);
		else if (c < ' ' || c >= 0x7f)
			printf("\\u%04x", c);
		else
			putchar(c);
	}
	putchar('"');
}

static void result(const char *name, double value, const char *unit)
{
	printf("  {\"name\": ");
	print_string(name);
	printf(", \"value\": %.10g, \"unit\": \"%s\"},\n", value, unit);
}

static void results_of(const char *name, const struct histogram *h)
{
	char text[64];

	snprintf(text, sizeof(text), "%s mean", name);
	result(text, us(histogram_mean(h)), "us");
	for (size_t i = 0; i < NR_SHOWN; i++) {
		snprintf(text, sizeof(text), "%s p%g", name, shown[i]);
		result(text, us(histogram_percentile(h, shown[i])), "us");
	}
	snprintf(text, sizeof(text), "%s max", name);
	result(text, us(h->max), "us");
}

/* The mean over the irritators' CPUs. */
static void results_of_state(const struct experiment *x, const struct state_sum *state)
{
	double usage = (double)state->sum.count[USAGE] / state->cpus;
	double time = (double)state->sum.count[TIME] / state->cpus;
	char text[64];

	snprintf(text, sizeof(text), "%s usage", state->sum.name);
	result(text, usage, "");
	snprintf(text, sizeof(text), "%s time", state->sum.name);
	result(text, time, "us");
	snprintf(text, sizeof(text), "%s share", state->sum.name);
	result(text, idle_percent(x, time), "%");
}

static void print_results(const struct experiment *x, const struct summary *s)
{
	printf(" \"results\": [\n");
	result("throughput", s->throughput, "Mops/s");
	results_of("wakeup latency", &s->wakeup);
	results_of("sleep duration", &s->sleep);
	results_of("waker lateness", &x->waker.lateness);
	for (int i = 0; i < s->nr_states; i++)
		results_of_state(x, &s->state[i]);
	result("wake period", us(s->period), "us");
	result("wakes", s->wakes, "");
	result("late wakes", s->late, "");
	result("lost wakes", s->lost, "");
	printf("  {\"name\": \"missed periods\", \"value\": %llu, \"unit\": \"\"}\n ],\n",
	       (unsigned long long)x->waker.missed);
}

static void print_options(const struct options *o)
{
	printf(" \"options\": {\"wcpu\": %d, \"icpu\": [", o->workload_cpu);
	for (int i = 0; i < o->nr_irritators; i++)
		printf("%s%d", i ? ", " : "", o->irritator_cpu[i]);
	printf("], \"acpu\": %d, \"period_us\": %.10g, \"timeout_s\": %.10g, \"warmup_s\": %.10g, "
	       "\"sleep\": %s, \"from_last_wake\": %s},\n", o->waker_cpu, us(o->period), o->duration / 1e9,
	       o->warmup / 1e9, o->sleeping_waker ? "true" : "false", o->from_last_wake ? "true" : "false");
}

static void print_distribution(const char *name, const struct histogram *h)
{
	printf("\"%s\": {\"mean\": %.10g, \"min\": %.10g", name, us(histogram_mean(h)), us(h->min));
	for (size_t i = 0; i < NR_SHOWN; i++)
		printf(", \"p%g\": %.10g", shown[i], us(histogram_percentile(h, shown[i])));
	printf(", \"max\": %.10g}", us(h->max));
}

static void print_irritators(const struct experiment *x)
{
	printf(" \"irritators\": [");
	for (int i = 0; i < x->options->nr_irritators; i++) {
		const struct irritator *it = &x->irritator[i];

		printf("%s\n  {\"cpu\": %d, \"pid\": %d, \"wakes\": %llu, \"late\": %llu, \"lost\": %llu,\n   ",
		       i ? "," : "", it->cpu, it->tid, (unsigned long long)it->wakeup.count,
		       (unsigned long long)it->late, (unsigned long long)it->lost);
		print_distribution("wakeup_latency", &it->wakeup);
		printf(",\n   ");
		print_distribution("sleep_duration", &it->sleep);
		putchar('}');
	}
	printf("\n ],\n");
}

static void print_state(const struct experiment *x, const struct idle_state *state)
{
	printf("{\"name\": ");
	print_string(state->name);
	printf(", \"percent\": %.10g", idle_percent(x, state->count[TIME]));
	for (int c = 0; c < NR_COUNTS; c++)
		if (state->has[c])
			printf(", \"%s\": %llu", idle_count_name[c], (unsigned long long)state->count[c]);
	putchar('}');
}

static void print_idle(const struct experiment *x)
{
	printf(" \"idle\": [");
	for (int i = 0; i < x->nr_idle_cpus; i++) {
		printf("%s\n  {\"cpu\": %d, \"states\": [", i ? "," : "", x->idle_cpu[i]);
		for (int s = 0; s < x->idle[i].nr; s++) {
			printf("%s\n   ", s ? "," : "");
			print_state(x, &x->idle[i].state[s]);
		}
		printf("]}");
	}
	printf("\n ],\n");
}

/* Octaves that are not empty: from and to in us, and how many. */
static void print_histogram(const char *name, const struct histogram *h)
{
	const char *comma = "";

	printf("  \"%s\": [", name);
	for (uint64_t from = 0, to = 128; from <= h->max && h->count; from = to, to *= 2) {
		uint64_t n = histogram_between(h, from, to);

		if (!n)
			continue;
		printf("%s[%.10g, %.10g, %llu]", comma, us(from), us(to), (unsigned long long)n);
		comma = ", ";
	}
	putchar(']');
}

void print_json(const struct experiment *x, const struct summary *s)
{
	printf("{\n \"tool\": \"cpuidle-smt-performance\",\n");
	print_options(x->options);
	printf(" \"elapsed_s\": %.10g,\n", (x->end - x->begin) / 1e9);
	print_results(x, s);
	print_irritators(x);
	print_idle(x);
	printf(" \"histograms\": {\n");
	print_histogram("wakeup_latency", &s->wakeup);
	printf(",\n");
	print_histogram("sleep_duration", &s->sleep);
	printf("\n },\n \"warnings\": [");
	for (int i = 0; warning(i); i++) {
		printf("%s\n  ", i ? "," : "");
		print_string(warning(i));
	}
	printf("]\n}\n");
}
