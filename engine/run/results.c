// SPDX-License-Identifier: GPL-2.0-only
/* Accounting while the run goes, and its result as JSON. */
#include <stdlib.h>
#include <string.h>
#include "instance.h"
#include "scenario.h"
#include "steady.h"

unsigned long long results_hash = 1469598103934665603ULL;

/* ------------------------------------------------------------------ histograms */

/* Logarithmic, eight buckets an octave: an error of at most 6 % in a percentile. */
#define BUCKETS (64 * 8)

struct histogram {
	unsigned long bucket[BUCKETS], count;
	simtime sum, max;
};

static int bucket_of(simtime ns)
{
	int octave;

	if (ns < 8)
		return ns;
	octave = 63 - __builtin_clzll(ns);
	return (octave - 2) * 8 + ((ns >> (octave - 3)) & 7);
}

static simtime bucket_start(int b)
{
	if (b < 8)
		return b;
	return (8ULL + b % 8) << (b / 8 - 1);
}

static void histogram_add(struct histogram *h, simtime ns)
{
	h->bucket[bucket_of(ns)]++;
	h->count++;
	h->sum += ns;
	if (ns > h->max)
		h->max = ns;
}

static simtime percentile(const struct histogram *h, double p)
{
	unsigned long need = h->count * p / 100, have = 0;

	for (int b = 0; b < BUCKETS; b++) {
		have += h->bucket[b];
		if (have > need)
			return bucket_start(b) < h->max ? bucket_start(b) : h->max;
	}
	return h->max;
}

/* ------------------------------------------------------------------ counting */

static struct {
	simtime start;
	struct histogram wakeup, queued;
	unsigned long migrations[2][SIM_NR_DISTANCES];	/* [at wakeup] */
	unsigned long own_migrations;
	unsigned long voluntary, involuntary;
	struct kern_balance balance[KERN_MAX_DOMAINS];
	unsigned long events;
	simtime forced_idle;
} window;

static struct {
	simtime user, kernel, idle, off;
	struct kern_idle state[SIM_MAX_IDLE_STATES];
} cpu_base[SIM_MAX_CPUS];

void sim_hash(unsigned long long a, unsigned long long b)
{
	unsigned long long h = results_hash;

	h = (h ^ sim.clk) * 1099511628211ULL;
	h = (h ^ (unsigned int)sim.cpu) * 1099511628211ULL;
	h = (h ^ a) * 1099511628211ULL;
	h = (h ^ b) * 1099511628211ULL;
	results_hash = h ^ h >> 29;
}

void sim_note_switch(struct sim_task *prev, int preempted, struct sim_task *next)
{
	if (prev) {
		if (preempted) {
			prev->ready_at = sim.clk;
			prev->ready_is_wakeup = 0;
			prev->involuntary++;
			window.involuntary++;
		} else {
			prev->voluntary++;
			window.voluntary++;
		}
	}
	if (next && next->ready_at) {
		simtime wait = sim.clk > next->ready_at ? sim.clk - next->ready_at : 0;

		histogram_add(next->ready_is_wakeup ? &window.wakeup : &window.queued, wait);
		next->ready_at = 0;
		next->wait_sum += wait;
		next->waits++;
		if (wait > next->wait_max)
			next->wait_max = wait;
	}
}

void sim_note_runnable(struct sim_task *task, int is_wakeup)
{
	task->ready_at = sim.clk;
	task->ready_is_wakeup = is_wakeup;
}

void sim_note_migration(struct sim_task *task, int from, int to, int at_wakeup)
{
	task->migrations++;
	window.migrations[at_wakeup][sim_cpu_distance[from][to]]++;
	if (self() && self()->instance)
		window.own_migrations++;
}

