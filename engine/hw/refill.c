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

static unsigned int l1_lines, l2_lines;

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

static unsigned int least(unsigned int a, unsigned int b)
{
	return a < b ? a : b;
}

/* Of `lines` of a task that has `all` in a cache, those that have gone since `others` came in. */
static unsigned int lost(unsigned int lines, unsigned int others, unsigned int all,
			 unsigned int size)
{
	return others < size - all ? (unsigned long)lines * others / (size - all) : lines;
}

static void pay(simtime lines_ns)
{
	simtime ns = lines_ns * hw_costs.refill_overlap / 100;

	if (!ns)
		return;
	hw_counts.refill_ns += ns;
	hw_stall(ns);
	hw_spent(HW_TIME_REFILL, hw.clk - ns * hw.live);
}

/* Lines come into both caches: those of the second one are not in the first either. */
static simtime come_in(struct hw_core_caches *c, unsigned int l1, unsigned int l2, unsigned int far)
{
	c->l1 += l1;
	c->l2 += l2;
	return (simtime)l2 * far + (simtime)(l1 > l2 ? l1 - l2 : 0) * hw_costs.line_l2;
}

/* The kernel's lines of a task, and of its footprint what a cache of this size holds beside them. */
static unsigned int kernels(unsigned int size)
{
	return least(hw_costs.task_lines, size);
}

static unsigned int footprint(const struct hw_task *task, unsigned int size)
{
	return least(task->footprint_kb * (1024 / LINE), size - kernels(size));
}

/* The task lost some to others: how many of the kernel's, which it needs at once. */
static unsigned int lose(unsigned int *cold, unsigned int others, unsigned int own,
			 unsigned int size)
{
	unsigned int all = own + kernels(size);

	*cold += lost(own - least(*cold, own), others, all, size);
	return lost(kernels(size), others, all, size);
}

/* Back on the core where it was: what it lost to others. */
static void behind_others(struct hw_task *task, struct hw_core_caches *c)
{
	unsigned int l1 = c->l1 - task->left.l1, l2 = c->l2 - task->left.l2;

	if (l2)
		task->cold_from = hw_costs.line_hit;
	l1 = l1 ? lose(&task->cold.l1, l1, footprint(task, l1_lines), l1_lines) : 0;
	l2 = l2 ? lose(&task->cold.l2, l2, footprint(task, l2_lines), l2_lines) : 0;
	pay(come_in(c, l1, l2, hw_costs.line_hit));
}

/* On another core all of it comes from where it was, as far as caches held it there. */
static void after_move(struct hw_task *task, struct hw_core_caches *c, enum hw_distance d)
{
	task->cold.l1 = footprint(task, l1_lines);
	task->cold.l2 = footprint(task, d <= HW_LLC ? l2_lines : hw_llc_bytes / LINE);
	task->cold_from = hw_costs.line[d];
	pay(come_in(c, kernels(l1_lines), hw_costs.task_lines, hw_costs.line[d]));
}

/* `from`: the CPU whose caches were warm; -1: a new image is warm nowhere, and pays in its start. */
void hw_refill_caches(struct hw_task *task, int from)
{
	struct hw_core_caches *here = &hw_core_caches[hw_cpu_topo[hw.cpu].core];

	if (!hw_mechanisms.refill)
		return;
	if (from < 0) {
		task->cold = (struct hw_core_caches) { };
		come_in(here, kernels(l1_lines) + footprint(task, l1_lines),
			kernels(l2_lines) + footprint(task, l2_lines), 0);
	} else if (hw_cpu_distance[from][hw.cpu] <= HW_CORE) {
		behind_others(task, here);
	} else {
		after_move(task, here, hw_cpu_distance[from][hw.cpu]);
	}
}

/* What the work ahead goes over of what is not here. */
void hw_touch_footprint(struct hw_task *task)
{
	struct hw_core_caches *here = &hw_core_caches[hw_cpu_topo[hw.cpu].core];
	simtime touched = task->work / hw_costs.touch;
	unsigned int l1 = touched < task->cold.l1 ? touched : task->cold.l1;
	unsigned int l2 = touched < task->cold.l2 ? touched : task->cold.l2;

	task->cold.l1 -= l1;
	task->cold.l2 -= l2;
	pay(come_in(here, l1, l2, task->cold_from));
}
