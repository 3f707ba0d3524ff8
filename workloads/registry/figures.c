// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the programs of workloads take: figures.toml, and simulated what the machine's file has
 * instead.
 */
#include <string.h>
#include "registry.h"
#ifdef SIMULATED
#include "json.h"
#endif

static unsigned long long figures[WL_NR_FIGURES] = {
#define VALUE(workload, figure, value)	[WL_##workload##_##figure] = value,
	WL_FIGURES(VALUE)
#undef VALUE
};

unsigned long long wl_figure(enum wl_figure figure)
{
	return figures[figure];
}

#ifdef SIMULATED

static const struct {
	const char *workload, *figure;
} names[WL_NR_FIGURES] = {
#define NAME(workload, figure, value)	[WL_##workload##_##figure] = { #workload, #figure },
	WL_FIGURES(NAME)
#undef NAME
};

/* A workload's hyphens are underscores in C. */
static int same(const char *workload, const char *in_c)
{
	while (*workload && (*workload == '-' ? '_' : *workload) == *in_c) {
		workload++;
		in_c++;
	}
	return *workload == *in_c;
}

static int find(const char *workload, const char *figure)
{
	int i = WL_NR_FIGURES - 1;

	while (i > WL_NOTHING && !(same(workload, names[i].workload) && !strcmp(figure, names[i].figure)))
		i--;
	return i;
}

void figures_read(json_t *machine)
{
	json_t *work = json_object_get(machine, "work"), *of, *v;
	const struct path *top = AT(NULL, "work");
	const char *workload, *figure;

	if (!work)
		return;
	if (!json_is_object(work))
		json_error_at(top, "a table for each workload is expected");
	json_object_foreach(work, workload, of) {
		const struct path *at = AT(top, workload);

		if (!json_is_object(of))
			json_error_at(at, "a table of figures is expected");
		json_object_foreach(of, figure, v) {
			int i = find(workload, figure);

			if (i == WL_NOTHING)
				json_error_at(AT(at, figure), "unknown key");
			figures[i] = json_is_string(v) ? json_time_up_to(v, AT(at, figure), WL_SEC) :
				     (unsigned long long)json_int(v, AT(at, figure), 1, 1000000000);
		}
	}
}
#endif
