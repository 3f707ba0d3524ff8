// SPDX-License-Identifier: GPL-2.0-only
/*
 * What one CPU looked at by update_sg_lb_stats() (Linux 6.1) takes: its instructions, with all lines
 * at hand, and how far the misses of its lines overlap, in terms of the latency of one miss.
 *
 *	cc -O2 -o scan benchmarks/engine/scan.c && ./scan
 *
 * Misses are those of main memory, whose latency a chase of pointers over the same memory gives.  The
 * function reads four lines of a runqueue; the other rows read fewer of them.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

struct rq {				/* the lines of struct rq that the function reads, apart as there */
	_Alignas(64) unsigned int lock, nr_running, nr_numa_running, nr_preferred_running;
	_Alignas(64) unsigned long weight, inv_weight;
	unsigned int cfs_nr_running, h_nr_running, idle_nr_running, idle_h_nr_running;
	_Alignas(64) unsigned long last_update_time, load_sum, runnable_sum;
	unsigned int util_sum, period_contrib;
	unsigned long load_avg, runnable_avg, util_avg;
	unsigned int util_est;
	_Alignas(64) void *curr, *idle;
	_Alignas(64) unsigned long capacity, capacity_orig;	/* read-mostly: warm in both */
	_Alignas(64) struct rq *next;
};

struct sums {
	unsigned long load, util, runnable, h_nr, nr, numa, preferred, idle, status;
};

static struct rq *area;
static volatile unsigned long sink;
static struct rq **per_cpu;		/* of the 16 CPUs of a group */
static const struct rq *warm;

enum { NR_RUNNING = 1, CFS = 2, AVG = 4, CURR = 8 };

static __attribute__((noinline)) unsigned long find_next_and_bit(const uint64_t *a, const uint64_t *b, unsigned long size, unsigned long start)
{
	uint64_t left;

	if (start >= size)
		return size;
	left = *a & *b & ~0UL << start;
	return left ? (unsigned long)__builtin_ctzl(left) : size;
}

static inline __attribute__((always_inline)) int is_idle(int cpu, int lines)
{
	const struct rq *rq = per_cpu[cpu], *curr = lines & CURR ? rq : warm, *head = lines & NR_RUNNING ? rq : warm;

	return curr->curr == curr->idle && !head->nr_running;
}

/* The loop's body; lines that are left out are taken from one warm runqueue. */
static inline __attribute__((always_inline)) void visit(int cpu, int lines, struct sums *s, int (*idle_cpu)(int cpu))
{
	const struct rq *rq = per_cpu[cpu], *avg = lines & AVG ? rq : warm, *cfs = lines & CFS ? rq : warm;
	const struct rq *head = lines & NR_RUNNING ? rq : warm;
	unsigned long util = avg->util_avg > avg->util_est ? avg->util_avg : avg->util_est;
	unsigned int nr;

	s->load += avg->load_avg;
	s->util += util < warm->capacity_orig ? util : warm->capacity_orig;
	s->runnable += avg->runnable_avg;
	s->h_nr += cfs->h_nr_running;
	nr = head->nr_running;
	s->nr += nr;
	if (nr > 1)
		s->status |= 1;
	if (util * 1280 >= warm->capacity * 1024)
		s->status |= 2;
	s->numa += head->nr_numa_running;
	s->preferred += head->nr_preferred_running;
	if (!nr && idle_cpu(cpu))
		s->idle++;
	else if (warm->capacity * 117 < warm->capacity_orig * 100)
		s->status |= 4;
}

static double ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

/* The CPUs of a group are found bit by bit in two masks, as for_each_cpu_and() does it. */
#define SCAN(lines) \
static __attribute__((noinline)) int idle_cpu_##lines(int cpu) \
{ \
	return is_idle(cpu, lines); \
} \
static __attribute__((noinline)) void group_##lines(struct sums *s, const uint64_t *group, const uint64_t *allowed) \
{ \
	for (unsigned long cpu = -1; (cpu = find_next_and_bit(group, allowed, 16, cpu + 1)) < 16; ) \
		visit(cpu, lines, s, idle_cpu_##lines); \
} \
static double scan_##lines(struct rq **order, long count) \
{ \
	struct sums s = { 0 }; \
	uint64_t group = 0xffff, allowed = ~0UL; \
	double from = ns(); \
	for (long i = 0; i < count; i += 16) { \
		per_cpu = order + i; \
		group_##lines(&s, &group, &allowed); \
	} \
	from = ns() - from; \
	sink = s.load + s.util + s.runnable + s.h_nr + s.nr + s.numa + s.preferred + s.idle + s.status; \
	return from / count; \
}
SCAN(1) SCAN(3) SCAN(7) SCAN(15)

int main(void)
{
	long count = 1 << 20, size = count * sizeof(struct rq);
	struct rq **order = malloc(count * sizeof(*order)), **few = malloc(count * sizeof(*few));
	double (*scans[])(struct rq **, long) = { scan_1, scan_3, scan_7, scan_15 };
	double latency, now;
	struct rq *at;

	area = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	madvise(area, size, MADV_HUGEPAGE);
	for (long i = 0; i < count; i++)
		order[i] = &area[i], few[i] = &area[1 + i % 16];
	warm = &area[0];
	srand(1);
	for (long i = count - 1; i > 0; i--) {
		long j = ((unsigned long)rand() << 16 ^ rand()) % (i + 1);
		struct rq *o = order[i];

		order[i] = order[j], order[j] = o;
	}
	for (long i = 0; i < count; i++) {
		int busy = rand() % 4 != 0;	/* most CPUs run one task, as where balancing matters */

		area[i] = (struct rq) { .nr_running = busy, .h_nr_running = busy, .util_avg = busy * 600, .load_avg = busy * 600,
					.capacity = 1024, .capacity_orig = 1024, .idle = area, .curr = busy ? &area[1] : area };
	}
	for (long i = 0; i < count; i++)
		order[i]->next = order[(i + 1) % count];
	now = ns();
	for (long i = 0, n = count; i < n; i++)
		at = i ? at->next : area[0].next;
	latency = (ns() - now) / count;
	sink = (unsigned long)at;
	printf("latency of a miss %.1f ns\n", latency);
	for (int lines = 1; lines <= 4; lines++) {
		double cold = 1e9, hot = 1e9, t;

		for (int k = 0; k < 3; k++) {
			t = scans[lines - 1](order, count);
			cold = t < cold ? t : cold;
			t = scans[lines - 1](few, count);
			hot = t < hot ? t : hot;
		}
		printf("%d lines: warm %.2f ns, missing %.1f ns a CPU = %.2f latencies\n", lines, hot, cold, (cold - hot) / latency);
	}
	return 0;
}
