// SPDX-License-Identifier: GPL-2.0-only
/*
 * What scx_lavd's program does about the machine, without options and without its energy model:
 * orders of preference of the CPUs, and domains of CPUs of one node, cache and kind with their
 * neighbours.  And what it has the scx project's library do: an arena with the machine as a tree.
 */
#include "scx.h"
#include "setup.h"

static unsigned int place_in_core(unsigned int cpu)
{
	unsigned int other, before = 0;

	for (other = 0; other < cpu; other++)
		before += hw_cpu_topo[other].core == hw_cpu_topo[cpu].core;
	return before;
}

static unsigned int threads_of_core(unsigned int cpu)
{
	unsigned int other, found = 0;

	for (other = 0; other < nr_cpu_ids; other++)
		found += hw_cpu_topo[other].core == hw_cpu_topo[cpu].core;
	return found;
}

/* Of a cache among those of its node: numbers rise with the nodes. */
static unsigned int place_in_node(unsigned int cpu)
{
	unsigned int other;
	int first = hw_cpu_topo[cpu].llc;

	for (other = 0; other < nr_cpu_ids; other++)
		if (hw_cpu_topo[other].node == hw_cpu_topo[cpu].node)
			first = min(first, hw_cpu_topo[other].llc);
	return hw_cpu_topo[cpu].llc - first;
}

#define DIFFER(a, b)	do { if ((a) != (b)) return (a) < (b) ? -1 : 1; } while (0)

static int by_performance(unsigned int a, unsigned int b)
{
	DIFFER(place_in_core(a), place_in_core(b));
	DIFFER(hw_cpu_topo[a].node, hw_cpu_topo[b].node);
	DIFFER(place_in_node(a), place_in_node(b));
	DIFFER(setup_capacity(b), setup_capacity(a));
	DIFFER(threads_of_core(a), threads_of_core(b));
	DIFFER(hw_cpu_topo[a].core, hw_cpu_topo[b].core);
	DIFFER(a, b);
	return 0;
}

static int by_saving(unsigned int a, unsigned int b)
{
	DIFFER(hw_cpu_topo[a].node, hw_cpu_topo[b].node);
	DIFFER(place_in_node(a), place_in_node(b));
	if (setup_has_little())
		DIFFER(setup_capacity(a), setup_capacity(b));
	else
		DIFFER(setup_capacity(b), setup_capacity(a));
	DIFFER(hw_cpu_topo[a].core, hw_cpu_topo[b].core);
	DIFFER(threads_of_core(b), threads_of_core(a));
	DIFFER(place_in_core(a), place_in_core(b));
	DIFFER(a, b);
	return 0;
}

static void order(u16 *cpus, int (*compare)(unsigned int a, unsigned int b))
{
	unsigned int cpu, at;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		for (at = cpu; at && compare(cpu, cpus[at - 1]) < 0; at--)
			cpus[at] = cpus[at - 1];
		cpus[at] = cpu;
	}
}

static void put_order(unsigned int state, u32 bound, const u16 *cpus)
{
	unsigned int row = shim_scx_count("pco_table") / shim_scx_count("pco_bounds"), i;

	shim_scx_put("pco_bounds", state, bound);
	shim_scx_put("pco_nr_primary", state, 1);
	for (i = 0; i < nr_cpu_ids; i++)
		shim_scx_put("pco_table", state * row + i, cpus[i]);
}

/* ------------------------------------------------------------------ domains */

#define MOST_DOMAINS	128
static struct domain {
	int	node, llc;
	bool	is_big;
} domains[MOST_DOMAINS];
static unsigned int nr_domains;

static unsigned int domain_of(unsigned int cpu)
{
	struct domain wanted = { hw_cpu_topo[cpu].node, hw_cpu_topo[cpu].llc, setup_is_big(cpu) };
	unsigned int i;

	for (i = 0; i < nr_domains; i++)
		if (domains[i].llc == wanted.llc && domains[i].is_big == wanted.is_big)
			return i;
	if (nr_domains == MOST_DOMAINS)
		hw_refuse("sched_ext: %s: more than %d domains of CPUs", shim_scheduler->source, MOST_DOMAINS);
	domains[nr_domains] = wanted;
	return nr_domains++;
}

static unsigned int distance(const struct domain *a, const struct domain *b)
{
	unsigned int far = a->is_big != b->is_big ? 100 : 0;

	if (a->node != b->node)
		return far + 10;
	return far + (a->llc != b->llc ? 2 : 0);
}

/* Those at one distance with the domain itself form a ring, in which the nearest come first. */
static unsigned int put_neighbours(unsigned int from, unsigned int nth, unsigned int far)
{
	unsigned int row = shim_scx_count("cpdom_ctxs.neighbor_ids"), per_distance, i, j, n = 0, self = 0, put = 0;
	unsigned int rows = shim_scx_count("cpdom_ctxs.nr_neighbors"), all = shim_scx_count("cpdom_ctxs.id");
	u8 ring[MOST_DOMAINS];

	row /= all;
	rows /= all;
	per_distance = row / rows;
	for (i = 0; i < nr_domains; i++) {
		if (i == from)
			self = n;
		if (i == from || distance(&domains[from], &domains[i]) == far)
			ring[n++] = i;
	}
	for (i = 1; i <= n / 2; i++)
		for (j = 0; j < n; j++) {
			unsigned int ahead = (j + n - self) % n;

			if (min(ahead, n - ahead) == i)
				shim_scx_put("cpdom_ctxs.neighbor_ids", from * row + nth * per_distance + put++, ring[j]);
		}
	shim_scx_put("cpdom_ctxs.nr_neighbors", from * rows + nth, put);
	return put;
}

