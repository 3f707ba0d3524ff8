// SPDX-License-Identifier: GPL-2.0-only
/*
 * The scheduler's slow state, as it stands in the kernel's own structures, and the clocks it is
 * written by.  Nothing here costs simulated time: the engine looks from outside.
 */
#include "shim.h"
#include "space.h"
#include "steady.h"
#include "sched-pelt.h"

/* What has half its weight after so long, in time of PELT: LOAD_AVG_PERIOD periods of 1024 us. */
const simtime kern_load_half_life = LOAD_AVG_PERIOD * 1024ULL * 1000;
/* After so many half-lives it is less than one unit of the scale of utilisation. */
static_assert(KERN_HALF_LIVES == SCHED_CAPACITY_SHIFT);

/*
 * Passes of a CPU's domains that were this CPU's to make, by level; those of idle CPUs since the
 * load averages were built, since all are idle while the tasks are being started.
 */
static bool averages_built;
static struct {
	unsigned int busy, idle;
} passes[HW_MAX_CPUS][SHIM_MAX_LEVELS];

void shim_balance_passed(int cpu, const struct sched_domain *sd, enum cpu_idle_type idle)
{
	if (idle == SHIM_CPU_BUSY)
		passes[cpu][sd->level].busy++;
	else if (idle == CPU_IDLE && averages_built)
		passes[cpu][sd->level].idle++;
}

void kern_load_begins(void)
{
	memset(passes, 0, sizeof(passes));
	averages_built = false;
}

void kern_averages_are_built(void)
{
	averages_built = true;
}

/* ------------------------------------------------------------------ looking */

/* get_sd_balance_interval() of a busy CPU, with an interval that has grown to so much. */
static simtime busy_interval(const struct sched_domain *sd, unsigned long interval)
{
	return (simtime)jiffies_to_nsecs(msecs_to_jiffies(interval * sd->busy_factor) - 1);
}

static struct kern_domain *find_domain(struct kern_slow_state *state, const struct sched_domain *sd)
{
	struct kern_domain *d = state->domain;

	while (d->name[0] && (strcmp(d->name, sd->name) || d->level != sd->level))
		d++;
	if (!d->name[0]) {
		strscpy(d->name, sd->name, sizeof(d->name));
		d->level = sd->level;
	}
	return d;
}

/*
 * Has the span gone round under the load?  Busy CPUs balance it where all are busy.  Where some are
 * idle the first of these does; and where nothing runs there is no load to be balanced.
 */
static bool gone_round(struct sched_domain *sd)
{
	unsigned int cpu, busy = 0, idle = 0, running = 0;

	for_each_cpu(cpu, sched_domain_span(sd)) {
		busy += passes[cpu][sd->level].busy;
		idle += passes[cpu][sd->level].idle;
		running += raw_cpu_rq(cpu)->nr_running > 0;
	}
	return busy >= KERN_ROUNDS || !running ||
	       (idle >= KERN_ROUNDS && running < sd->span_weight);
}

/* NUMA levels overlap: CPUs of one span may have different ones of the next. */
static bool is_first_of_span(struct sched_domain *sd, unsigned int cpu)
{
	unsigned int c;

	for_each_cpu(c, sched_domain_span(sd)) {
		struct sched_domain *other = rcu_dereference_raw(raw_cpu_rq(c)->sd);

		if (c >= cpu)
			break;
		while (other && other->level != sd->level)
			other = rcu_dereference_raw(other->parent);
		if (other && cpumask_equal(sched_domain_span(other), sched_domain_span(sd)))
			return false;
	}
	return true;
}

static void look_at_domain(struct kern_slow_state *state, struct sched_domain *sd, unsigned int cpu)
{
	struct kern_domain *d = find_domain(state, sd);
	const struct sched_domain *llc = rcu_dereference_raw(*raw_per_cpu_ptr(&sd_llc, cpu));
	simtime interval = busy_interval(sd, sd->max_interval);

	d->newidle_cost += sd->max_newidle_lb_cost;
	d->too_dear += raw_cpu_rq(cpu)->avg_idle < sd->max_newidle_lb_cost;
	d->busy_interval = max(d->busy_interval, interval);
	if (!is_first_of_span(sd, cpu))
		return;
	d->spans++;
	d->gone_round += gone_round(sd);
	d->is_llc |= sd == llc;
	d->weight = sd->span_weight;
}