void results_window_begin(void)
{
	cpu_settle_accounts();
	memset(&window, 0, sizeof(window));
	window.forced_idle = kern_forced_idle();
	memset(&kern_core_stats, 0, sizeof(kern_core_stats));
	memset(&kern_newidle, 0, sizeof(kern_newidle));
	window.start = sim.clk;
	window.events = sim_events;
	kern_balance_stats(window.balance);
	for (struct sim_tracepoint *tp = __start_sim_tracepoints; tp < __stop_sim_tracepoints; tp++)
		tp->count = 0;
	for (struct kern_vm_counter *c = kern_vm_counters; c->name; c++)
		c->count = 0;
	for (int i = 0; i < sim_nr_cpus; i++) {
		cpu_base[i].user = cpus[i].user_ns;
		cpu_base[i].kernel = cpus[i].kernel_ns;
		cpu_base[i].idle = cpus[i].idle_ns;
		cpu_base[i].off = cpus[i].off_ns;
		for (int state = 0; state < sim_nr_idle_states; state++)
			kern_idle_stats(i, state, &cpu_base[i].state[state]);
	}
	for (struct sim_task *t = all_tasks; t; t = t->next) {
		kern_collect(t);
		t->runtime_base = t->runtime;
		t->ops = 0;
		t->wait_sum = t->wait_max = 0;
		t->waits = t->migrations = t->voluntary = t->involuntary = 0;
	}
	cache_lookups = cache_misses = lock_waits = lock_refusals = hot_waits = hot_retries = spins = catch_ups = 0;
	lock_wait_ns = hot_wait_ns = refill_ns = fabric_wait_ns = 0;
	memset(kernel_by_entry, 0, sizeof(kernel_by_entry));
	memset(sim_function_time, 0, sizeof(sim_function_time));
}

/* ------------------------------------------------------------------ writing */

#define set_int(obj, key, value)	json_object_set_new(obj, key, json_integer(value))
#define set_num(obj, key, value)	json_object_set_new(obj, key, json_real(value))
#define set_text(obj, key, value)	json_object_set_new(obj, key, json_string(value))

static json_t *histogram_json(const struct histogram *h)
{
	static const struct { const char *name; double p; } at[] = {
		{ "p50_ns", 50 }, { "p90_ns", 90 }, { "p99_ns", 99 }, { "p99.9_ns", 99.9 },
	};
	json_t *obj = json_object(), *buckets = json_array();

	set_int(obj, "count", h->count);
	set_num(obj, "mean_ns", h->count ? (double)h->sum / h->count : 0);
	set_int(obj, "max_ns", h->max);
	for (size_t i = 0; i < sizeof(at) / sizeof(at[0]); i++)
		set_int(obj, at[i].name, percentile(h, at[i].p));
	for (int b = 0; b < BUCKETS; b++)
		if (h->bucket[b])
			json_array_append_new(buckets, json_pack("[I,I]", (json_int_t)bucket_start(b),
								 (json_int_t)h->bucket[b]));
	json_object_set_new(obj, "buckets", buckets);
	return obj;
}

