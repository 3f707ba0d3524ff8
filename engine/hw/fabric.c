// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines on their way between caches queue where many go the same way: at the port of each LLC, and
 * between packages.  Clocks of CPUs differ a little, so a port does not keep the order of arrivals
 * but counts lines in windows: a line waits as in an M/D/1 queue whose utilisation is that of
 * this window and the last.
 */
#include "inside.h"
#include "json.h"

#define WINDOW_SHIFT	10			/* 1,024 ns */
#define MOST_USED	95 /* percent; the lines beyond it are served one after another */

struct port {
	simtime window;
	unsigned int now, before;		/* lines in this window, in the last one */
};

/* Lines in a window; 0: no figure, nobody waits. */
struct capacity {
	unsigned int all, most; /* most: utilisation up to which lines queue as in M/D/1 */
};

static struct port llcs[HW_MAX_CPUS], packages[HW_MAX_CPUS];
static struct capacity of_llc, of_package;

static struct capacity lines_of(json_t *obj, const struct path *at, const char *key)
{
	unsigned int lines = (uint64_t)json_mbs(json_need(obj, at, key), AT(at, key)) * (1 << WINDOW_SHIFT) / 64000;

	return (struct capacity) { lines, lines * MOST_USED / 100 };
}

void fabric_read(json_t *obj)
{
	const struct path *at = AT(NULL, "fabric");

	json_only(obj, at, "llc", "package", NULL);
	of_llc = lines_of(obj, at, "llc");
	of_package = lines_of(obj, at, "package");
	if (!of_llc.all || !of_package.all)
		json_error_at(at, "less than a line in a microsecond");
}

/* ns / by, without dividing where the result is 0, as it mostly is. */
static inline simtime divide(simtime ns, simtime by)
{
	return ns < by ? 0 : ns / by;
}

static inline simtime queue(struct port *p, struct capacity capacity, unsigned int lines)
{
	simtime window = hw.clk >> WINDOW_SHIFT, wait = 0;
	unsigned int wanted;

	if (window > p->window) {
		p->before = window == p->window + 1 ? p->now : 0;
		p->now = 0;
		p->window = window;
	}
	p->now += lines;
	wanted = p->now > p->before ? p->now : p->before;
	if (wanted > capacity.most) {
		if (wanted > capacity.all)
			wait = ((simtime)(wanted - capacity.all) << WINDOW_SHIFT) / capacity.all;
		wanted = capacity.most;
	}
	return wait + divide((simtime)lines * wanted << WINDOW_SHIFT, 2ULL * capacity.all * (capacity.all - wanted));
}

/* The running CPU fetches lines that a CPU has. */
void fabric_pass(int owner, unsigned int lines)
{
	const struct hw_cpu_topo *here = &hw_cpu_topo[hw.cpu], *there = &hw_cpu_topo[owner];
	simtime wait;

	if (!of_llc.all || here->llc == there->llc || !hw.live || !hw_mechanisms.bandwidth)
		return;
	wait = queue(&llcs[here->llc], of_llc, lines) + queue(&llcs[there->llc], of_llc, lines);
	if (here->package != there->package)
		wait += queue(&packages[there->package], of_package, lines);
	hw_counts.fabric_wait_ns += wait;
	hw_stall(wait);
}
