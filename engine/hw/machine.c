// SPDX-License-Identifier: GPL-2.0-only
/* The machine description: reads it, checks it, derives distances. */
#include <stddef.h>
#include <string.h>
#include "inside.h"
#include "json.h"

struct hw_machine hw_machine;
struct machine machine;
struct hw_cpu_topo hw_cpu_topo[HW_MAX_CPUS];
int hw_nr_cpus, hw_nr_nodes, hw_nr_llcs, hw_nr_cores;
int hw_nr_kinds, hw_has_priorities, hw_is_hybrid, hw_defers_rearming;
unsigned int hw_kind_capacity[HW_MAX_KINDS];
unsigned char hw_cpu_distance[HW_MAX_CPUS][HW_MAX_CPUS];
struct hw_costs hw_costs;
struct hw_mechanisms hw_mechanisms = {
#define MODELLED(name)	.name = 1,
	HW_MECHANISMS(MODELLED)
#undef MODELLED
};
struct hw_idle_state hw_idle_states[HW_MAX_IDLE_STATES];
int hw_nr_idle_states;
const char *hw_idle_governor = "menu";
struct hw_freq_domain hw_freq_domains[HW_MAX_CPUS];
int hw_nr_freq_domains;

unsigned long hw_node_pages[HW_MAX_NODES];

extern const struct hw_topology_key __start_hw_topology_keys[], __stop_hw_topology_keys[];

static int node_distance[HW_MAX_NODES][HW_MAX_NODES];

int hw_node_distance(int a, int b)
{
	return node_distance[a][b];
}

/* A cost or a latency: its ns fit an unsigned int. */
static simtime hardware_time(json_t *v, const struct path *at)
{
	return json_time_up_to(v, at, 4 * SEC);
}

/* ------------------------------------------------------------------ topology */

struct level {
	int *id;		/* of each CPU, -1: none yet */
	int next;
	const struct path *at;
};

static void put_cpu(int cpu, void *arg)
{
	struct level *l = arg;

	if (l->id[cpu] != -1)
		json_error_at(l->at, "CPU %d is already in entry %d", cpu, l->id[cpu]);
	l->id[cpu] = l->next;
}

/* A level is a list of CPU lists that together hold every CPU once. */
static int read_level(json_t *topo, const struct path *at, const char *key, int *id)
{
	json_t *list = json_need(topo, at, key), *entry;
	struct level l = { .id = id };
	size_t i;

	if (!json_is_array(list))
		json_error_at(AT(at, key), "a list of CPU lists is expected");
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		id[cpu] = -1;
	json_array_foreach(list, i, entry) {
		l.next = i;
		l.at = AT_INDEX(AT(at, key), i);
		json_cpu_list(entry, l.at, hw_nr_cpus - 1, put_cpu, &l);
	}
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		if (id[cpu] == -1)
			json_error_at(AT(at, key), "CPU %d is in no entry", cpu);
	return json_array_size(list);
}

/* Cores: { threads, stride } (thread k of a core is its first CPU + k * stride), or lists. */
static int read_cores(json_t *topo, const struct path *at, int *id)
{
	json_t *core = json_need(topo, at, "core");
	int threads, stride, next = 0;

	if (json_is_array(core))
		return read_level(topo, at, "core", id);
	at = AT(at, "core");
	json_only(core, at, "threads", "stride", NULL);
	threads = json_int(json_need(core, at, "threads"), AT(at, "threads"), 1, 8);
	stride = json_int(json_need(core, at, "stride"), AT(at, "stride"), 1, hw_nr_cpus);
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		id[cpu] = -1;
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		if (id[cpu] != -1)
			continue;
		for (int k = 0; k < threads; k++) {
			int other = cpu + k * stride;

			if (other >= hw_nr_cpus || id[other] != -1)
				json_error_at(at, "threads and stride do not divide %d CPUs", hw_nr_cpus);
			id[other] = next;
		}
		next++;
	}
	return next;
}