/* Balance passes and tasks pulled, by domain: busy, idle and newly idle. */
static void balance_counters(json_t *obj)
{
	static const char *const type[] = { "busy", "idle", "newidle" };
	struct kern_balance now[KERN_MAX_DOMAINS];
	char key[64];

	kern_balance_stats(now);
	for (const struct kern_balance *d = now; d->name[0]; d++) {
		const struct kern_balance *base = window.balance;

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

/* All there are, for who asks for one that was not hit. */
static json_t *tracepoints_json(void)
{
	json_t *list = json_array();
	char name[64];

	for (struct sim_tracepoint *tp = __start_sim_tracepoints; tp < __stop_sim_tracepoints; tp++) {
		snprintf(name, sizeof(name), "%s:%s", tp->system, tp->name);
		json_array_append_new(list, json_string(name));
	}
	return list;
}

static json_t *counters_json(void)
{
	static const char *const distance[] = {
		"self", "core", "cluster", "llc", "node", "package", "remote"
	};
	json_t *obj = json_object();
	char key[64];

	for (struct sim_tracepoint *tp = __start_sim_tracepoints; tp < __stop_sim_tracepoints; tp++) {
		snprintf(key, sizeof(key), "%s:%s", tp->system, tp->name);
		if (tp->count || !strcmp(tp->system, "sched") || !strcmp(tp->system, "schedlab"))
			set_int(obj, key, tp->count);
	}
	/* raised by tasks of workloads, as `perf stat COMMAND` counts */
	set_int(obj, "workload:sched_migrate_task", window.own_migrations);
	for (struct kern_vm_counter *c = kern_vm_counters; c->name; c++) {
		snprintf(key, sizeof(key), "vmstat:%s", c->name);
		set_int(obj, key, c->count);
	}
	for (int wake = 0; wake < 2; wake++)
		for (int d = SIM_CORE; d < SIM_NR_DISTANCES; d++) {
			snprintf(key, sizeof(key), "migrations:%s:%s", wake ? "wakeup" : "balance",
				 distance[d]);
			set_int(obj, key, window.migrations[wake][d]);
		}
	balance_counters(obj);
	newidle_counters(obj);
	set_int(obj, "switches:voluntary", window.voluntary);
	set_int(obj, "switches:involuntary", window.involuntary);
	set_int(obj, "cost:runqueue_lookups", cache_lookups);
	set_int(obj, "cost:runqueue_misses", cache_misses);
	set_int(obj, "cost:lock_waits", lock_waits);
	set_int(obj, "cost:lock_refusals", lock_refusals);
	set_int(obj, "cost:lock_wait_ns", lock_wait_ns);
	set_int(obj, "cost:hot_line_retries", hot_retries);
	set_int(obj, "cost:hot_line_waits", hot_waits);
	set_int(obj, "cost:hot_line_wait_ns", hot_wait_ns);
	set_int(obj, "cost:refill_ns", refill_ns);
	set_int(obj, "cost:fabric_wait_ns", fabric_wait_ns);
	if (scenario.cookies) {
		set_int(obj, "core:forced_idle_ns", kern_forced_idle() - window.forced_idle);
		set_int(obj, "core:mixed_ns", kern_core_stats.mixed_ns);
		set_int(obj, "core:mixed_longest_ns", kern_core_stats.longest_ns);
	}
	set_int(obj, "engine:catch_ups", catch_ups);
	set_int(obj, "engine:spins", spins);
	return obj;
}

static json_t *tasks_json(void)
{
	json_t *list = json_array();

	for (struct sim_task *t = all_tasks; t; t = t->next) {
		json_t *obj;

		if (!t->measured)
			continue;
		kern_collect(t);
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

/* Adds what a CPU's idle states have counted in the window. */
static void add_idle(struct kern_idle sum[], int cpu)
{
	for (int i = 0; i < sim_nr_idle_states; i++) {
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

	for (int i = 0; i < sim_nr_idle_states; i++) {
		json_t *obj = json_object();

		set_text(obj, "name", sim_idle_states[i].name);
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
	struct kern_idle sum[SIM_MAX_IDLE_STATES] = { };

	for (int i = 0; i < sim_nr_cpus; i++)
		add_idle(sum, i);
	return idle_json(sum);
}

static json_t *cpus_json(void)
{
	json_t *list = json_array();

	for (int i = 0; i < sim_nr_cpus; i++) {
		struct kern_idle idle[SIM_MAX_IDLE_STATES] = { };
		const struct cpu *c = &cpus[i];
		json_t *obj = json_object();

		add_idle(idle, i);
		set_int(obj, "cpu", i);
		set_int(obj, "user_ns", c->user_ns - cpu_base[i].user);
		set_int(obj, "kernel_ns", c->kernel_ns - cpu_base[i].kernel);
		set_int(obj, "idle_ns", c->idle_ns - cpu_base[i].idle);
		set_int(obj, "offline_ns", c->off_ns - cpu_base[i].off);
		json_object_set_new(obj, "idle_states", idle_json(idle));
		json_array_append_new(list, obj);
	}
	return list;
}

static json_t *kernel_time_json(void)
{
	static const char *const names[] = {
		"other", "syscall", "timer", "call_function", "reschedule", "idle_loop"
	};
	json_t *obj = json_object();

	for (int i = 0; i < SIM_NR_ENTRIES; i++)
		set_int(obj, names[i], kernel_by_entry[i]);
	return obj;
}

static json_t *functions_json(void)
{
	static const char *const names[] = {
		"select_task_rq", "pick_next_task", "newidle_balance", "load_balance",
		"update_sd_lb_stats", "update_blocked_averages"
	};
	json_t *all = json_object();

	for (int i = 0; i < SIM_NR_FUNCTIONS; i++) {
		json_t *obj = json_object();

		set_int(obj, "calls", sim_function_time[i].calls);
		set_int(obj, "ns", sim_function_time[i].ns);
		json_object_set_new(all, names[i], obj);
	}
	return all;
}

static json_t *metrics_json(double seconds)
{
	json_t *obj = json_object();
	unsigned long ops = 0;
	simtime busy = 0;
	char key[64];

	for (struct sim_task *t = all_tasks; t; t = t->next)
		if (t->measured)
			ops += t->ops;
	for (int i = 0; i < sim_nr_cpus; i++)
		busy += cpus[i].user_ns - cpu_base[i].user + cpus[i].kernel_ns - cpu_base[i].kernel;
	if (seconds > 0) {
		set_num(obj, "utilisation", busy / 1e9 / seconds / sim_nr_cpus);
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

void results_write(const char *path, const char *status, double wall, double cpu)
{
	double seconds = (sim.clk - window.start) / 1e9;
	static char text[4 << 20];
	json_t *root = json_object(), *engine = json_object();
	char hash[20];

	cpu_settle_accounts();
	snprintf(hash, sizeof(hash), "%016llx", results_hash);
	set_text(root, "status", status);
	set_text(root, "machine", machine.name);
	set_text(root, "kernel", kern_release);
	set_int(root, "hz", kern_hz);
	set_int(root, "cpus", sim_nr_cpus);
	set_text(root, "trace_hash", hash);
	json_object_set_new(root, "settings", settings_json());
	set_num(root, "window_s", seconds);
	set_num(root, "simulated_s", (sim.clk - origin) / 1e9);
	json_object_set_new(root, "steady", steady_json(window.start));
	json_object_set_new(root, "metrics", metrics_json(seconds));
	json_object_set_new(root, "counters", counters_json());
	json_object_set_new(root, "tracepoints", tracepoints_json());
	json_object_set_new(root, "wakeup_latency", histogram_json(&window.wakeup));
	json_object_set_new(root, "queue_latency", histogram_json(&window.queued));
	json_object_set_new(root, "tasks", tasks_json());
	json_object_set_new(root, "per_cpu", cpus_json());
	json_object_set_new(root, "idle_states", idle_of_all_json());
	json_object_set_new(root, "kernel_time_ns", kernel_time_json());
	json_object_set_new(root, "functions", functions_json());
	if (kern_read_file("/proc/schedstat", text, sizeof(text)) >= 0)
		set_text(root, "schedstat", text);
	if (kern_read_file("/proc/pressure/cpu", text, sizeof(text)) >= 0)
		set_text(root, "pressure_cpu", text);
	set_int(engine, "events", sim_events);
	set_int(engine, "window_events", sim_events - window.events);
	set_int(engine, "peak_kb", peak_kb());
	set_num(engine, "wall_s", wall);
	set_num(engine, "cpu_s", cpu);
	set_num(engine, "events_per_cpu_s", cpu > 0 ? sim_events / cpu : 0);
	json_object_set_new(root, "engine", engine);
	if (json_dump_file(root, path, JSON_INDENT(1)))
		usage_error("%s: cannot be written", path);
	json_decref(root);
}
