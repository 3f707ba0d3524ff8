// SPDX-License-Identifier: GPL-2.0-only
/*
 * The watch: has the kernel's slow state settled under the load?  It looks once in a half-life of
 * the load averages and compares the last five looks with the five before: together that is as long
 * as an average remembers.  A figure is stationary if their means differ by no more than the last
 * five differ among themselves, or by less than the kernel itself takes for a change.  What goes up
 * and down more slowly is compared over ten and over twenty looks: if so many differ among
 * themselves by at least twice the difference of the means, it fluctuates and does not drift.
 *
 * While a run warms up, the engine winds the clocks of balancing and of NUMA scans on, so that each
 * goes round KERN_ROUNDS times while the averages are built; then it leaves every clock somewhere
 * in its period.  docs/internals/engine.md, "Steady state", says why and what that changes.
 */
#include <stdarg.h>
#include <string.h>
#include "instance.h"
#include "scenario.h"
#include "steady.h"

#define LOOKS	KERN_HALF_LIVES
#define ROUND	(KERN_HALF_LIVES / KERN_ROUNDS)	/* looks */
#define MOST_LOOKS	(4 * LOOKS)

struct series {
	double look[MOST_LOOKS];	/* the newest last */
};

enum { UTILISATION, LOAD, GROUP_LOAD, IDLE_SCAN, NEWIDLE };	/* NEWIDLE + the domain's index */

static struct {
	simtime	began, next;		/* of the load; the next look */
	int	looks, rounds;
	int	spread;			/* the clocks were left where a long run has them */
	int	scanned, to_scan;	/* tasks whose memory NUMA balancing goes over */
	int	settled;
	simtime	settled_at;
	int	warm;			/* or waited for long enough */
	struct series series[NEWIDLE + KERN_MAX_DOMAINS];
	struct kern_slow_state state;
	json_t	*unsettled;		/* at the last look, in words */
} watch;

static simtime memory(void)
{
	return KERN_HALF_LIVES * kern_load_half_life;
}

static simtime elapsed(void)
{
	return hw.clk - watch.began;
}

/* ------------------------------------------------------------------ what is stationary */

static void add_look(int which, double value)
{
	struct series *s = &watch.series[which];

	memmove(s->look, s->look + 1, sizeof(s->look) - sizeof(s->look[0]));
	s->look[MOST_LOOKS - 1] = value;
}

/*
 * Of the last `n` looks and the `n` before: how far the means are apart, and the last among
 * themselves.
 */
static void compare(const struct series *s, int n, double *moved, double *spread)
{
	const double *look = s->look + MOST_LOOKS - n;
	double earlier = 0, later = 0, least = look[0], most = look[0];

	for (int i = 0; i < n; i++) {
		earlier += look[i - n] / n;
		later += look[i] / n;
		least = look[i] < least ? look[i] : least;
		most = look[i] > most ? look[i] : most;
	}
	*moved = later > earlier ? later - earlier : earlier - later;
	*spread = most - least;
}

static int stationary(int which, double change)
{
	double moved, spread;

	compare(&watch.series[which], LOOKS / 2, &moved, &spread);
	if (moved <= change || moved <= spread)
		return 1;
	for (int n = LOOKS; 2 * n <= watch.looks && 2 * n <= MOST_LOOKS; n *= 2) {
		compare(&watch.series[which], n, &moved, &spread);
		if (moved <= change || moved <= spread / 2)
			return 1;
	}
	return 0;
}

/* ------------------------------------------------------------------ what has not settled */

static void __attribute__((format(printf, 1, 2))) not_settled(const char *fmt, ...)
{
	char text[256];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	json_array_append_new(watch.unsettled, json_string(text));
}

/*
 * A domain that no busy CPU has balanced in the time two balances take is balanced by none.  Where
 * the clocks are wound on, that time is over with the last round; the first tick of a busy CPU
 * after it would have balanced what was due, and one more round is time for that.
 */
static int has_gone_round(const struct kern_domain *d)
{
	simtime rounds = KERN_ROUNDS * d->busy_interval;

	if (watch.rounds == KERN_ROUNDS && rounds > memory() + ROUND * kern_load_half_life)
		rounds = memory() + ROUND * kern_load_half_life;
	return d->gone_round == d->spans || elapsed() >= rounds;
}