/* CPUs together on the inner level must be together on the outer one. */
static void check_nested(const struct path *at, const char *inner, const int *in, const int *out)
{
	for (int a = 0; a < hw_nr_cpus; a++)
		for (int b = 0; b < a; b++)
			if (in[a] == in[b] && out[a] != out[b])
				json_error_at(at, "CPUs %d and %d share a %s but not this", b, a, inner);
}

static void read_distances(json_t *topo, const struct path *at)
{
	json_t *rows = json_object_get(topo, "distance"), *row, *v;
	size_t i, j;

	at = AT(at, "distance");
	if (!rows && hw_nr_nodes == 1) {
		node_distance[0][0] = 10;
		return;
	}
	if (!json_is_array(rows) || (int)json_array_size(rows) != hw_nr_nodes)
		json_error_at(at, "%d rows are expected, one for each node", hw_nr_nodes);
	json_array_foreach(rows, i, row) {
		if (!json_is_array(row) || (int)json_array_size(row) != hw_nr_nodes)
			json_error_at(AT_INDEX(at, i), "%d distances are expected", hw_nr_nodes);
		json_array_foreach(row, j, v)
			node_distance[i][j] = json_int(v, AT_INDEX(AT_INDEX(at, i), j), 10, 254);
		if (node_distance[i][i] != 10)
			json_error_at(AT_INDEX(AT_INDEX(at, i), i), "a node is 10 from itself");
	}
	for (int a = 0; a < hw_nr_nodes; a++)
		for (int b = 0; b < a; b++) {
			if (node_distance[a][b] == 10)
				json_error_at(at, "nodes %d and %d are 10 apart, as one node", b, a);
			if (node_distance[a][b] != node_distance[b][a])
				json_error_at(at, "nodes %d and %d differ there and back; the scheduler needs one distance", b, a);
		}
}

/* What each node has; nodes may have none, but not all of them. */
static void read_node_memory(json_t *list, const struct path *at)
{
	unsigned long total = 0;
	json_t *mib;
	size_t i;

	if (!json_is_array(list) || (int)json_array_size(list) != hw_nr_nodes)
		json_error_at(at, "%d sizes are expected, one for each node", hw_nr_nodes);
	json_array_foreach(list, i, mib) {
		hw_node_pages[i] = json_int(mib, AT_INDEX(at, i), 0, 1 << 30) * 256UL;
		total += hw_node_pages[i];
	}
	if (!total)
		json_error_at(at, "no node has memory");
}

