// SPDX-License-Identifier: GPL-2.0-only
#include <string.h>
#include "cpus.h"
#include "fail.h"
#include "idle.h"
#include "placement.h"

void check_cpu(const char *option, int cpu)
{
	int error;

	if (!is_online(cpu))
		fail("%s %d: this CPU is not online (/sys/devices/system/cpu/online)", option, cpu);
	error = run_on(cpu);
	if (error)
		fail("%s %d: no thread may run there: %s. A cpuset or container may hold it back:"
		     " Cpus_allowed_list in /proc/self/status", option, cpu, strerror(error));
}

static void check_overlap(const struct options *o)
{
	for (int i = 0; i < o->nr_irritators; i++) {
		if (o->irritator_cpu[i] == o->workload_cpu)
			fail("--icpu %d: the workload is there; it would never let the irritator's CPU idle",
			     o->irritator_cpu[i]);
		if (o->irritator_cpu[i] == o->waker_cpu)
			fail("--icpu %d: the waker is there; it would never find the irritator's CPU idle",
			     o->irritator_cpu[i]);
	}
	if (o->waker_cpu != o->workload_cpu)
		return;
	if (!o->sleeping_waker)
		fail("--acpu %d: the workload is there, and a waker that spins would take half of its CPU;"
		     " name another, or let the waker sleep with --sleep", o->waker_cpu);
	warn("workload and waker share CPU %d: what the waker does is missing from the throughput",
	     o->waker_cpu);
}

static bool named_before(const struct options *o, int i)
{
	for (int j = 0; j < i; j++)
		if (o->irritator_cpu[j] == o->irritator_cpu[i])
			return true;
	return false;
}

static void check_siblings(const struct options *o)
{
	char list[500];

	if (!siblings_of(o->workload_cpu, list, sizeof(list))) {
		warn("CPU %d: sysfs does not list its SMT siblings", o->workload_cpu);
		return;
	}
	for (int i = 0; i < o->nr_irritators; i++)
		if (!in_cpulist(list, o->irritator_cpu[i]) && !named_before(o, i))
			warn("irritator CPU %d is not an SMT sibling of workload CPU %d (its core's CPUs: %s):"
			     " no idle state of the one gives the other more of a core",
			     o->irritator_cpu[i], o->workload_cpu, list);
	if (o->waker_cpu != o->workload_cpu && in_cpulist(list, o->waker_cpu))
		warn("waker CPU %d is an SMT sibling of workload CPU %d (its core's CPUs: %s):"
		     " the core is never the workload's alone", o->waker_cpu, o->workload_cpu, list);
}

static void check_idle_states(const struct options *o)
{
	for (int i = 0; i < o->nr_irritators; i++) {
		struct idle_states states;
		int cpu = o->irritator_cpu[i];

		if (named_before(o, i))
			continue;
		states = read_idle(cpu);
		if (!states.nr)
			warn("CPU %d shows no idle states (usual in a virtual machine): latency and throughput"
			     " are measured all the same", cpu);
		for (int s = 0; s < states.nr; s++)
			if (states.state[s].disabled)
				warn("CPU %d: idle state %s is disabled", cpu, states.state[s].name);
		free_idle(&states);
	}
}

void check_placement(const struct options *o)
{
	if (!o->nr_irritators)
		fail("no irritator: name at least one CPU with -i");
	if (o->workload_cpu < 0)
		fail("no workload: name its CPU with -w");
	if (o->waker_cpu < 0)
		fail("no waker: name its CPU with -a");
	check_overlap(o);
	check_cpu("--wcpu", o->workload_cpu);
	for (int i = 0; i < o->nr_irritators; i++)
		check_cpu("--icpu", o->irritator_cpu[i]);
	check_cpu("--acpu", o->waker_cpu);
	check_siblings(o);
	check_idle_states(o);
}