static void look_at_groups(struct kern_slow_state *state)
{
	struct task_group *tg;

	list_for_each_entry(tg, &task_groups, list)
		if (tg != &root_task_group)
			state->group_load += tg->load_avg.counter;
}

void kern_look(struct kern_slow_state *state)
{
	unsigned int cpu;

	memset(state, 0, sizeof(*state));
	for_each_cpu(cpu, cpu_online_mask) {
		const struct rq *rq = raw_cpu_rq(cpu);
		const struct sched_domain_shared *llc =
			rcu_dereference_raw(*raw_per_cpu_ptr(&sd_llc_shared, cpu));
		struct sched_domain *sd;

		state->utilisation += rq->cfs.avg.util_avg;
		state->load += rq->cfs.avg.load_avg;
		for (sd = rcu_dereference_raw(rq->sd); sd; sd = rcu_dereference_raw(sd->parent))
			look_at_domain(state, sd, cpu);
		if (llc && shim_leads_llc(cpu) && sched_feat(SIS_UTIL)) {
			state->llcs++;
			state->idle_scan += llc->nr_idle_scan;
		}
	}
	look_at_groups(state);
}

bool shim_load_has_lasted(void)
{
	return averages_built;
}

/*
 * A program that is started again and again ends before its first scan: no scan of it is waited
 * for.
 */
static bool is_scanned(const struct task_struct *p)
{
	return static_branch_likely(&sched_numa_balancing) && p && p->mm &&
	       !(p->flags & (PF_EXITING | PF_KTHREAD)) && !space_of(p->mm)->comes_and_goes;
}

/*
 * How often a part of a task's address space was scanned, as far as it was looked at in between:
 * task_numa_work() sets the time of the next scan.
 */
int kern_numa_scans(const struct kern_task *task)
{
	const struct task_struct *p = task->kernel;
	struct space *s;

	if (!is_scanned(p))
		return -1;
	s = space_of(p->mm);
	if (s->next_scan != s->mm.numa_next_scan) {
		s->scanned += s->next_scan != 0;
		s->next_scan = s->mm.numa_next_scan;
	}
	return s->scanned;
}

simtime kern_longest_scan_period(void)
{
	return static_branch_likely(&sched_numa_balancing) ?
	       sysctl_numa_balancing_scan_period_max * NSEC_PER_MSEC : 0;
}

/* ------------------------------------------------------------------ winding the clocks on */

/*
 * Every domain of every CPU becomes due, for a busy CPU, within `within` from now, as if its
 * interval were over by then; in ticks drawn at random, since a CPU that balances should see
 * what others have moved.
 */
void kern_wind_balance(simtime within)
{
	unsigned long ticks = nsecs_to_jiffies(within);
	unsigned int cpu;

	for_each_cpu(cpu, cpu_online_mask) {
		struct rq *rq = raw_cpu_rq(cpu);
		struct sched_domain *sd;

		for (sd = rcu_dereference_raw(rq->sd); sd; sd = rcu_dereference_raw(sd->parent))
			sd->last_balance = jiffies + 1 + hw_random() % ticks -
				nsecs_to_jiffies(busy_interval(sd, sd->balance_interval));
		rq->next_balance = jiffies;
	}
}

/*
 * Its next scan comes when it has run for up to `ran`, and nothing of its memory is too young for
 * it.
 */
void kern_wind_scan(struct kern_task *task, simtime ran)
{
	struct task_struct *p = task->kernel;
	struct mapping *m;

	if (!is_scanned(p))
		return;
	p->node_stamp = p->se.sum_exec_runtime + hw_random() % (ran + 1) -
		(u64)p->numa_scan_period * NSEC_PER_MSEC;
	p->mm->numa_next_scan = space_of(p->mm)->next_scan = jiffies;
	list_for_each_entry(m, &space_of(p->mm)->mappings, list)
		shim_vma_due(&m->vma);
}

/* Somewhere between two busy balances, as on a machine that has carried the load for long. */
void kern_spread_busy_balance(void)
{
	unsigned int cpu;

	for_each_cpu(cpu, cpu_online_mask) {
		struct rq *rq = raw_cpu_rq(cpu);
		struct sched_domain *sd;

		for (sd = rcu_dereference_raw(rq->sd); sd; sd = rcu_dereference_raw(sd->parent))
			sd->last_balance = jiffies -
				hw_random() % (nsecs_to_jiffies(busy_interval(sd, sd->balance_interval)) + 1);
		rq->next_balance = jiffies;
	}
}