static void judge_balance(void)
{
	for (const struct kern_domain *d = watch.state.domain; d->name[0]; d++) {
		if (has_gone_round(d))
			continue;
		not_settled("busy CPUs balance %s (%d CPUs) every %.3g s, and only %d of %d such domains were "
			    "balanced %d times since the load began", d->name, d->weight,
			    d->busy_interval / 1e9, d->gone_round, d->spans, KERN_ROUNDS);
		if (d->is_llc && watch.state.llcs)
			not_settled("how many CPUs a wakeup searches (nr_idle_scan) dates from before the load");
	}
}

static void judge_figures(void)
{
	const struct kern_slow_state *s = &watch.state;

	if (watch.looks < LOOKS) {
		not_settled("load averages remember %.3g s, longer than the load has lasted",
			    memory() / 1e9);
		return;
	}
	/* UTIL_EST_MARGIN; and update_tg_load_avg() does not tell a group of less than a 64th */
	if (!stationary(UTILISATION, hw_nr_cpus * 1024 / 100) || !stationary(LOAD, s->load / 64.0))
		not_settled("the CPUs' load averages were still changing");
	if (!stationary(GROUP_LOAD, s->group_load / 64.0))
		not_settled("the task groups' load averages were still changing");
	if (!stationary(IDLE_SCAN, s->llcs))
		not_settled("how many CPUs a wakeup searches (nr_idle_scan) was still changing");
	for (int i = 0; s->domain[i].name[0]; i++)
		if (!stationary(NEWIDLE + i, hw_nr_cpus / 100.0))
			not_settled("on how many CPUs newidle balance leaves out %s (avg_idle below its "
				    "max_newidle_lb_cost) was still changing", s->domain[i].name);
}

static void judge_scans(void)
{
	if (watch.scanned < watch.to_scan)
		not_settled("NUMA balancing has scanned the memory of %d of %d tasks %d times",
			    watch.scanned, watch.to_scan, KERN_ROUNDS);
}

/* ------------------------------------------------------------------ looking */

/* Tasks of workloads that a tick finds running. */
static void look_at_scans(void)
{
	watch.scanned = watch.to_scan = 0;
	for_each_task(t) {
		int scans = t->instance ? kern_numa_scans(&t->kern) : -1;

		if (scans < 0)
			continue;
		kern_collect(&t->kern);
		if (t->runtime - t->looked_runtime < SEC / kern_hz)
			continue;
		watch.to_scan++;
		watch.scanned += scans >= KERN_ROUNDS;
	}
}

static void begin_scan_period(void)
{
	for_each_task(t)
		if (t->instance) {
			kern_collect(&t->kern);
			t->looked_runtime = t->runtime;
		}
}

static void look(void)
{
	const struct kern_slow_state *s = &watch.state;

	kern_look(&watch.state);
	watch.looks++;
	add_look(UTILISATION, s->utilisation);
	add_look(LOAD, s->load);
	add_look(GROUP_LOAD, s->group_load);
	add_look(IDLE_SCAN, s->idle_scan);
	for (int i = 0; s->domain[i].name[0]; i++)
		add_look(NEWIDLE + i, s->domain[i].too_dear);
	look_at_scans();
	json_array_clear(watch.unsettled);
	judge_balance();
	judge_figures();
	judge_scans();
}

/* ------------------------------------------------------------------ the clocks */

static void wind_balance(void)
{
	if (watch.rounds < KERN_ROUNDS) {
		kern_wind_balance(ROUND * kern_load_half_life);
		watch.rounds++;
	} else if (!watch.spread) {
		kern_spread_busy_balance();
		watch.spread = 1;
	}
}

/*
 * Of tasks that were there a round ago: the next scan comes in about the time between two looks, and
 * then the one after it.  One that did not come is asked for again after a round.
 */
static void wind_scans(int looks)
{
	for_each_task(t) {
		int scans = t->instance && t->looked_runtime ? kern_numa_scans(&t->kern) : -1;

		if (scans < 0 || scans >= KERN_ROUNDS || (looks < ROUND && t->wound_scans > scans))
			continue;
		kern_wind_scan(&t->kern, (t->runtime - t->looked_runtime) / looks);
		t->wound_scans = scans + 1;
	}
}

