// SPDX-License-Identifier: GPL-2.0-only
/*
 * make and g++: make keeps so many jobs under way; a job is g++, which starts the compiler, waits for
 * it, starts the assembler and waits for that.
 */
#include "workload.h"

/* The files of benchmark BuildGoogleTest, in its order: what their compiler takes. */
static const enum wl_figure compile[] = {
	WL_build_gtest_1000, WL_build_gmock_spec_builders_1000, WL_build_gtest_printers_1000, WL_build_gmock_matchers_1000,
	WL_build_gtest_port_1000, WL_build_gmock_internal_utils_1000, WL_build_gtest_death_test_1000, WL_build_gmock_1000,
	WL_build_gtest_filepath_1000, WL_build_gmock_cardinalities_1000,
};

#define NR_FILES	(sizeof(compile) / sizeof(compile[0]))

static void cc1plus(void *arg)
{
	const enum wl_figure *work = arg;

	wl_footprint(wl_figure(WL_build_footprint_kib) << 10);
	wl_cycles(wl_figure(*work) * 1000);
}

static void assembler(void *arg)
{
	(void)arg;
	wl_work(WL_build_assemble);
}

static void start_cc1plus(void *arg)
{
	wl_exec(cc1plus, arg);
}

static void start_assembler(void *arg)
{
	wl_exec(assembler, arg);
}

static void driver(void *arg)
{
	wl_work(WL_build_driver);
	wl_join(wl_fork("cc1plus", start_cc1plus, arg));
	wl_join(wl_fork("as", start_assembler, arg));
}

static void start_driver(void *arg)
{
	wl_exec(driver, arg);
}

static void build(void)
{
	int units = wl_option("units"), jobs = wl_option("jobs"), running = 0;

	wl_begin();
	for (int i = 0; i < units; i++) {
		if (running == jobs) {
			wl_wait();
			running--;
		}
		wl_work(WL_build_make);
		wl_fork("g++", start_driver, (void *)&compile[i % NR_FILES]);
		running++;
	}
	while (wl_wait())
		;
	wl_end();
	wl_result("time", wl_elapsed(), "s");
}

static const struct wl_option options[] = {
	{ "units", 'u', WL_COUNT, 10, 1, 1000000, NULL, "files to compile" },
	{ "jobs", 'j', WL_COUNT, 1, 1, 4096, NULL, "at a time" },
	{ }
};

WORKLOAD(build) = {
	.name = "build",
	.summary = "a parallel build: make, compiler drivers, compilers and assemblers",
	.original = "GNU Make 4.3 and g++ 12 on the sources of GoogleTest 1.12",
	.options = options,
	.main = build,
};
