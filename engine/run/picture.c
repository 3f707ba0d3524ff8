// SPDX-License-Identifier: GPL-2.0-only
/* The picture of the run as JSON: a row of a CPU is one text, a number of ns for each bin. */
#include <stdlib.h>
#include <string.h>
#include "run.h"

#define NUMBER	24			/* characters, with its blank */

/* A row of zeros is left out. */
static void set_row(json_t *obj, const char *key, int cpu, enum hw_picture_kind kind, int bins)
{
	char text[bins * NUMBER + 1];
	simtime sum = 0;
	int len = 0;

	for (int bin = 0; bin < bins; bin++) {
		simtime ns = hw_picture_ns(cpu, bin, kind);

		sum += ns;
		len += sprintf(text + len, "%s%llu", bin ? " " : "", ns);
	}
	if (sum)
		json_object_set_new(obj, key, json_string(text));
}

static json_t *cpu_json(int cpu, const struct hw_picture *picture)
{
	const struct hw_cpu_topo *topo = &hw_cpu_topo[cpu];
	json_t *busy = json_object(),
	       *obj = json_pack("{s:i, s:i, s:i, s:i}", "cpu", cpu, "core", topo->core, "llc", topo->llc,
				"node", topo->node);

	set_row(obj, "waiting", cpu, HW_PICTURE_WAITING, picture->bins);
	set_row(obj, "idle", cpu, HW_PICTURE_IDLE, picture->bins);
	set_row(obj, "offline", cpu, HW_PICTURE_OFFLINE, picture->bins);
	for (int group = 0; group < picture->nr_groups; group++)
		set_row(busy, hw_picture_name(group), cpu, HW_PICTURE_BUSY + group, picture->bins);
	json_object_set_new(obj, "busy", busy);
	return obj;
}

static json_t *migrations_json(void)
{
	json_t *list = json_array();

	for (int from = 0; from < hw_nr_llcs; from++)
		for (int to = 0; to < hw_nr_llcs; to++)
			if (hw_picture_moved(from, to))
				json_array_append_new(list, json_pack("[i,i,I]", from, to,
								      (json_int_t)hw_picture_moved(from, to)));
	return list;
}

json_t *picture_json(void)
{
	struct hw_picture picture = hw_picture();
	json_t *cpus;

	if (!picture.taken)
		return NULL;
	for_each_task(t)
		if (kern_waits_for(&t->kern) >= 0)
			hw_picture_waits(&t->hw, kern_waits_for(&t->kern));
	picture = hw_picture();
	cpus = json_array();
	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		json_array_append_new(cpus, cpu_json(cpu, &picture));
	return json_pack("{s:I, s:i, s:o, s:o}", "bin_ns", (json_int_t)picture.bin_ns, "bins", picture.bins,
			 "cpus", cpus, "migrations", migrations_json());
}
