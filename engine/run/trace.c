// SPDX-License-Identifier: GPL-2.0-only
/* Traces of the kernel's own tracepoints: everything, or a ring of the last events. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "scenario.h"
#include "trace.h"

static struct trace_options opt;
static FILE *out;
static FILE *ring;
static int perfetto;
static unsigned char cpu_wanted[HW_MAX_CPUS];

static void select_cpus(const char *list)
{
	char *end;

	memset(cpu_wanted, !list, sizeof(cpu_wanted));
	while (list && *list) {
		long from = strtol(list, &end, 10), to = from;

		if (end == list)
			hw_refuse("--trace-cpus: \"%s\" is not a list like 0-3,8", opt.cpus);
		if (*end == '-')
			to = strtol(end + 1, &end, 10);
		for (long i = from; i <= to && i < HW_MAX_CPUS; i++)
			cpu_wanted[i] = 1;
		list = *end == ',' ? end + 1 : end;
		if (*end && *end != ',')
			hw_refuse("--trace-cpus: \"%s\" is not a list like 0-3,8", opt.cpus);
	}
}

static int is_raised(const struct kern_tracepoint *tp)
{
	struct kern_tracepoint *const *raised = __start_kern_raised;

	while (raised < __stop_kern_raised && *raised != tp)
		raised++;
	return raised < __stop_kern_raised;
}

/* Names may be patterns, with or without their system: sched_switch, sched:*, power:cpu_idle. */
static void select_events(const char *list)
{
	char *copy = strdup(list ? list : "sched_switch,sched_wakeup,sched_waking,sched_wakeup_new,sched_migrate_task,sched_process_fork,sched_process_exit");
	char full[96];

	for (char *name = strtok(copy, ","); name; name = strtok(NULL, ",")) {
		int found = 0, raised = 0;

		for (struct kern_tracepoint *tp = __start_kern_tracepoints; tp < __stop_kern_tracepoints; tp++) {
			snprintf(full, sizeof(full), "%s:%s", tp->system, tp->name);
			if (fnmatch(name, tp->name, 0) && fnmatch(name, full, 0))
				continue;
			found = 1;
			raised |= is_raised(tp);
			tp->enabled = !!tp->emit;
		}
		if (!found)
			hw_refuse("--trace-events: this kernel has no tracepoint \"%s\"", name);
		if (!raised)
			hw_refuse("--trace-events: no code that is simulated raises \"%s\"", name);
	}
	free(copy);
}

void trace_open(const struct trace_options *options)
{
	opt = *options;
	if (!opt.file)
		return;
	perfetto = !strcmp(opt.format, "perfetto");
	if (!perfetto && strcmp(opt.format, "ftrace"))
		hw_refuse("--trace-format: \"%s\": ftrace or perfetto", opt.format);
	out = fopen(opt.file, "w");
	if (!out)
		hw_refuse("--trace: %s cannot be written", opt.file);
	select_cpus(opt.cpus);
	select_events(opt.events);
	if (opt.ring)
		ring = ring_open(opt.ring);
	if (perfetto)
		return;
	setups_open();
	fprintf(out, "# tracer: nop\n#\n# entries-in-buffer/entries-written: 0/0   #P:%d\n#\n"
		"#                                _-----=> irqs-off\n"
		"#                               / _----=> need-resched\n"
		"#                              | / _---=> hardirq/softirq\n"
		"#                              || / _--=> preempt-depth\n"
		"#                              ||| /     delay\n"
		"#           TASK-PID     CPU#  ||||   TIMESTAMP  FUNCTION\n"
		"#              | |         |   ||||      |         |\n", hw_nr_cpus);
}

static simtime zero(void)
{
	return opt.boot ? 0 : origin;
}

/* One event of the running CPU. */
struct event {
	const struct kern_tracepoint *tp;
	const char *comm, *flags, *text;
	int pid;
	unsigned long len;
};

/*
 * Four letters, as kernels before 5.17 print: not every reader knows the fifth.  Nanoseconds, as
 * trace-cmd prints them with -t.
 */
static void ftrace_write(FILE *f, simtime time, const struct event *e)
{
	fprintf(f, "%16s-%-7d [%03d] %s %5llu.%09llu: %s: %.*s\n", e->comm, e->pid, hw.cpu,
		e->flags, time / SEC, time % SEC, e->tp->name, (int)e->len, e->text);
}

static void write_event(FILE *f, const struct event *e)
{
	simtime time = hw.clk - zero();

	if (perfetto)
		perfetto_write(f, time, e->tp->name, e->pid, e->text, e->len);
	else
		ftrace_write(f, time, e);
}

void trace_write(const struct kern_tracepoint *tp, const char *flags, const char *text,
		 unsigned long len)
{
	const struct hw_task *task = hw_running_task();
	struct event e = { .tp = tp, .flags = flags, .text = text, .len = len, .comm = "<idle>" };

	if (!out || !cpu_wanted[hw.cpu])
		return;
	if (!(origin || opt.boot) || hw.clk < zero() + (simtime)(opt.from * 1e9) ||
	    (opt.to >= 0 && hw.clk > zero() + (simtime)(opt.to * 1e9)))
		return;
	if (task && task->pid) {
		e.comm = task->comm;
		e.pid = task->pid;
	}
	/* An event that names a wanted task is wanted, whoever raised it. */
	if (opt.tasks && fnmatch(opt.tasks, e.comm, 0)) {
		char pattern[80];

		snprintf(pattern, sizeof(pattern), "*comm=%s *", opt.tasks);
		if (fnmatch(pattern, text, 0))
			return;
	}
	write_event(ring ? ring : out, &e);
	if (ring)
		fflush(ring);
}

void trace_close(void)
{
	if (!out)
		return;
	if (ring)
		ring_write_out(out);
	if (!perfetto)
		setups_write_out(out);
	if (fclose(out))
		hw_refuse("--trace: writing %s failed", opt.file);
	out = NULL;
}