static void read_topology(json_t *topo)
{
	const struct path *at = AT(NULL, "topology");
	static int core[HW_MAX_CPUS], cluster[HW_MAX_CPUS], llc[HW_MAX_CPUS];
	static int package[HW_MAX_CPUS], node[HW_MAX_CPUS];

	for (const struct hw_topology_key *key = __start_hw_topology_keys;
	     key < __stop_hw_topology_keys; key++) {
		*key->value = json_get_int(topo, at, key->name, key->least, key->most, 0);
		json_object_del(topo, key->name);
	}
	json_only(topo, at, "cpus", "core", "cluster", "llc", "package", "node", "distance",
		  "node_memory_mib", "hybrid", NULL);
	hw_nr_cpus = json_int(json_need(topo, at, "cpus"), AT(at, "cpus"), 1, HW_MAX_CPUS);
	hw_nr_cores = read_cores(topo, at, core);
	if (json_object_get(topo, "cluster"))
		read_level(topo, at, "cluster", cluster);
	else
		memcpy(cluster, core, sizeof(core));
	hw_nr_llcs = read_level(topo, at, "llc", llc);
	read_level(topo, at, "package", package);
	hw_nr_nodes = read_level(topo, at, "node", node);
	if (hw_nr_nodes > HW_MAX_NODES)
		json_error_at(AT(at, "node"), "more than %d nodes", HW_MAX_NODES);
	check_nested(AT(at, "cluster"), "core", core, cluster);
	check_nested(AT(at, "llc"), "core", core, llc);
	check_nested(AT(at, "package"), "core", core, package);
	check_nested(AT(at, "node"), "core", core, node);
	read_distances(topo, at);
	if (json_object_get(topo, "node_memory_mib"))
		read_node_memory(json_object_get(topo, "node_memory_mib"), AT(at, "node_memory_mib"));
	hw_is_hybrid = json_get_flag(topo, at, "hybrid", 0);

	for (int a = 0; a < hw_nr_cpus; a++) {
		hw_cpu_topo[a] = (struct hw_cpu_topo) {
			.core = core[a], .cluster = cluster[a], .llc = llc[a],
			.package = package[a], .node = node[a],
			.capacity = 1024, .freq_scale = 1024, .domain = -1,
		};
		machine.cpu_speed[a] = 65536;
		machine.frequency[a] = 1024;
		for (int b = 0; b < hw_nr_cpus; b++) {
			hw_cpu_distance[a][b] =
				a == b ? HW_SELF :
				core[a] == core[b] ? HW_CORE :
				cluster[a] == cluster[b] ? HW_CLUSTER :
				llc[a] == llc[b] ? HW_LLC :
				node[a] == node[b] ? HW_NODE :
				package[a] == package[b] ? HW_PACKAGE : HW_REMOTE;
			if (a != b && core[a] == core[b]) {
				if (machine.nr_siblings[a] == 7)
					json_error_at(AT(at, "core"), "more than 8 threads in a core");
				machine.siblings[a][machine.nr_siblings[a]++] = b;
				hw_machine.has_smt = 1;
			}
		}
	}
}

/* ------------------------------------------------------------------ CPUs: capacity, frequencies */

struct cpu_group {
	json_t *obj;
	const struct path *at;
	int domain, priority;
	unsigned int capacity, speed;
};

static void set_cpu(int cpu, void *arg)
{
	struct cpu_group *g = arg;

	hw_cpu_topo[cpu].capacity = g->capacity;
	machine.cpu_speed[cpu] = g->speed;
	hw_cpu_topo[cpu].domain = g->domain;
	hw_cpu_topo[cpu].priority = g->priority;
}

/* What CPUs of a domain take in each idle state; absent: 0. */
static int read_idle_powers(json_t *obj, const struct path *at, const char *key, double mw[])
{
	json_t *list = json_object_get(obj, key), *v;
	size_t i;

	if (!list)
		return 0;
	if (!json_is_array(list) || json_array_size(list) > HW_MAX_IDLE_STATES)
		json_error_at(AT(at, key), "a list of at most %d figures is expected", HW_MAX_IDLE_STATES);
	json_array_foreach(list, i, v)
		mw[i] = json_num(v, AT_INDEX(AT(at, key), i), 0, 1000000);
	return 1;
}

static int read_opps(json_t *list, const struct path *at, unsigned int capacity)
{
	struct hw_freq_domain *d = &hw_freq_domains[hw_nr_freq_domains];
	json_t *opp;
	size_t i;

	if (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > HW_MAX_OPPS)
		json_error_at(at, "a list of 1 to %d operating points is expected", HW_MAX_OPPS);
	json_array_foreach(list, i, opp) {
		const struct path *here = AT_INDEX(at, i);

		json_only(opp, here, "mhz", "power_mw", "cluster_mw", NULL);
		d->opp[i].khz = json_num(json_need(opp, here, "mhz"), AT(here, "mhz"), 1, 10000) * 1000;
		d->opp[i].power_mw = json_get_num(opp, here, "power_mw", 1, 1000000, 0);
		d->opp[i].cluster_mw = json_get_num(opp, here, "cluster_mw", 0, 1000000, 0);
		if (i && d->opp[i].khz <= d->opp[i - 1].khz)
			json_error_at(AT(here, "mhz"), "operating points must rise");
	}
	d->nr_opps = json_array_size(list);
	/* the energy model's performance is a whole number, and what power is divided by */
	if (d->opp[0].power_mw && capacity * (unsigned long)d->opp[0].khz < d->opp[d->nr_opps - 1].khz)
		json_error_at(AT_INDEX(at, 0), "less than 1 of 1024 in capacity: the kernel's energy model divides by it");
	d->now_khz = d->opp[d->nr_opps - 1].khz;
	return hw_nr_freq_domains++;
}