static unsigned int alternative(unsigned int from)
{
	unsigned int i, best = from, nearest = UINT_MAX;

	for (i = 0; i < nr_domains; i++) {
		unsigned int far = distance(&domains[from], &domains[i]);

		if (domains[i].is_big != domains[from].is_big && far < nearest) {
			nearest = far;
			best = i;
		}
	}
	return best;
}

static void put_domains(const u16 *cpus)
{
	static const unsigned int distances[] = { 2, 10, 100, 102, 110 };
	unsigned int all = shim_scx_count("cpdom_ctxs.id"), words = shim_scx_count("cpdom_ctxs.__cpumask") / all;
	unsigned int i, word;

	for (i = 0; i < nr_cpu_ids; i++)
		domain_of(cpus[i]);
	for (i = 0; i < nr_domains; i++) {
		unsigned int cpu, at, nth = 0;

		shim_scx_put("cpdom_ctxs.id", i, i);
		shim_scx_put("cpdom_ctxs.alt_id", i, alternative(i));
		shim_scx_put("cpdom_ctxs.numa_id", i, domains[i].node);
		shim_scx_put("cpdom_ctxs.llc_id", i, domains[i].llc);
		shim_scx_put("cpdom_ctxs.is_big", i, domains[i].is_big);
		shim_scx_put("cpdom_ctxs.is_valid", i, 1);
		for (word = 0; word < words && word * 64 < nr_cpu_ids; word++) {
			u64 mask = 0;

			for (cpu = word * 64; cpu < nr_cpu_ids && cpu < (word + 1) * 64; cpu++)
				if (domain_of(cpu) == i)
					mask |= 1ULL << cpu % 64;
			shim_scx_put("cpdom_ctxs.__cpumask", i * words + word, mask);
		}
		for (at = 0; at < ARRAY_SIZE(distances); at++) {
			if (nth == shim_scx_count("cpdom_ctxs.nr_neighbors") / all)
				hw_refuse("sched_ext: %s: its domains are at more than %u distances", shim_scheduler->source, nth);
			nth += !!put_neighbours(i, nth, distances[at]);
		}
	}
}

/* ------------------------------------------------------------------ the library's arena */

enum level { ALL, NODE, LLC, CORE, CPU, NR_LEVELS };

static int id_of(enum level level, unsigned int cpu)
{
	const struct hw_cpu_topo *topo = &hw_cpu_topo[cpu];

	return level == ALL ? 0 : level == NODE ? topo->node : level == LLC ? topo->llc : level == CORE ? topo->core : (int)cpu;
}

static bool is_first(enum level level, unsigned int cpu)
{
	unsigned int other;

	for (other = 0; other < cpu; other++)
		if (id_of(level, other) == id_of(level, cpu))
			return false;
	return true;
}

static void put_level(enum level level)
{
	unsigned int cpu, other;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		struct {
			u64 bitmap, data_size, id;
		} args = { .id = id_of(level, cpu) };

		if (!is_first(level, cpu))
			continue;
		setup_run("arena_alloc_mask", &args);
		for (other = 0; other < nr_cpu_ids; other++)
			if (id_of(level, other) == id_of(level, cpu))
				((u64 *)args.bitmap)[other / 64] |= 1ULL << other % 64;
		setup_run("arena_topology_node_init", &args);
	}
}

static unsigned int most_children(enum level level)
{
	unsigned int cpu, other, most = 0;

	for (cpu = 0; cpu < nr_cpu_ids; cpu++) {
		unsigned int children = 0;

		for (other = 0; other < nr_cpu_ids; other++)
			children += id_of(level, other) == id_of(level, cpu) && is_first(level + 1, other);
		most = max(most, children);
	}
	return most;
}

void setup_arena(void)
{
	struct {
		u64 static_pages, task_size;
	} sizes = { 8, shim_scheduler->task_context };
	u32 children[NR_LEVELS] = { };
	enum level level;

	setup_run("arena_init", &sizes);
	for (level = ALL; level < CPU; level++)
		children[level] = most_children(level);
	setup_run("arena_topology_init", children);
	for (level = ALL; level < NR_LEVELS; level++)
		put_level(level);
}

void setup_lavd(void)
{
	static u16 performance[NR_CPUS], saving[NR_CPUS];
	unsigned int cpu, state;
	u32 sum = 0;

	order(performance, by_performance);
	order(saving, by_saving);
	for (cpu = 0; cpu < nr_cpu_ids; cpu++)
		sum += setup_capacity(cpu);
	shim_scx_put("nr_pco_states", 0, 2);
	put_order(0, setup_capacity(saving[0]), saving);
	for (state = 1; state < shim_scx_count("pco_bounds"); state++)
		put_order(state, sum, performance);
	put_domains(performance);
}
