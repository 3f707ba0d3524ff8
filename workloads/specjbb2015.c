// SPDX-License-Identifier: GPL-2.0-only
/*
 * SPECjbb2015, multi-JVM: groups of a transaction injector and a backend, two processes
 * that talk over TCP, and here the controller, which raises the injection rate.
 *
 * Where not given, the controller's times are a hundredth of the original's and those of
 * the curve a three-hundredth, and the young generation is small, so that a simulation is
 * affordable and still sees collections.  All keep their meaning.
 */
#include "specjbb.h"

struct level {
	unsigned int rate;
	struct wl_histogram *response;
};

struct counts {
	unsigned long long time;
	unsigned int issued, processed;		/* they wrap around together */
};

static struct counts count(const struct controller *c)
{
	struct counts counts = { .time = wl_now() };

	for (int g = 0; g < c->groups; g++) {
		counts.issued += jbb_issued(&c->group[g].injector);
		counts.processed += jbb_processed(&c->group[g].injector);
	}
	return counts;
}

/*
 * Whether as much was issued and processed as there should be, within so many percent, and
 * for each group one request under way at either end of the time looked at.
 */
static int within(const struct controller *c, const struct counts *from, const struct counts *to,
		  unsigned int rate, int percent)
{
	long long wanted = (to->time - from->time) / WL_USEC * rate / 1000000;
	long long allowed = wanted * percent / 100 + 2 * c->groups;
	long long issued = to->issued - from->issued, processed = to->processed - from->processed;

	return issued >= wanted - allowed && issued <= wanted + allowed &&
	       processed >= wanted - allowed && processed <= wanted + allowed;
}

static void set_rate(struct controller *c, unsigned int rate)
{
	for (int g = 0; g < c->groups; g++) {
		unsigned int *its_rate = &c->group[g].injector.rate;

		wl_exchange(its_rate, rate / c->groups + ((unsigned int)g < rate % c->groups));
		wl_futex_wake(its_rate, 1);
	}
}

/* Waits until the rate has held for the shortest time to settle; 0: it did not. */
static int settle(struct controller *c, unsigned int rate, int percent)
{
	enum { TICKS = 3 };
	unsigned long long tick = wl_option("controller.settle.time.min") / TICKS;
	unsigned long long end = wl_now() + wl_option("controller.settle.time.max");
	struct counts seen[TICKS + 1];

	set_rate(c, rate);
	seen[0] = count(c);
	for (int n = 1; ; n++) {
		struct counts *last = &seen[n % (TICKS + 1)];

		wl_sleep(tick);
		*last = count(c);
		if (n >= TICKS && within(c, &seen[(n + 1) % (TICKS + 1)], last, rate, percent))
			return 1;
		if (last->time >= end)
			return 0;
	}
}

/* Nothing under way any more: what failed has left long queues. */
static void drain(struct controller *c)
{
	struct counts counts;

	set_rate(c, 0);
	do {
		wl_sleep(wl_option("controller.settle.time.min"));
		counts = count(c);
	} while (counts.issued != counts.processed);
}

/*
 * The rate rises to a base in tenths, then by 100, 20, 24, 29, ... more requests a second
 * until it no longer holds; the last that did is the next base.  Done when a base cannot be
 * reached again, does not get better, or (E) after three: a simulated machine is steadier.
 */
static void search_high_bound(struct controller *c)
{
	enum { PERCENT = 5, SEARCHES = 3 };
	unsigned int base = 100, last;

	for (int search = 0; search < SEARCHES; search++) {
		unsigned long long more = 20 * 1000;	/* thousandths */
		unsigned int rate;
		int reached = 1;

		for (int tenth = 1; reached && tenth <= 10; tenth++)
			reached = settle(c, base * tenth / 10, PERCENT);
		if (!reached)
			break;
		last = base;
		for (rate = base + 100; settle(c, rate, PERCENT); rate += more / 1000, more += more / 5)
			last = rate;
		drain(c);
		if (rate > c->hbir)
			c->hbir = rate;
		if (last == base)
			break;
		base = last;
	}
	c->settled = base;
	drain(c);
}

enum { RT_PERCENT = 1, RT_RETRIES = 10 };

/* One level of the curve: settled, and held while responses are measured. */
static int measure(struct controller *c, struct level *level)
{
	unsigned long long start, min = wl_option("controller.rtcurve.duration.min");
	unsigned long long max = wl_option("controller.rtcurve.duration.max");
	struct counts from, to;

	level->response = c->response = wl_histogram();
	if (!settle(c, level->rate, RT_PERCENT))
		return 0;
	level->response = c->response = wl_histogram();
	from = count(c);
	start = wl_now();
	wl_sleep(min);
	for (;;) {
		to = count(c);
		if (within(c, &from, &to, level->rate, RT_PERCENT))
			return 1;
		if (to.time - start >= max)
			return 0;
		wl_sleep(min / 10);
	}
}