/*
 * The longest a load is waited for: its clocks' time, and that of six memories to become
 * stationary.
 */
static simtime longest_warmup(void)
{
	simtime rounds = scenario.wind ? 0 : KERN_ROUNDS * kern_longest_scan_period();

	if (!scenario.wind)
		for (const struct kern_domain *d = watch.state.domain; d->name[0]; d++)
			if (KERN_ROUNDS * d->busy_interval > rounds)
				rounds = KERN_ROUNDS * d->busy_interval;
	return rounds + 6 * memory();
}

simtime steady_due(void)
{
	return watch.next;
}

static void begin(void)
{
	watch.began = watch.next = hw.clk;
	watch.unsettled = json_array();
	kern_load_begins();
}

void steady_look(void)
{
	simtime half_life = kern_load_half_life;
	int looks;	/* since a round began */

	if (!watch.began)
		begin();
	if (hw.clk < watch.next)
		return;
	watch.next += half_life;
	look();
	looks = elapsed() / half_life % ROUND;
	if (looks == 0 && elapsed() >= memory())
		kern_averages_are_built();
	if (scenario.until_settled && scenario.wind && !watch.warm) {
		if (looks == 0)
			wind_balance();
		wind_scans(looks ? looks : ROUND);
	}
	if (looks == 0)
		begin_scan_period();
	if (!watch.settled && !json_array_size(watch.unsettled) &&
	    (watch.spread || !scenario.wind || !scenario.until_settled)) {
		watch.settled = 1;
		watch.settled_at = hw.clk;
	}
	if (scenario.until_settled && (watch.settled || elapsed() >= longest_warmup()))
		watch.warm = 1;
}

int steady_warm(void)
{
	return watch.warm;
}

/* More of the time from `from` to now lies after it had settled than before. */
static int mostly_settled(simtime from)
{
	return watch.settled && (watch.settled_at <= from || hw.clk - watch.settled_at >= watch.settled_at - from);
}

int steady_counts(simtime from)
{
	return mostly_settled(from) || elapsed() >= longest_warmup();
}

/* ------------------------------------------------------------------ what the result says */

static json_t *clocks_json(void)
{
	json_t *list = json_array();

	for (const struct kern_domain *d = watch.state.domain; d->name[0]; d++)
		json_array_append_new(list, json_pack("{s:s, s:i, s:i, s:i, s:f, s:f}", "name", d->name,
			"cpus", d->weight, "domains", d->spans, "gone_round", d->gone_round,
			"busy_interval_s", d->busy_interval / 1e9,
			"max_newidle_lb_cost_ns", (double)d->newidle_cost / hw_nr_cpus));
	return list;
}

json_t *steady_json(simtime measured_from)
{
	json_t *obj = json_object();

	if (watch.settled && !mostly_settled(measured_from)) {
		json_array_clear(watch.unsettled);
		not_settled("the scheduler's state settled only %.3g s after measuring began, which went on for "
			    "%.3g s", (watch.settled_at - measured_from) / 1e9, (hw.clk - measured_from) / 1e9);
	}
	json_object_set_new(obj, "unsettled", watch.began && !mostly_settled(measured_from) ?
			    json_incref(watch.unsettled) : json_array());
	json_object_set_new(obj, "settled_s", watch.settled ? json_real((watch.settled_at - origin) / 1e9) :
			    json_null());
	json_object_set_new(obj, "measured_from_s", json_real((measured_from - origin) / 1e9));
	json_object_set_new(obj, "wound", json_boolean(watch.rounds > 0));
	json_object_set_new(obj, "domains", clocks_json());
	json_object_set_new(obj, "llcs", json_integer(watch.state.llcs));
	json_object_set_new(obj, "nr_idle_scan", json_integer(watch.state.idle_scan));
	json_object_set_new(obj, "utilisation", json_integer(watch.state.utilisation));
	json_object_set_new(obj, "group_load", json_integer(watch.state.group_load));
	json_object_set_new(obj, "numa_scanned_tasks", json_integer(watch.scanned));
	json_object_set_new(obj, "numa_tasks", json_integer(watch.to_scan));
	return obj;
}