static void read_frequencies(json_t *obj, const struct path *at, struct hw_freq_domain *d)
{
	const char *governor = json_get_text(obj, at, "governor", "schedutil");

	d->transition_ns = hardware_time(json_need(obj, at, "transition"), AT(at, "transition"));
	d->fast_switch = json_get_flag(obj, at, "fast_switch", 1);
	d->performance = !strcmp(governor, "performance");
	if (!d->performance && strcmp(governor, "schedutil"))
		json_error_at(AT(at, "governor"), "schedutil or performance");
	d->knows_idle = read_idle_powers(obj, at, "idle_mw", d->idle_mw);
	read_idle_powers(obj, at, "change_mw", d->change_mw);
	read_idle_powers(obj, at, "cluster_idle_mw", d->cluster_idle_mw);
}

static void read_cpus(json_t *list)
{
	const struct path *top = AT(NULL, "cpu");
	json_t *obj;
	size_t i;

	if (!json_is_array(list))
		json_error_at(top, "a list is expected");
	json_array_foreach(list, i, obj) {
		const struct path *at = AT_INDEX(top, i);
		struct cpu_group g = { .obj = obj, .at = at, .domain = -1 };

		json_only(obj, at, "cpus", "capacity", "speed", "priority", "opp", "transition", "fast_switch", "governor",
			  "idle_mw", "change_mw", "cluster_idle_mw", NULL);
		g.capacity = json_get_int(obj, at, "capacity", 1, 1024, 1024);
		g.speed = json_get_num(obj, at, "speed", 0.01, 1, g.capacity / 1024.0) * 65536;
		g.priority = json_get_int(obj, at, "priority", 1, 255, 0);
		if (json_object_get(obj, "opp")) {
			g.domain = read_opps(json_object_get(obj, "opp"), AT(at, "opp"), g.capacity);
			read_frequencies(obj, at, &hw_freq_domains[g.domain]);
		}
		json_cpu_list(json_need(obj, at, "cpus"), AT(at, "cpus"), hw_nr_cpus - 1, set_cpu, &g);
	}
}

/* A kind for each capacity that there is. */
static void sort_kinds(void)
{
	unsigned int last = 0;

	for (hw_nr_kinds = 0; ; hw_nr_kinds++) {
		unsigned int next = 0;

		for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
			unsigned int capacity = hw_cpu_topo[cpu].capacity;

			if (capacity > last && (!next || capacity < next))
				next = capacity;
		}
		if (!next)
			return;
		if (hw_nr_kinds == HW_MAX_KINDS)
			json_error_at(AT(NULL, "cpu"), "CPUs of more than %d different capacities", HW_MAX_KINDS);
		hw_kind_capacity[hw_nr_kinds] = last = next;
		for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
			if (hw_cpu_topo[cpu].capacity == next)
				hw_cpu_topo[cpu].kind = hw_nr_kinds;
	}
}

/* Preferred cores: a driver that finds all priorities alike leaves the kernel without them. */
static void check_priorities(void)
{
	int with_priority = 0, differ = 0;

	for (int cpu = 0; cpu < hw_nr_cpus; cpu++) {
		with_priority += hw_cpu_topo[cpu].priority > 0;
		differ |= hw_cpu_topo[cpu].priority != hw_cpu_topo[0].priority;
	}
	if (with_priority && with_priority < hw_nr_cpus)
		json_error_at(AT(NULL, "cpu"), "%d of %d CPUs have a priority; all have one, or none", with_priority,
			      hw_nr_cpus);
	if (with_priority && !differ)
		json_error_at(AT(NULL, "cpu"), "all CPUs have the same priority, so that none is preferred; leave it out");
	if (hw_is_hybrid && !with_priority)
		json_error_at(AT(AT(NULL, "topology"), "hybrid"), "without priority of the CPUs it changes nothing");
	hw_has_priorities = with_priority > 0;
}

