// SPDX-License-Identifier: GPL-2.0-only
/* The result of a run as JSON: what was counted in its measured window. */
#include <stdlib.h>
#include <string.h>
#include "energy.h"
#include "instance.h"
#include "scenario.h"
#include "steady.h"

/* What the kernel counts itself, as it was when the window began. */
static struct kern_balance balance_base[KERN_MAX_DOMAINS];
static simtime forced_idle_base;
static unsigned long events_base;
static struct {
	struct hw_cpu_time time;
	struct kern_idle state[HW_MAX_IDLE_STATES];
} cpu_base[HW_MAX_CPUS];

void results_window_begin(void)
{
	hw_begin_window();
	energy_window_begin();
	forced_idle_base = kern_forced_idle();
	memset(&kern_core_stats, 0, sizeof(kern_core_stats));
	memset(&kern_newidle, 0, sizeof(kern_newidle));
	events_base = hw_events();
	kern_balance_stats(balance_base);
	for (struct kern_tracepoint *tp = __start_kern_tracepoints; tp < __stop_kern_tracepoints; tp++)
		tp->count = 0;
	for (struct kern_vm_counter *c = kern_vm_counters; c->name; c++)
		c->count = 0;
	for (int i = 0; i < hw_nr_cpus; i++) {
		cpu_base[i].time = hw_cpu_time(i);
		for (int state = 0; state < hw_nr_idle_states; state++)
			kern_idle_stats(i, state, &cpu_base[i].state[state]);
	}
	for_each_task(t) {
		kern_collect(&t->kern);
		t->runtime_base = t->runtime;
		t->ops = 0;
		t->wait_sum = t->wait_max = 0;
		t->waits = t->migrations = t->voluntary = t->involuntary = 0;
	}
}

/* ------------------------------------------------------------------ writing */

#define set_int(obj, key, value)	json_object_set_new(obj, key, json_integer(value))
#define set_num(obj, key, value)	json_object_set_new(obj, key, json_real(value))
#define set_text(obj, key, value)	json_object_set_new(obj, key, json_string(value))

static const struct { const char *name; double p; } percentile[] = {
	{ "p50_ns", 50 }, { "p90_ns", 90 }, { "p99_ns", 99 }, { "p99.9_ns", 99.9 },
};
#define NR_PERCENTILES	(sizeof(percentile) / sizeof(percentile[0]))

static json_t *durations_json(const struct hw_durations *h)
{
	json_t *obj = json_object(), *buckets = json_array();

	set_int(obj, "count", h->count);
	set_num(obj, "mean_ns", h->count ? (double)h->sum / h->count : 0);
	set_int(obj, "max_ns", h->max);
	for (size_t i = 0; i < NR_PERCENTILES; i++)
		set_int(obj, percentile[i].name, hw_percentile(h, percentile[i].p));
	for (int b = 0; b < HW_DURATION_BUCKETS; b++)
		if (h->bucket[b])
			json_array_append_new(buckets, json_pack("[I,I]", (json_int_t)hw_duration_of(b),
								 (json_int_t)h->bucket[b]));
	json_object_set_new(obj, "buckets", buckets);
	return obj;
}

static json_t *task_wakeups_json(void)
{
	json_t *obj = durations_json(&hw_counts.task_wakeup);

	for (size_t i = 0; i < NR_PERCENTILES; i++)
		set_int(obj, percentile[i].name, hw_task_wakeup_percentile(percentile[i].p));
	return obj;
}

/* Balance passes and tasks pulled, by domain: busy, idle and newly idle. */
static void balance_counters(json_t *obj)
{
	static const char *const type[] = { "busy", "idle", "newidle" };
	struct kern_balance now[KERN_MAX_DOMAINS];
	char key[64];

	if (!kern_counts_balance())
		return;
	kern_balance_stats(now);
	for (const struct kern_balance *d = now; d->name[0]; d++) {
		const struct kern_balance *base = balance_base;

		while (base->name[0] && strcmp(base->name, d->name))
			base++;
		for (int t = 0; t < 3; t++) {
			snprintf(key, sizeof(key), "%s:calls:%.15s", type[t], d->name);
			set_int(obj, key, d->calls[t] - base->calls[t]);
			snprintf(key, sizeof(key), "%s:pulls:%.15s", type[t], d->name);
			set_int(obj, key, d->pulls[t] - base->pulls[t]);
		}
	}
}