/*
 * Levels of a percent of the high bound, or so; max-jOPS is the last before the first that fails.
 */
static unsigned int build_curve(struct controller *c)
{
	unsigned long long step = wl_option("controller.rtcurve.step"), at = wl_option("controller.rtcurve.start");
	int failed = 0, retries = RT_RETRIES, may_fail = wl_option("controller.maxir.maxFailedPoints");

	c->level = wl_new(struct level, 2000000 / step + may_fail + 2);
	for (at += step; failed <= may_fail && at < 2000000; at += step) {
		struct level *level = &c->level[c->levels];
		int held;

		level->rate = c->hbir * at / 1000000;
		held = measure(c, level);
		if (!held && retries) {
			retries--;
			held = measure(c, level);
		}
		if (!held) {
			failed++;
			drain(c);
		} else if (!failed) {
			c->levels++;
		}
	}
	set_rate(c, 0);
	return c->levels ? c->level[c->levels - 1].rate : 0;
}

/*
 * jOPS at a limit of response time: between the first level above it and the last within,
 * whichever comes first, as far as the part of levels there that are within.
 */
static unsigned int jops_within(const struct controller *c, unsigned long long limit)
{
	int first_above = -1, last_within = -1, within_limit = 0, low, high;
	long long apart;

	for (int i = 0; i < c->levels; i++) {
		if (wl_percentile(c->level[i].response, 99) <= limit)
			last_within = i;
		else if (first_above < 0)
			first_above = i;
	}
	if (last_within < 0)
		return 0;
	if (first_above < 0)
		return c->level[last_within].rate;
	low = first_above < last_within ? first_above : last_within;
	high = first_above < last_within ? last_within : first_above;
	for (int i = low; i <= high; i++)
		within_limit += wl_percentile(c->level[i].response, 99) <= limit;
	apart = (long long)c->level[last_within].rate - c->level[first_above].rate;
	return c->level[first_above].rate + apart * within_limit / (high - low + 1);
}

static unsigned __int128 fifth_power(unsigned long long n)
{
	return (unsigned __int128)n * n * n * n * n;
}

/* The fifth root of the product, rounded to the nearest */
static unsigned int geometric_mean(const unsigned int value[5])
{
	unsigned __int128 product = 1;
	unsigned long long low = 0, high = 1 << 24;

	for (int i = 0; i < 5; i++)
		product *= value[i];
	while (low < high) {
		unsigned long long middle = (low + high + 1) / 2;

		if (fifth_power(middle) <= product)
			low = middle;
		else
			high = middle - 1;
	}
	return fifth_power(2 * low + 1) <= 32 * product ? low + 1 : low;
}

static void result_collections(const struct controller *c)
{
	double collections = 0, paused = 0;

	for (int g = 0; g < c->groups; g++) {
		collections += c->group[g].backend.jvm.collections;
		paused += c->group[g].backend.jvm.paused;
	}
	wl_result("young collections", collections, "");
	wl_result("young collection pause", collections ? paused / collections / WL_MSEC : 0, "ms");
}

static void find_capacity(struct controller *c)
{
	static const int limits_ms[5] = { 10, 25, 50, 75, 100 };
	static const char *const names[5] = {
		"jOPS at 10 ms", "jOPS at 25 ms", "jOPS at 50 ms", "jOPS at 75 ms", "jOPS at 100 ms",
	};
	unsigned int jops[5], max;

	search_high_bound(c);
	max = build_curve(c);
	for (int i = 0; i < 5; i++)
		jops[i] = jops_within(c, limits_ms[i] * WL_MSEC);
	wl_result("max-jOPS", max, "jOPS");
	wl_result("critical-jOPS", geometric_mean(jops), "jOPS");
	for (int i = 0; i < 5; i++)
		wl_result(names[i], jops[i], "jOPS");
	wl_result("hbIR (max attempted)", c->hbir, "jOPS");
	wl_result("hbIR (settled)", c->settled, "jOPS");
}

static void hold_rate(struct controller *c)
{
	unsigned int rate = wl_option("controller.preset.ir");
	int settled = settle(c, rate, RT_PERCENT);
	struct counts from, to;

	c->response = wl_histogram();
	from = count(c);
	wl_sleep(wl_option("controller.preset.duration"));
	to = count(c);
	wl_result("settled", settled, "");
	wl_result("issued", (to.issued - from.issued) * 1e9 / (to.time - from.time), "jOPS");
	wl_result("processed", (to.processed - from.processed) * 1e9 / (to.time - from.time), "jOPS");
	wl_result("requests", to.processed - from.processed, "");
	wl_result_latency("response time", c->response);
}

