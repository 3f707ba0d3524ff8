// SPDX-License-Identifier: GPL-2.0-only
/* What the programs of workloads take, as figures.toml says. */
#include "../workload.h"

unsigned long long wl_figure(enum wl_figure figure)
{
	static const unsigned long long figures[WL_NR_FIGURES] = {
#define VALUE(workload, figure, value)	[WL_##workload##_##figure] = value,
		WL_FIGURES(VALUE)
#undef VALUE
	};

	return figures[figure];
}
