// SPDX-License-Identifier: GPL-2.0-only
/* perf bench mem memset: one task sets its memory, over and over; every page is there before. */
#include "workload.h"

static void mem_memset(void)
{
	unsigned long size = wl_option("size");
	int loops = wl_option("nr_loops");
	struct wl_region *region = wl_region(size);

	wl_touch(region, 0, size, WL_WRITE);
	wl_begin();
	for (int i = 0; i < loops; i++)
		wl_touch(region, 0, size, WL_WRITE);
	wl_end();
	wl_result("bandwidth", (double)size * loops / wl_elapsed() / 1e9, "GB/s");
}

static const struct wl_option options[] = {
	{ "size", 's', WL_SIZE, 1 << 20, 4096, 1LL << 40, NULL, "bytes that are set" },
	{ "nr_loops", 'l', WL_COUNT, 1, 1, 1 << 30, NULL, "how often" },
	{ }
};

WORKLOAD(mem_memset) = {
	.name = "mem-memset",
	.summary = "one task sets much memory",
	.original = "perf bench mem memset, Linux 6.1",
	.options = options,
	.main = mem_memset,
	.working_set = { .process = 4 },
};