/* ------------------------------------------------------------------ idle states */

static void read_idle(json_t *obj)
{
	static const char *const governors[] = { "menu", "teo", "ladder", "haltpoll", NULL };
	const struct path *top = AT(NULL, "idle");
	const char *const *governor;
	json_t *list, *state;
	size_t i;

	json_only(obj, top, "governor", "state", NULL);
	hw_idle_governor = json_get_text(obj, top, "governor", hw_idle_governor);
	for (governor = governors; *governor && strcmp(*governor, hw_idle_governor); )
		governor++;
	if (!*governor)
		json_error_at(AT(top, "governor"), "menu, teo, ladder or haltpoll");
	list = json_need(obj, top, "state");
	if (!json_is_array(list) || json_array_size(list) > HW_MAX_IDLE_STATES)
		json_error_at(AT(top, "state"), "a list of at most %d states is expected", HW_MAX_IDLE_STATES);
	json_array_foreach(list, i, state) {
		const struct path *at = AT_INDEX(AT(top, "state"), i);
		struct hw_idle_state *s = &hw_idle_states[i];

		json_only(state, at, "name", "latency", "residency", "entry", "exit", "polling",
			  "declared", "mwait", "firmware", NULL);
		snprintf(s->name, sizeof(s->name), "%s", json_text(json_need(state, at, "name"), AT(at, "name")));
		memcpy(s->desc, s->name, sizeof(s->name));
		s->latency_us = hardware_time(json_need(state, at, "latency"), AT(at, "latency")) / 1000;
		s->residency_us = hardware_time(json_need(state, at, "residency"), AT(at, "residency")) / 1000;
		s->exit_ns = s->latency_us * 1000ULL;
		if (json_object_get(state, "entry"))
			s->entry_ns = hardware_time(json_object_get(state, "entry"), AT(at, "entry"));
		if (json_object_get(state, "exit"))
			s->exit_ns = hardware_time(json_object_get(state, "exit"), AT(at, "exit"));
		s->polling = json_get_flag(state, at, "polling", 0);
		s->declared = json_get_flag(state, at, "declared", 1) && s->polling;
		s->mwait = json_get_flag(state, at, "mwait", 0);
		s->firmware = json_get_flag(state, at, "firmware", 0);
	}
	hw_nr_idle_states = json_array_size(list);
}

/* ------------------------------------------------------------------ costs */

