// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a task finds in its core's own caches when it comes back to user mode.  What others brought
 * in meanwhile took the place of its lines; siblings have the caches in common.  On another core
 * nothing of it is there.  The kernel's lines of a task come back at once, those that its work goes
 * over as it reaches them: a task that works for a moment needs few, and pushes few out.
 */
#include <jansson.h>
#include "inside.h"
#include "json.h"

#define LINE	64

struct hw_core_caches *hw_core_caches;

static unsigned long l1_lines, l2_lines;

/* l1 is left out where a core has one cache below the last, or the first one is unknown. */
void refill_read(json_t *obj)
{
	const struct path *at = AT(NULL, "cache");
	json_t *l1 = json_object_get(obj, "l1");

	l1_lines = l1 ? json_kb(l1, AT(at, "l1")) * (1024 / LINE) : 0;
	l2_lines = json_kb(json_need(obj, at, "l2"), AT(at, "l2")) * (1024 / LINE);
}

void refill_init(void)
{
	hw_core_caches = hw_zalloc(sizeof(*hw_core_caches) * hw_nr_cores, 64);
}

static unsigned long least(unsigned long a, unsigned long b)
{
	return a < b ? a : b;
}

/*
 * Of `lines` of a task that has `all` in a cache, those that have gone since `others` came in: each
 * takes the place of one at most, and tasks that fit together leave each other alone.
 */
static unsigned long lost(unsigned long lines, unsigned long others, unsigned long all,
			  unsigned long size)
{
	unsigned long room = all < size - all ? size - all : all;

	return others < room ? lines * others / room : lines;
}

/* Lines come into both caches: those of the second one are not in the first either. */
static void come_in(struct hw_core_caches *c, unsigned long l1, unsigned long l2)
{
	c->l1 += l1;
	c->l2 += l2;
}

static unsigned long beyond(unsigned long a, unsigned long b)
{
	return a > b ? a - b : 0;
}

/* ------------------------------------------------------------------ back in user mode */

/* The kernel's lines of a task, and of its footprint what a cache of this size holds beside them. */
static unsigned long kernels(unsigned long size)
{
	return least(hw_costs.task_lines, size);
}

static unsigned long footprint(const struct hw_task *task, unsigned long size)
{
	return least(task->footprint_kb * (1024UL / LINE), size - kernels(size));
}

/* Those of the second cache from so far, others of the first from the second. */
static void fetch_kernels(struct hw_core_caches *c, unsigned long l1, unsigned long l2,
			  unsigned int far)
{
	simtime ns = (l2 * far + beyond(l1, l2) * hw_costs.line_l2) * hw_costs.refill_overlap / 100;

	come_in(c, l1, l2);
	if (!ns)
		return;
	hw_counts.refill_ns += ns;
	hw_stall(ns);
	hw_spent(HW_TIME_REFILL, hw.clk - ns * hw.live);
}

/* Lines that are not there, and what they cost in all. */
static void add_cold(struct hw_cold *cold, unsigned long lines, unsigned int line)
{
	cold->lines += lines;
	cold->ns += (simtime)lines * line;
}

static unsigned long not_in_l2(const struct hw_task *task)
{
	return task->cold_new.lines + task->cold_far.lines + task->cold_near.lines;
}

/* Back on the core where it was: what it lost to others, of which it needs the kernel's at once. */
static void behind_others(struct hw_task *task, struct hw_core_caches *c)
{
	unsigned long others1 = c->l1 - task->left.l1, others2 = c->l2 - task->left.l2;
	unsigned long own1 = footprint(task, l1_lines), own2 = footprint(task, l2_lines);
	unsigned long all1 = own1 + kernels(l1_lines), all2 = own2 + kernels(l2_lines);
	unsigned long here2 = beyond(own2, not_in_l2(task));

	task->cold_l1 += lost(beyond(own1, task->cold_l1), others1, all1, l1_lines);
	add_cold(&task->cold_near, lost(here2, others2, all2, l2_lines), hw_costs.line_hit);
	fetch_kernels(c, lost(kernels(l1_lines), others1, all1, l1_lines),
		      lost(kernels(l2_lines), others2, all2, l2_lines), hw_costs.line_hit);
}

/* On another core all of it comes from where it was, as far as caches held it there. */
static void after_move(struct hw_task *task, struct hw_core_caches *c, enum hw_distance d)
{
	task->cold_l1 = footprint(task, l1_lines);
	if (d <= HW_LLC) {
		add_cold(&task->cold_near, beyond(footprint(task, l2_lines), not_in_l2(task)),
			 hw_costs.line[d]);
	} else {
		task->cold_near = (struct hw_cold) { };
		add_cold(&task->cold_far,
			 beyond(footprint(task, hw_llc_bytes / LINE), not_in_l2(task)),
			 hw_costs.line[d]);
	}
	fetch_kernels(c, kernels(l1_lines), hw_costs.task_lines, hw_costs.line[d]);
}

/* A new image is warm nowhere, and its start has paid for what it comes to. */
static void new_image(struct hw_task *task, struct hw_core_caches *c)
{
	task->cold_near = task->cold_far = (struct hw_cold) { };
	task->cold_new = (struct hw_cold) { .lines = footprint(task, l2_lines) };
	task->cold_l1 = footprint(task, l1_lines);
	come_in(c, kernels(l1_lines), kernels(l2_lines));
}