static void newidle_counters(json_t *obj)
{
	set_int(obj, "newidle:entries", kern_newidle.entries);
	set_int(obj, "newidle:left:pending", kern_newidle.pending);
	set_int(obj, "newidle:left:calm", kern_newidle.calm);
	set_int(obj, "newidle:left:avg_idle", kern_newidle.brief);
	set_int(obj, "newidle:found", kern_newidle.found);
	set_int(obj, "newidle:avg_idle:ns", kern_newidle.avg_idle);
}

/* All tracepoints, also those that were not hit. */
static json_t *tracepoints_json(void)
{
	json_t *list = json_array();
	char name[64];

	for (struct kern_tracepoint *tp = __start_kern_tracepoints; tp < __stop_kern_tracepoints; tp++) {
		snprintf(name, sizeof(name), "%s:%s", tp->system, tp->name);
		json_array_append_new(list, json_string(name));
	}
	return list;
}

static json_t *counters_json(void)
{
	static const char *const distance[] = { HW_DISTANCES(HW_NAME) };
	json_t *obj = json_object();
	char key[64];

	for (struct kern_tracepoint *tp = __start_kern_tracepoints; tp < __stop_kern_tracepoints; tp++) {
		snprintf(key, sizeof(key), "%s:%s", tp->system, tp->name);
		if (tp->count || !strcmp(tp->system, "sched") || !strcmp(tp->system, "schedlab"))
			set_int(obj, key, tp->count);
	}
	/* raised by tasks of workloads, as `perf stat COMMAND` counts */
	set_int(obj, "workload:sched_migrate_task", hw_counts.own_migrations);
	for (struct kern_vm_counter *c = kern_vm_counters; c->name; c++) {
		snprintf(key, sizeof(key), "vmstat:%s", c->name);
		set_int(obj, key, c->count);
	}
	for (int wake = 0; wake < 2; wake++)
		for (int d = HW_CORE; d < HW_NR_DISTANCES; d++) {
			snprintf(key, sizeof(key), "migrations:%s:%s", wake ? "wakeup" : "balance",
				 distance[d]);
			set_int(obj, key, hw_counts.migrations[wake][d]);
		}
	balance_counters(obj);
	newidle_counters(obj);
	set_int(obj, "switches:voluntary", hw_counts.voluntary);
	set_int(obj, "switches:involuntary", hw_counts.involuntary);
#define PAID(name)	set_int(obj, "cost:" #name, hw_counts.name);
	HW_PAID(PAID)
#undef PAID
	if (scenario.cookies) {
		set_int(obj, "core:forced_idle_ns", kern_forced_idle() - forced_idle_base);
		set_int(obj, "core:mixed_ns", kern_core_stats.mixed_ns);
		set_int(obj, "core:mixed_longest_ns", kern_core_stats.longest_ns);
	}
	if (kern_highest_cid >= 0)
		set_int(obj, "mm_cid:highest", kern_highest_cid);
	set_int(obj, "engine:catch_ups", hw_counts.catch_ups);
	set_int(obj, "engine:spins", hw_counts.spins);
	return obj;
}

static json_t *tasks_json(void)
{
	json_t *list = json_array();

	for_each_task(t) {
		json_t *obj;

		if (!t->measured)
			continue;
		kern_collect(&t->kern);
		obj = json_object();
		set_text(obj, "name", t->comm);
		set_int(obj, "pid", t->pid);
		set_int(obj, "runtime_ns", t->runtime - t->runtime_base);
		set_int(obj, "wait_ns", t->wait_sum);
		set_int(obj, "wait_max_ns", t->wait_max);
		set_int(obj, "waits", t->waits);
		set_int(obj, "migrations", t->migrations);
		set_int(obj, "voluntary", t->voluntary);
		set_int(obj, "involuntary", t->involuntary);
		set_int(obj, "ops", t->ops);
		set_int(obj, "born_ns", t->born - origin);
		if (t->died)
			set_int(obj, "died_ns", t->died - origin);
		json_array_append_new(list, obj);
	}
	return list;
}

