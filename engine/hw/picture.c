// SPDX-License-Identifier: GPL-2.0-only
/*
 * The picture of a run: what each CPU did in each of at most BINS equal parts of the window.
 * When the run goes on beyond them, they are merged in pairs, so that memory does not grow.
 */
#include <string.h>
#include "inside.h"

#define BINS	128
#define FIRST_SHIFT 10			/* bins are powers of two, 1,024 ns at first */

static simtime (*spent)[HW_PICTURE_KINDS];	/* [bin * hw_nr_cpus + cpu] */
static unsigned long *moved;		/* tasks, [from LLC * hw_nr_llcs + to LLC] */
static char groups[HW_PICTURE_GROUPS][HW_COMM_LEN] = { "kernel", "others" };
static int nr_groups = 2;
static int asked;
static unsigned int shift;
static simtime begun, reached;

int picture_on;

void hw_ask_picture(void)
{
	asked = 1;
}

int hw_picture_group(const char *name)
{
	int group = 2;

	while (group < nr_groups && strncmp(groups[group], name, HW_COMM_LEN - 1))
		group++;
	if (group == HW_PICTURE_GROUPS)
		return 1;
	if (group == nr_groups)
		strncpy(groups[nr_groups++], name, HW_COMM_LEN - 1);
	return group;
}

void picture_begin(void)
{
	if (!asked)
		return;
	spent = hw_zalloc((unsigned long)BINS * hw_nr_cpus * sizeof(*spent), 64);
	moved = hw_zalloc((unsigned long)hw_nr_llcs * hw_nr_llcs * sizeof(*moved), 64);
	shift = FIRST_SHIFT;
	begun = reached = hw.clk;
	picture_on = 1;
}

static void merge_bins(void)
{
	unsigned long row = hw_nr_cpus * sizeof(*spent);

	for (int bin = 0; bin < BINS / 2; bin++)
		for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
			for (int kind = 0; kind < HW_PICTURE_KINDS; kind++)
				spent[bin * hw_nr_cpus + cpu][kind] =
					spent[2 * bin * hw_nr_cpus + cpu][kind] +
					spent[(2 * bin + 1) * hw_nr_cpus + cpu][kind];
	memset(spent + BINS / 2 * hw_nr_cpus, 0, BINS / 2 * row);
	shift++;
}

void picture_add(int cpu, int kind, simtime from, simtime to)
{
	if (from < begun)
		from = begun;
	if (to <= from)
		return;
	if (to > reached)
		reached = to;
	while ((to - 1 - begun) >> shift >= BINS)
		merge_bins();
	while (from < to) {
		simtime bin = (from - begun) >> shift, end = begun + ((bin + 1) << shift);
		simtime until = end < to ? end : to;

		spent[bin * hw_nr_cpus + cpu][kind] += until - from;
		from = until;
	}
}

void picture_moved(int from, int to)
{
	moved[hw_cpu_topo[from].llc * hw_nr_llcs + hw_cpu_topo[to].llc]++;
}

void hw_picture_waits(const struct hw_task *task, int cpu)
{
	picture_add(cpu, HW_PICTURE_WAITING, task->queued_at, hw.clk);
}

struct hw_picture hw_picture(void)
{
	return (struct hw_picture) {
		.taken = picture_on,
		.bins = reached > begun ? ((reached - 1 - begun) >> shift) + 1 : 0,
		.bin_ns = 1ULL << shift,
		.nr_groups = nr_groups,
	};
}

const char *hw_picture_name(int group)
{
	return groups[group];
}

simtime hw_picture_ns(int cpu, int bin, int kind)
{
	return spent[bin * hw_nr_cpus + cpu][kind];
}

unsigned long hw_picture_moved(int from_llc, int to_llc)
{
	return moved[from_llc * hw_nr_llcs + to_llc];
}
