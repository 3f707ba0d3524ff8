// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "clock.h"
#include "cpus.h"
#include "experiment.h"
#include "fail.h"
#include "placement.h"
#include "selftest.h"

#define ROUNDS	100000

/* From one stamp to the next with nothing between. */
static void measure_stamp(struct histogram *h)
{
	uint64_t time = now(), next;

	for (int i = 0; i < ROUNDS; i++, time = next) {
		next = now();
		histogram_add(h, next - time);
	}
}

/* A stamp through a pipe and out of it by the thread that wrote it: no one sleeps or wakes. */
static void measure_pipe(struct histogram *h)
{
	uint64_t sent, got;
	int ends[2];

	if (pipe(ends))
		fail("no pipe can be made: %s", strerror(errno));
	for (int i = 0; i < ROUNDS; i++) {
		sent = now();
		if (write(ends[1], &sent, sizeof(sent)) != sizeof(sent) ||
		    read(ends[0], &got, sizeof(got)) != sizeof(got))
			fail("a pipe does not work: %s", strerror(errno));
		histogram_add(h, now() - sent);
	}
	close(ends[0]);
	close(ends[1]);
}

static void tell_nothing(const struct experiment *x)
{
	(void)x;
}

/*
 * The experiment with the workload on the irritator's own CPU, in the class that makes way for any
 * other task: the CPU never idles, so what is left of the latency is not an idle state's.
 */
static void measure_wake(const struct options *o, struct histogram *h)
{
	struct experiment x = { .options = o, .lowest_class = true };

	run_experiment(&x, tell_nothing);
	if (x.interrupted)
		exit(128 + x.interrupted);
	if (!x.irritator[0].wakeup.count)
		fail("ended before the first wake");
	*h = x.irritator[0].wakeup;
	free(x.irritator);
}

static int usable_cpu(int first, int step)
{
	for (int cpu = first; cpu >= 0 && cpu < MAX_CPUS; cpu += step)
		if (is_online(cpu) && !run_on(cpu))
			return cpu;
	fail("no thread may run on any CPU");
}

static struct options settled(const struct options *o)
{
	struct options s = *o;

	if (s.waker_cpu < 0)
		s.waker_cpu = usable_cpu(0, 1);
	if (!s.nr_irritators)
		s.irritator_cpu[0] = usable_cpu(MAX_CPUS - 1, -1);
	s.nr_irritators = 1;
	s.workload_cpu = s.irritator_cpu[0];
	check_cpu("--acpu", s.waker_cpu);
	check_cpu("--icpu", s.irritator_cpu[0]);
	if (s.waker_cpu == s.irritator_cpu[0])
		fail("--self-test: needs two CPUs, of the waker (-a) and of the irritator (-i)");
	return s;
}

static void print_line(const char *what, const struct histogram *h)
{
	printf("%-46s %8.0f %8llu %8llu %8llu\n", what, histogram_mean(h), (unsigned long long)h->min,
	       (unsigned long long)histogram_percentile(h, 50), (unsigned long long)histogram_percentile(h, 99));
}

static void print_field(const char *name, const struct histogram *h, const char *end)
{
	printf(" \"%s\": {\"mean\": %.10g, \"min\": %llu, \"p50\": %llu, \"p99\": %llu}%s\n", name,
	       histogram_mean(h), (unsigned long long)h->min, (unsigned long long)histogram_percentile(h, 50),
	       (unsigned long long)histogram_percentile(h, 99), end);
}

void self_test(const struct options *o)
{
	const struct options s = settled(o);
	struct histogram stamp = { 0 }, through_pipe = { 0 }, wake = { 0 };

	run_on(s.waker_cpu);
	measure_stamp(&stamp);
	measure_pipe(&through_pipe);
	measure_wake(&s, &wake);
	if (s.json) {
		printf("{\n \"tool\": \"cpuidle-smt-performance\",\n \"acpu\": %d,\n \"icpu\": %d,\n",
		       s.waker_cpu, s.irritator_cpu[0]);
		print_field("stamp_ns", &stamp, ",");
		print_field("pipe_ns", &through_pipe, ",");
		print_field("wake_ns", &wake, "");
		printf("}\n");
		return;
	}
	printf("%-46s %8s %8s %8s %8s\n", "Self-test, ns", "mean", "min", "p50", "p99");
	print_line("Stamp", &stamp);
	print_line("Stamp through a pipe, no one asleep", &through_pipe);
	printf("Wake of CPU %d by CPU %d, its sleeper asleep,\n", s.irritator_cpu[0], s.waker_cpu);
	print_line("  the CPU kept from idling: the latency floor", &wake);
}
