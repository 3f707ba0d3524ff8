// SPDX-License-Identifier: GPL-2.0-only
/*
 * What psi_group_change() (Linux 6.12) takes for one group, all lines at hand: the slope of a switch's cost over
 * the depth of the task's cgroup.  A task wakes up, the other one goes to sleep, the first one runs.
 *
 *	cc -O2 -o psi benchmarks/engine/psi.c && ./psi
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { NR_IOWAIT, NR_MEMSTALL, NR_RUNNING, NR_MEMSTALL_RUNNING, NR_COUNTS };
enum { IO_SOME, IO_FULL, MEM_SOME, MEM_FULL, CPU_SOME, CPU_FULL, NONIDLE, NR_STATES };
enum { TSK_RUNNING = 1 << NR_RUNNING, TSK_ONCPU = 1 << NR_COUNTS, PSI_ONCPU = 1 << NR_STATES };

struct group_cpu {
	_Alignas(64) unsigned int tasks[NR_COUNTS];
	uint32_t state_mask, times[NR_STATES];
	uint64_t state_start;
	_Alignas(64) uint32_t times_prev[2][NR_STATES];
};

struct group {
	_Alignas(64) struct group *parent;
	_Bool enabled;
	struct group_cpu *pcpu;
	uint32_t rtpoll_states;
	unsigned long work;
};

static volatile int bugs;
static void *per_cpu_offset[4];

static inline uint32_t test_states(const unsigned int *tasks, uint32_t mask)
{
	int oncpu = !!(mask & PSI_ONCPU);

	if (tasks[NR_IOWAIT]) {
		mask |= 1 << IO_SOME;
		if (!tasks[NR_RUNNING])
			mask |= 1 << IO_FULL;
	}
	if (tasks[NR_MEMSTALL]) {
		mask |= 1 << MEM_SOME;
		if (tasks[NR_RUNNING] == tasks[NR_MEMSTALL_RUNNING])
			mask |= 1 << MEM_FULL;
	}
	if (tasks[NR_RUNNING] > (unsigned int)oncpu)
		mask |= 1 << CPU_SOME;
	if (tasks[NR_RUNNING] && !oncpu)
		mask |= 1 << CPU_FULL;
	if (tasks[NR_IOWAIT] || tasks[NR_MEMSTALL] || tasks[NR_RUNNING])
		mask |= 1 << NONIDLE;
	return mask;
}

static __attribute__((noinline)) void record_times(struct group_cpu *c, uint64_t now)
{
	uint32_t delta = now - c->state_start;

	c->state_start = now;
	if (c->state_mask & 1 << IO_SOME) {
		c->times[IO_SOME] += delta;
		if (c->state_mask & 1 << IO_FULL)
			c->times[IO_FULL] += delta;
	}
	if (c->state_mask & 1 << MEM_SOME) {
		c->times[MEM_SOME] += delta;
		if (c->state_mask & 1 << MEM_FULL)
			c->times[MEM_FULL] += delta;
	}
	if (c->state_mask & 1 << CPU_SOME) {
		c->times[CPU_SOME] += delta;
		if (c->state_mask & 1 << CPU_FULL)
			c->times[CPU_FULL] += delta;
	}
	if (c->state_mask & 1 << NONIDLE)
		c->times[NONIDLE] += delta;
}

static __attribute__((noinline)) void change(struct group *group, int cpu, unsigned int clear, unsigned int set,
					     uint64_t now)
{
	struct group_cpu *c = (struct group_cpu *)((char *)group->pcpu + (uintptr_t)per_cpu_offset[cpu]);
	unsigned int t, m;
	uint32_t mask;

	if (clear & TSK_ONCPU) {
		mask = 0;
		clear &= ~TSK_ONCPU;
	} else if (set & TSK_ONCPU) {
		mask = PSI_ONCPU;
		set &= ~TSK_ONCPU;
	} else {
		mask = c->state_mask & PSI_ONCPU;
	}
	for (t = 0, m = clear; m; m &= ~(1 << t), t++) {
		if (!(m & 1 << t))
			continue;
		if (c->tasks[t])
			c->tasks[t]--;
		else
			bugs = 1;
	}
	for (t = 0; set; set &= ~(1 << t), t++)
		if (set & 1 << t)
			c->tasks[t]++;
	if (!group->enabled)
		return;
	mask = test_states(c->tasks, mask);
	record_times(c, now);
	c->state_mask = mask;
	if (mask & group->rtpoll_states)
		bugs = 2;
	if (!(group->work & 1))
		bugs = 3;
}

static double now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static volatile uint64_t clock_now;

/* A task of one chain goes to sleep, one of the other runs; both wake up in between.  Per group: ns. */
static double round_of(struct group *chain[2], int rounds)
{
	double from = now_ns();

	for (int i = 0; i < rounds; i++) {
		struct group *next = chain[i & 1], *prev = chain[~i & 1], *g;

		for (g = next; g; g = g->parent)
			change(g, 1, 0, TSK_RUNNING, clock_now++);
		for (g = prev; g; g = g->parent)
			change(g, 1, TSK_ONCPU | TSK_RUNNING, 0, clock_now);
		for (g = next; g; g = g->parent)
			change(g, 1, 0, TSK_ONCPU, clock_now++);
	}
	return (now_ns() - from) / rounds / 3;
}

/* ns of a cycle: additions of which each waits for the one before. */
static double cycle(void)
{
	double best = 1e9;

	for (int i = 0; i < 50; i++) {
		double from = now_ns();
		uint64_t x = i;

		for (int n = 0; n < 1000000; n++)
			__asm__ volatile("add $1, %0\n\tadd $1, %0\n\tadd $1, %0\n\tadd $1, %0" : "+r"(x));
		from = (now_ns() - from) / 4e6;
		if (from < best)
			best = from;
	}
	return best;
}

static struct group *chain_of(int depth)
{
	struct group *g = NULL;

	while (depth--) {
		struct group *child = aligned_alloc(64, sizeof(*child));

		*child = (struct group) { g, 1, aligned_alloc(64, sizeof(struct group_cpu)), 0, 1 };
		*child->pcpu = (struct group_cpu) { .tasks = { [NR_RUNNING] = 1 } };
		g = child;
	}
	return g;
}

int main(void)
{
	double best[7], cycles = cycle();

	for (int depth = 1; depth <= 6; depth++) {
		struct group *chain[2] = { chain_of(depth), chain_of(depth) };

		best[depth] = 1e9;
		for (int i = 0; i < 50; i++) {
			double ns = round_of(chain, 20000);

			if (ns < best[depth])
				best[depth] = ns;
		}
		printf("depth %d: %.1f ns a walk, %.1f ns a group\n", depth, best[depth], best[depth] / depth);
	}
	printf("slope of 2 to 6: %.1f ns a group, %.0f cycles\n", (best[6] - best[2]) / 4, (best[6] - best[2]) / 4 / cycles);
	return bugs;
}