/* `from`: the CPU whose caches were warm, or -1. */
void hw_refill_caches(struct hw_task *task, int from)
{
	struct hw_core_caches *here = &hw_core_caches[hw_cpu_topo[hw.cpu].core];

	if (!hw_mechanisms.refill)
		return;
	if (from < 0)
		new_image(task, here);
	else if (hw_cpu_distance[from][hw.cpu] <= HW_CORE)
		behind_others(task, here);
	else
		after_move(task, here, hw_cpu_distance[from][hw.cpu]);
}

/* ------------------------------------------------------------------ at work */

/* Times here are hundredths of a ns, as refill_overlap is a percentage. */
#define PARTS	REFILL_PARTS

static simtime parts_at_pace(const struct cpu *c, simtime work)
{
	return (work * 65536 * PARTS + c->pace.all - 1) / c->pace.all;
}

/* Lines of one kind that a task comes to, and how long it waits for each. */
struct kind {
	unsigned long	lines;
	struct hw_cold	*cold;			/* NULL: those that only the first cache lacks */
	simtime		wait;
};

static struct kind of_cold(struct hw_cold *cold)
{
	simtime ns = cold->ns * hw_costs.refill_overlap;

	return (struct kind) { cold->lines, cold, cold->lines ? ns / cold->lines : 0 };
}

/* In the order in which it comes to them. */
#define KINDS	4

static struct kind kind_of(struct hw_task *task, int i)
{
	switch (i) {
	case 0:
		return of_cold(&task->cold_new);
	case 1:
		return of_cold(&task->cold_far);
	case 2:
		return of_cold(&task->cold_near);
	default:
		return (struct kind) {
			.lines = beyond(task->cold_l1, not_in_l2(task)),
			.wait = (simtime)hw_costs.line_l2 * hw_costs.refill_overlap,
		};
	}
}

static struct kind next_kind(struct hw_task *task)
{
	int i = 0;

	while (i < KINDS - 1 && !kind_of(task, i).lines)
		i++;
	return kind_of(task, i);
}

static void reach(struct cpu *c, const struct kind *kind, unsigned long lines)
{
	struct hw_task *task = c->task;
	unsigned long l1 = least(task->cold_l1, lines);

	task->cold_l1 -= l1;
	if (kind->cold) {
		kind->cold->ns -= kind->cold->ns / kind->cold->lines * lines;
		kind->cold->lines -= lines;
		if (!kind->cold->lines)
			kind->cold->ns = 0;
	}
	come_in(&hw_core_caches[hw_cpu_topo[c->id].core], l1, kind->cold ? lines : 0);
}

/* How long the task waits in work that comes to so many lines. */
static simtime waits(struct hw_task *task, unsigned long lines)
{
	simtime sum = task->owed;

	for (int i = 0; i < KINDS && lines; i++) {
		struct kind kind = kind_of(task, i);
		unsigned long n = least(kind.lines, lines);

		sum += n * kind.wait;
		lines -= n;
	}
	return sum;
}

static unsigned long lines_of(const struct hw_task *task, simtime work)
{
	return (task->since_line + work) / hw_costs.touch;
}

simtime refill_wait(struct hw_task *task)
{
	return waits(task, lines_of(task, task->work)) / PARTS;
}

/* Waits for the lines that it has come to: what is left of the time. */
static simtime wait_for_lines(struct cpu *c, simtime time)
{
	struct hw_task *task = c->task;
	simtime wait = least(task->owed, time), counted = wait + c->waited_rest;

	task->owed -= wait;
	c->waited_rest = counted % PARTS;
	hw_counts.refill_ns += counted / PARTS;
	spent_on_lines(c, counted / PARTS);
	return time - wait;
}

/* How many lines it comes to in that time, if the next one takes `first` and others `line`. */
static unsigned long lines_in(simtime time, simtime first, simtime line, unsigned long most)
{
	return time < first ? 0 : least(1 + (time - first) / line, most);
}

/* In `ns` of user mode: work and waits for lines by turns, then work alone. */
simtime refill_work_in(struct cpu *c, simtime ns)
{
	struct hw_task *task = c->task;
	simtime time = wait_for_lines(c, ns * PARTS), work = 0, first, each, rest;
	struct kind next;
	unsigned long n;

	while ((next = next_kind(task)).lines && task->owed < PARTS) {
		each = parts_at_pace(c, hw_costs.touch);
		first = parts_at_pace(c, hw_costs.touch - task->since_line);
		n = lines_in(time, first, each + next.wait, next.lines);
		if (!n)
			break;
		work += n * hw_costs.touch - task->since_line;
		task->since_line = 0;
		task->owed += n * next.wait;
		reach(c, &next, n);
		time = wait_for_lines(c, time - first - (n - 1) * each);
	}
	rest = work_at_pace(c, time);
	task->since_line = (task->since_line + rest) % hw_costs.touch;
	return work + rest;
}

/* All the work ahead is done. */
void refill_work_done(struct cpu *c)
{
	struct hw_task *task = c->task;
	unsigned long lines = lines_of(task, task->work), n;
	struct kind next;

	task->owed = waits(task, lines);
	task->since_line = (task->since_line + task->work) % hw_costs.touch;
	while (lines && (next = next_kind(task)).lines) {
		n = least(next.lines, lines);
		reach(c, &next, n);
		lines -= n;
	}
	wait_for_lines(c, task->owed - task->owed % PARTS);
}