/* Adds what a CPU's idle states have counted in the hw_counts. */
static void add_idle(struct kern_idle sum[], int cpu)
{
	for (int i = 0; i < hw_nr_idle_states; i++) {
		const struct kern_idle *base = &cpu_base[cpu].state[i];
		struct kern_idle now;

		kern_idle_stats(cpu, i, &now);
		sum[i].usage += now.usage - base->usage;
		sum[i].time_ns += now.time_ns - base->time_ns;
		sum[i].above += now.above - base->above;
		sum[i].below += now.below - base->below;
		sum[i].rejected += now.rejected - base->rejected;
	}
}

static json_t *idle_json(const struct kern_idle sum[])
{
	json_t *list = json_array();

	for (int i = 0; i < hw_nr_idle_states; i++) {
		json_t *obj = json_object();

		set_text(obj, "name", hw_idle_states[i].name);
		set_int(obj, "usage", sum[i].usage);
		set_int(obj, "time_ns", sum[i].time_ns);
		set_int(obj, "above", sum[i].above);
		set_int(obj, "below", sum[i].below);
		set_int(obj, "rejected", sum[i].rejected);
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *idle_of_all_json(void)
{
	struct kern_idle sum[HW_MAX_IDLE_STATES] = { };

	for (int i = 0; i < hw_nr_cpus; i++)
		add_idle(sum, i);
	return idle_json(sum);
}

static json_t *cpus_json(void)
{
	json_t *list = json_array();

	for (int i = 0; i < hw_nr_cpus; i++) {
		struct kern_idle idle[HW_MAX_IDLE_STATES] = { };
		const struct hw_cpu_time now = hw_cpu_time(i), *base = &cpu_base[i].time;
		json_t *obj = json_object();

		add_idle(idle, i);
		set_int(obj, "cpu", i);
		set_int(obj, "user_ns", now.user - base->user);
		set_int(obj, "kernel_ns", now.kernel - base->kernel);
		set_int(obj, "idle_ns", now.idle - base->idle);
		set_int(obj, "offline_ns", now.off - base->off);
		json_object_set_new(obj, "idle_states", idle_json(idle));
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *kernel_time_json(void)
{
	static const char *const names[] = { HW_ENTRIES(HW_NAME) };
	json_t *obj = json_object();

	for (int i = 0; i < HW_NR_ENTRIES; i++)
		set_int(obj, names[i], hw_counts.kernel_ns[i]);
	return obj;
}

/* Of each group of tasks: how many there were, how long, and where their time went. */
static json_t *task_time_json(void)
{
	static const char *const names[] = { HW_TIMES(HW_TIME_NAME) };
	json_t *groups = json_object();

	for (const struct hw_account *a = hw_first_account; a; a = a->next) {
		json_t *obj, *parts;
		simtime all = 0;

		if (!a->tasks)
			continue;
		obj = json_object();
		parts = json_object();
		for (int i = 0; i < HW_NR_TIMES; i++) {
			set_int(parts, names[i], a->ns[i]);
			all += a->ns[i];
		}
		set_int(obj, "tasks", a->tasks);
		set_int(obj, "ns", all);
		json_object_set_new(obj, "parts_ns", parts);
		json_object_set_new(groups, a->name, obj);
	}
	return groups;
}

static json_t *functions_json(void)
{
	static const char *const names[] = { HW_FUNCTIONS(HW_NAME) };
	json_t *all = json_object();

	for (int i = 0; i < HW_NR_FUNCTIONS; i++) {
		json_t *obj = json_object();

		set_int(obj, "calls", hw_counts.function[i].calls);
		set_int(obj, "ns", hw_counts.function[i].ns);
		json_object_set_new(all, names[i], obj);
	}
	return all;
}

static simtime busy_in_window(int cpu)
{
	const struct hw_cpu_time now = hw_cpu_time(cpu), *base = &cpu_base[cpu].time;

	return now.user - base->user + now.kernel - base->kernel;
}

static json_t *metrics_json(double seconds)
{
	json_t *obj = json_object();
	unsigned long ops = 0;
	simtime busy = 0;
	char key[64];

	for_each_task(t)
		if (t->measured)
			ops += t->ops;
	for (int i = 0; i < hw_nr_cpus; i++)
		busy += busy_in_window(i);
	if (seconds > 0) {
		set_num(obj, "utilisation", busy / 1e9 / seconds / hw_nr_cpus);
		set_num(obj, "ops_per_s", ops / seconds);
	}
	for (int i = 0; i < scenario.nr_workloads; i++) {
		const struct instance *instance = &scenario.workloads[i];
		json_t *result;
		size_t n;

		json_array_foreach(instance->results, n, result) {
			snprintf(key, sizeof(key), "%s.%s", instance->label,
				 json_string_value(json_object_get(result, "name")));
			json_object_set(obj, key, json_object_get(result, "value"));
		}
	}
	return obj;
}

/* The most memory this program had; getrusage() would count its parent's before exec() too. */
static unsigned long peak_kb(void)
{
	FILE *status = fopen("/proc/self/status", "r");
	unsigned long kb = 0;
	char line[128];

	while (status && fgets(line, sizeof(line), status))
		if (sscanf(line, "VmHWM: %lu", &kb) == 1)
			break;
	if (status)
		fclose(status);
	return kb;
}

json_t *results_json(const char *status, double wall, double cpu)
{
	double seconds = (hw.clk - hw_counts.start) / 1e9;
	static char text[4 << 20];
	json_t *root = json_object(), *engine = json_object();
	unsigned long events = hw_events();
	char hash[20];

	hw_settle_accounts();
	snprintf(hash, sizeof(hash), "%016llx", hw_trace_hash);
	set_text(root, "status", status);
	set_text(root, "machine", hw_machine.name);
	set_text(root, "kernel", kern_release);
	set_int(root, "hz", kern_hz);
	set_int(root, "cpus", hw_nr_cpus);
	set_text(root, "trace_hash", hash);
	json_object_set_new(root, "settings", settings_json());
	set_num(root, "window_s", seconds);
	set_num(root, "boot_s", origin / 1e9);
	set_num(root, "simulated_s", (hw.clk - origin) / 1e9);
	json_object_set_new(root, "steady", steady_json(hw_counts.start));
	json_object_set_new(root, "metrics", metrics_json(seconds));
	json_object_set_new(root, "counters", counters_json());
	json_object_set_new(root, "tracepoints", tracepoints_json());
	json_object_set_new(root, "wakeup_latency", durations_json(&hw_counts.wakeup));
	json_object_set_new(root, "queue_latency", durations_json(&hw_counts.queued));
	json_object_set_new(root, "task_wakeup_latency", task_wakeups_json());
	json_object_set_new(root, "tasks", tasks_json());
	json_object_set_new(root, "per_cpu", cpus_json());
	json_object_set_new(root, "idle_states", idle_of_all_json());
	json_object_set_new(root, "kernel_time_ns", kernel_time_json());
	json_object_set_new(root, "functions", functions_json());
	json_object_set_new(root, "task_time", task_time_json());
	json_object_set_new(root, "frequency_domains", energy_domains_json());
	json_object_set_new(root, "kinds", energy_kinds_json());
	if (kern_read_file("/proc/schedstat", text, sizeof(text)) >= 0)
		set_text(root, "schedstat", text);
	if (kern_read_file("/proc/pressure/cpu", text, sizeof(text)) >= 0)
		set_text(root, "pressure_cpu", text);
	json_object_set_new(root, "picture", picture_json());
	set_int(engine, "events", events);
	set_int(engine, "window_events", events - events_base);
	set_int(engine, "peak_kb", peak_kb());
	set_num(engine, "wall_s", wall);
	set_num(engine, "cpu_s", cpu);
	set_num(engine, "events_per_cpu_s", cpu > 0 ? events / cpu : 0);
	json_object_set_new(root, "engine", engine);
	return root;
}

void results_write(json_t *root, const char *path)
{
	if (json_dump_file(root, path, JSON_INDENT(1)))
		hw_refuse("%s: cannot be written", path);
	json_decref(root);
}
