// SPDX-License-Identifier: GPL-2.0-only
/* What is counted while the run goes. */
#include <string.h>
#include "../../workloads/buckets.h"
#include "inside.h"

struct sim_counts sim_counts;
unsigned long long sim_trace_hash = 1469598103934665603ULL;

void sim_begin_window(void)
{
	sim_settle_accounts();
	memset(&sim_counts, 0, sizeof(sim_counts));
	sim_counts.start = sim.clk;
}

static void count_duration(struct sim_durations *d, simtime ns)
{
	d->bucket[bucket_of(SIM_DURATION_BITS, ns)]++;
	d->count++;
	d->sum += ns;
	if (ns > d->max)
		d->max = ns;
}

simtime sim_duration_of(int bucket)
{
	return bucket_start(SIM_DURATION_BITS, bucket);
}

simtime sim_percentile(const struct sim_durations *d, double percent)
{
	int bucket = bucket_holding(SIM_DURATION_BITS, d->bucket, d->count * percent / 100);

	if (bucket == SIM_DURATION_BUCKETS || sim_duration_of(bucket) > d->max)
		return d->max;
	return sim_duration_of(bucket);
}

void sim_hash(unsigned long long a, unsigned long long b)
{
	unsigned long long h = sim_trace_hash;

	h = (h ^ sim.clk) * 1099511628211ULL;
	h = (h ^ (unsigned int)sim.cpu) * 1099511628211ULL;
	h = (h ^ a) * 1099511628211ULL;
	h = (h ^ b) * 1099511628211ULL;
	sim_trace_hash = h ^ h >> 29;
}

void sim_note_switch(struct sim_task *prev, int preempted, struct sim_task *next)
{
	if (prev) {
		if (preempted) {
			prev->ready_at = sim.clk;
			prev->ready_is_wakeup = 0;
			prev->involuntary++;
			sim_counts.involuntary++;
		} else {
			prev->voluntary++;
			sim_counts.voluntary++;
		}
	}
	if (next && next->ready_at) {
		simtime wait = sim.clk > next->ready_at ? sim.clk - next->ready_at : 0;

		count_duration(next->ready_is_wakeup ? &sim_counts.wakeup : &sim_counts.queued, wait);
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
	const struct sim_task *running = sim_running_task();

	task->migrations++;
	sim_counts.migrations[at_wakeup][sim_cpu_distance[from][to]]++;
	if (running && running->of_workload)
		sim_counts.own_migrations++;
}
