// SPDX-License-Identifier: GPL-2.0-only
/* What is counted while the run goes. */
#include <string.h>
#include "inside.h"

struct hw_counts hw_counts;
unsigned long long hw_trace_hash = 1469598103934665603ULL;

void hw_begin_window(void)
{
	hw_settle_accounts();
	spent_begin_window();
	memset(&hw_counts, 0, sizeof(hw_counts));
	hw_counts.start = hw.clk;
	picture_begin();
}

static void count_duration(struct hw_durations *d, simtime ns)
{
	d->bucket[bucket_of(HW_DURATION_BITS, ns)]++;
	d->count++;
	d->sum += ns;
	if (ns > d->max)
		d->max = ns;
}

simtime hw_duration_of(int bucket)
{
	return bucket_start(HW_DURATION_BITS, bucket);
}

simtime hw_percentile(const struct hw_durations *d, double percent)
{
	int bucket = bucket_holding(HW_DURATION_BITS, d->bucket, d->count * percent / 100);

	if (bucket == HW_DURATION_BUCKETS || hw_duration_of(bucket) > d->max)
		return d->max;
	return hw_duration_of(bucket);
}

simtime hw_task_wakeup_percentile(double percent)
{
	const struct hw_durations *d = &hw_counts.task_wakeup;
	int bucket = bucket_holding(HW_FINE_BITS, hw_counts.fine_task_wakeup, d->count * percent / 100);
	simtime start = bucket_start(HW_FINE_BITS, bucket);

	return start < d->max ? start : d->max;
}

void hw_hash(unsigned long long a, unsigned long long b)
{
	unsigned long long h = hw_trace_hash;

	h = (h ^ hw.clk) * 1099511628211ULL;
	h = (h ^ (unsigned int)hw.cpu) * 1099511628211ULL;
	h = (h ^ a) * 1099511628211ULL;
	h = (h ^ b) * 1099511628211ULL;
	hw_trace_hash = h ^ h >> 29;
}

void hw_note_switch(struct hw_task *prev, int preempted, struct hw_task *next)
{
	if (prev) {
		if (preempted) {
			prev->ready_at = prev->queued_at = hw.clk;
			prev->ready_is_wakeup = 0;
			prev->involuntary++;
			hw_counts.involuntary++;
		} else {
			prev->voluntary++;
			hw_counts.voluntary++;
		}
	}
	if (next && next->ready_at) {
		simtime wait = hw.clk > next->ready_at ? hw.clk - next->ready_at : 0;

		count_duration(next->ready_is_wakeup ? &hw_counts.wakeup : &hw_counts.queued, wait);
		if (next->account && next->ready_is_wakeup) {
			count_duration(&hw_counts.task_wakeup, wait);
			hw_counts.fine_task_wakeup[bucket_of(HW_FINE_BITS, wait)]++;
		}
		if (picture_on)
			picture_add(hw.cpu, HW_PICTURE_WAITING, next->queued_at, hw.clk);
		next->ready_at = 0;
		next->wait_sum += wait;
		next->waits++;
		if (wait > next->wait_max)
			next->wait_max = wait;
	}
}

void hw_note_woken(struct hw_task *task)
{
	task->ready_at = task->queued_at = hw.clk;
	task->ready_is_wakeup = 1;
}

void hw_note_migration(struct hw_task *task, int from, int to, int at_wakeup)
{
	const struct hw_task *running = hw_running_task();

	task->migrations++;
	hw_counts.migrations[at_wakeup][hw_cpu_distance[from][to]]++;
	if (running && running->of_workload)
		hw_counts.own_migrations++;
	if (!picture_on)
		return;
	picture_moved(from, to);
	if (task->ready_at && !at_wakeup) {
		picture_add(from, HW_PICTURE_WAITING, task->queued_at, hw.clk);
		task->queued_at = hw.clk;
	}
}