static const struct cost {
	const char *name;
	size_t offset;
} times[] = {
#define COST(name)		{ #name, offsetof(struct hw_costs, name) },
#define LINE(id, name)		{ "line_" name, offsetof(struct hw_costs, line[HW_##id]) },
#define SOCKET(id, name)	{ name "_send", offsetof(struct hw_costs, socket[HW_##id].send) }, \
				{ name "_receive", offsetof(struct hw_costs, socket[HW_##id].receive) },
	HW_DISTANCES(LINE)
	HW_COST_TIMES(COST)
	HW_PROTOCOLS(SOCKET)
	{ }
}, numbers[] = {
	HW_COST_NUMBERS(COST)
	{ }
#undef COST
#undef LINE
#undef SOCKET
};

static int is_cost(const struct cost *c, const char *key)
{
	while (c->name && strcmp(c->name, key))
		c++;
	return !!c->name;
}

static unsigned int *cost(const struct cost *c)
{
	return (unsigned int *)((char *)&hw_costs + c->offset);
}

static void read_costs(json_t *obj)
{
	const struct cost *c, *lines = times + 1;	/* of its own a CPU has every line */
	const struct path *at = AT(NULL, "cost");
	const char *key;
	json_t *v;

	for (c = lines; c->name; c++)
		*cost(c) = hardware_time(json_need(obj, at, c->name), AT(at, c->name));
	for (c = numbers; c->name; c++)
		*cost(c) = json_int(json_need(obj, at, c->name), AT(at, c->name), 0, 1000);
	if (!hw_costs.misses)
		json_error_at(AT(at, "misses"), "a core has at least one under way");
	if (!hw_costs.touch)
		json_error_at(AT(at, "touch"), "work takes time until it comes to another line");
	if (!hw_costs.spin)
		json_error_at(AT(at, "spin"), "a spin that takes no time never ends");
	json_object_foreach(obj, key, v)
		if (!is_cost(lines, key) && !is_cost(numbers, key))
			json_error_at(AT(at, key), "unknown key");
}

/* The fastest CPU's highest frequency: what the cycles of programs take. */
static void read_core(json_t *obj)
{
	const struct path *at = AT(NULL, "core");

	json_only(obj, at, "mhz", NULL);
	hw_machine.core_khz = json_num(json_need(obj, at, "mhz"), AT(at, "mhz"), 1, 10000) * 1000;
}

/*
 * Those that select GENERIC_ENTRY and HAVE_GENERIC_TIF_BITS, for HRTIMER_REARM_DEFERRED (7.3's
 * arch/.../Kconfig).
 */
static int defers_rearming(const char *arch)
{
	static const char *const those[] = { "x86_64", "riscv64", "s390x", "loongarch64" };

	for (size_t i = 0; i < sizeof(those) / sizeof(those[0]); i++)
		if (!strcmp(arch, those[i]))
			return 1;
	return 0;
}

static const char *read_session(json_t *v)
{
	const struct path *at = AT(NULL, "session");
	const char *group = json_text(v, at);

	if (group[0] != '/' || !group[1])
		json_error_at(at, "a cgroup's path is expected, as /user.slice/user-0.slice/session-1.scope");
	return group;
}

json_t *hw_read_machine(const char *path)
{
	json_t *root = json_read(path);

	json_only(root, NULL, "name", "title", "notes", "arch", "topology", "cpu", "smt", "idle", "cache",
		  "memory", "thermal", "boost", "fabric", "session", "background", "core", "cost", "work",
		  NULL);
	hw_machine.name = json_text(json_need(root, NULL, "name"), AT(NULL, "name"));
	hw_machine.title = json_get_text(root, NULL, "title", hw_machine.name);
	hw_defers_rearming = defers_rearming(json_get_text(root, NULL, "arch", "x86_64"));
	for (int i = 0; i < HW_MAX_NODES; i++)
		hw_node_pages[i] = ~0UL;
	read_topology(json_need(root, NULL, "topology"));
	if (json_object_get(root, "cpu"))
		read_cpus(json_object_get(root, "cpu"));
	sort_kinds();
	check_priorities();
	if (json_object_get(root, "smt"))
		speed_read_smt(json_object_get(root, "smt"));
	else
		for (int i = 0; i < hw_nr_cpus; i++)
			if (machine.nr_siblings[i])
				json_error_at(AT(NULL, "smt"), "missing, and CPU %d has siblings", i);
	if (json_object_get(root, "idle"))
		read_idle(json_object_get(root, "idle"));
	cache_read(json_need(root, NULL, "cache"));
	if (json_object_get(root, "memory"))
		speed_read_memory(json_object_get(root, "memory"));
	if (json_object_get(root, "thermal"))
		thermal_read(json_object_get(root, "thermal"));
	if (json_object_get(root, "boost"))
		boost_read(json_object_get(root, "boost"));
	if (json_object_get(root, "fabric"))
		fabric_read(json_object_get(root, "fabric"));
	if (json_object_get(root, "session"))
		hw_machine.session = read_session(json_object_get(root, "session"));
	read_core(json_need(root, NULL, "core"));
	read_costs(json_need(root, NULL, "cost"));
	return root;
}