static void new_group(struct controller *c, struct group *g)
{
	g->controller = c;
	g->exchanges = wl_option("comm.connect.client.pool.size");
	g->exchange = wl_new(struct exchange, g->exchanges);
	g->listens = wl_pipe();
	g->backend.group = g;
	jbb_new_backend(&g->backend);
	jbb_new_injector(g);
}

static void specjbb2015(void)
{
	struct controller *c = wl_new(struct controller, 1);

	if (wl_option("controller.settle.time.max") < wl_option("controller.settle.time.min"))
		wl_refuse("controller.settle.time.max is less than .min");
	if (wl_option("controller.rtcurve.duration.max") < wl_option("controller.rtcurve.duration.min"))
		wl_refuse("controller.rtcurve.duration.max is less than .min");
	c->groups = wl_option("group.count");
	c->group = wl_new(struct group, c->groups);
	c->ready = wl_pipe();
	c->response = wl_histogram();
	for (int g = 0; g < c->groups; g++)
		new_group(c, &c->group[g]);
	for (int g = 0; g < c->groups; g++) {
		wl_fork("backend", jbb_backend, &c->group[g]);
		wl_fork("txinjector", jbb_injector, &c->group[g]);
	}
	wl_pipe_read(c->ready, 2 * c->groups);
	wl_begin();
	if (wl_option("controller.type"))
		hold_rate(c);
	else
		find_capacity(c);
	wl_end();
	result_collections(c);
}

static const struct wl_option options[] = {
	{ "group.count", 0, WL_COUNT, 1, 1, 256, NULL, "groups of an injector and a backend" },
	{ "controller.type", 0, WL_WORD, 0, 0, 1, "HBIR_RT|PRESET", "search and curve, or one rate" },
	{ "controller.preset.ir", 0, WL_COUNT, 1000, 1, 10000000, NULL, "the rate of PRESET" },
	{ "controller.preset.duration", 0, WL_TIME, 2 * WL_SEC, WL_MSEC, 86400LL * WL_SEC, NULL,
	  "its duration; originally 600 s" },
	{ "controller.settle.time.min", 0, WL_TIME, 30 * WL_MSEC, WL_MSEC, 3600LL * WL_SEC, NULL,
	  "a rate has to hold so long; originally 3 s" },
	{ "controller.settle.time.max", 0, WL_TIME, 300 * WL_MSEC, WL_MSEC, 3600LL * WL_SEC, NULL,
	  "or fails after this; originally 30 s" },
	{ "controller.rtcurve.duration.min", 0, WL_TIME, 200 * WL_MSEC, WL_MSEC, 3600LL * WL_SEC, NULL,
	  "of a level of the curve; originally 60 s" },
	{ "controller.rtcurve.duration.max", 0, WL_TIME, 300 * WL_MSEC, WL_MSEC, 3600LL * WL_SEC, NULL,
	  "when it did not hold; originally 90 s" },
	{ "controller.rtcurve.start", 0, WL_FRACTION, 0, 0, 1000000, NULL, "of the high bound: above it" },
	{ "controller.rtcurve.step", 0, WL_FRACTION, 10000, 1000, 1000000, NULL, "of the high bound: each level" },
	{ "controller.maxir.maxFailedPoints", 0, WL_COUNT, 3, 0, 100, NULL, "levels tried after the first failure" },
	{ "customerDriver.threads.probe", 0, WL_COUNT, 64, 1, 10000, NULL, "issue requests and measure them" },
	{ "customerDriver.threads.saturate", 0, WL_COUNT, 64, 1, 10000, NULL, "issue the others" },
	{ "comm.connect.client.pool.size", 0, WL_COUNT, 256, 1, 10000, NULL, "connections of a group" },
	{ "comm.connect.selector.runner.count", 0, WL_COUNT, 4, 1, 1000, NULL, "threads that take messages in, on either side" },
	{ "forkjoin.workers.Tier1", 0, WL_COUNT, 0, 0, 60000, NULL, "0: twice the CPUs" },
	{ "forkjoin.workers.Tier2", 0, WL_COUNT, 0, 0, 60000, NULL, "0: twice the CPUs" },
	{ "forkjoin.workers.Tier3", 0, WL_COUNT, 0, 0, 60000, NULL, "0: twice the CPUs" },
	{ "Xmn", 0, WL_SIZE, 1LL << 30, 1 << 20, 1LL << 41, NULL, "young generation of a backend" },
	{ "ParallelGCThreads", 0, WL_COUNT, 0, 0, 1024, NULL, "0: as HotSpot chooses" },
	{ }
};

WORKLOAD(specjbb2015) = {
	.name = "specjbb2015",
	.summary = "groups of Java servers under a rising rate of requests",
	.original = "SPECjbb2015 1.03, MultiJVM",
	.options = options,
	.main = specjbb2015,
};
