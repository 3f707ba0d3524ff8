// SPDX-License-Identifier: GPL-2.0-only
/* What memory the nodes have, in base pages; a machine that states none has enough. */
#include <linux/nodemask.h>
#include <linux/topology.h>
#include "shim.h"
#include "space.h"

static unsigned long used[MAX_NUMNODES];

static bool has(int node, unsigned long pages)
{
	return used[node] + pages <= hw_node_pages[node];
}

/* Above the high watermark, two steps of vm.watermark_scale_factor (0.1 %) above the minimum. */
bool shim_node_has_room(int node, unsigned long pages)
{
	return has(node, pages + hw_node_pages[node] / 1000 * 2);
}

/* Takes pages of a node; where it has none left, of the nearest that has, unless this one only. */
int shim_node_take(int node, unsigned long pages, bool only)
{
	int other, best = -1;

	if (has(node, pages))
		best = node;
	else if (!only)
		for_each_node_state(other, N_MEMORY)
			if (has(other, pages) && (best < 0 || node_distance(node, other) <
							       node_distance(node, best)))
				best = other;
	if (best < 0)
		shim_handlers->no_memory(only ? node : -1);
	used[best] += pages;
	return best;
}

void shim_node_return(int node, unsigned long pages)
{
	used[node] -= pages;
}
