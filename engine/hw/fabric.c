// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lines on their way between caches queue where many go the same way: at the port of each LLC, and between
 * packages.  Clocks of CPUs differ a little, so a port does not keep the order of arrivals but counts lines in
 * windows: who comes waits as in a queue (M/D/1) that is used as much as in this window and the last.
 */
#include "inside.h"
#include "json.h"

#define WINDOW_SHIFT	10			/* 1,024 ns */
#define MOST_USED	95			/* percent: beyond it, what is too much is served one after another */

struct port {
	simtime window;
	unsigned int now, before;		/* lines in this window, in the last one */
};

static struct port llcs[HW_MAX_CPUS], packages[HW_MAX_CPUS];
static unsigned int llc_lines, package_lines;	/* in a window; 0: no figure, nobody waits */

static unsigned int lines_of(json_t *obj, const struct path *at, const char *key)
{
	return (uint64_t)json_mbs(json_need(obj, at, key), AT(at, key)) * (1 << WINDOW_SHIFT) / 64000;
}

void fabric_read(json_t *obj)
{
	const struct path *at = AT(NULL, "fabric");

	json_only(obj, at, "llc", "package", NULL);
	llc_lines = lines_of(obj, at, "llc");
	package_lines = lines_of(obj, at, "package");
	if (!llc_lines || !package_lines)
		json_error_at(at, "less than a line in a microsecond");
}

/* ns / by, without the division where it gives nothing, as it mostly does. */
static inline simtime divide(simtime ns, simtime by)
{
	return ns < by ? 0 : ns / by;
}

static inline simtime queue(struct port *p, unsigned int capacity, unsigned int lines)
{
	simtime window = hw.clk >> WINDOW_SHIFT, wait = 0;
	unsigned int wanted, most = capacity * MOST_USED / 100;

	if (window > p->window) {
		p->before = window == p->window + 1 ? p->now : 0;
		p->now = 0;
		p->window = window;
	}
	p->now += lines;
	wanted = p->now > p->before ? p->now : p->before;
	if (wanted > most) {
		if (wanted > capacity)
			wait = ((simtime)(wanted - capacity) << WINDOW_SHIFT) / capacity;
		wanted = most;
	}
	return wait + divide((simtime)lines * wanted << WINDOW_SHIFT, 2ULL * capacity * (capacity - wanted));
}

/* The running CPU fetches lines that a CPU has. */
void fabric_pass(int owner, unsigned int lines)
{
	const struct hw_cpu_topo *here = &hw_cpu_topo[hw.cpu], *there = &hw_cpu_topo[owner];
	simtime wait;

	if (!llc_lines || here->llc == there->llc || !hw.live || !hw_mechanisms.bandwidth)
		return;
	wait = queue(&llcs[here->llc], llc_lines, lines) + queue(&llcs[there->llc], llc_lines, lines);
	if (here->package != there->package)
		wait += queue(&packages[there->package], package_lines, lines);
	hw_counts.fabric_wait_ns += wait;
	hw_stall(wait);
}
