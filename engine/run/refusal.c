// SPDX-License-Identifier: GPL-2.0-only
/*
 * Why the kernel refuses a setting, and what to write instead: its error numbers alone say neither.
 */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>
#include "scenario.h"

#define SYSCTL	"/proc/sys/kernel/"
#define CPUS	"/sys/devices/system/cpu/"
#define DEBUG	"/sys/kernel/debug/sched/"
#define DYNAMIC	"PREEMPT_DYNAMIC (`kernel build --config debian` has it: none, voluntary or full, in 7.x full or lazy)"
#define WITHOUT(option)	"; this kernel is built without " option " (`schedlab kernel show NAME`: configuration)"

static const struct {
	const char *file, *advice;
} known[] = {
	{ SYSCTL "sched_energy_aware",
	  "0 or 1, and it needs CPUs of different capacity without SMT and schedutil as the cpufreq governor of all "
	  "(`governor schedutil` in a variant, governor = \"schedutil\" in the machine file)" },
	{ SYSCTL "sched_util_clamp_m*",
	  "0 to 1024, and sched_util_clamp_min not above sched_util_clamp_max; both are 1024 unless set, so a lower "
	  "maximum needs a lower minimum beside it" },
	{ SYSCTL "sched_rt_*_us",
	  "a period of 1 us or more and a runtime of at most the period, -1 for no limit, that leaves deadline tasks "
	  "what they have reserved" },
	{ SYSCTL "sched_rr_timeslice_ms", "milliseconds of whole ticks, 1 tick or more; 0 and less are the kernel's default" },
	{ SYSCTL "sched_deadline_period_*", "the minimum not above the maximum" },
	{ DEBUG "features", "NAME or NO_NAME of a feature this kernel has" },
	{ DEBUG "preempt", "a model that it lists, where the kernel is built with " DYNAMIC "; without, the preemption model "
	  "is chosen when the kernel is built" },
	{ DEBUG "tunable_scaling", "0 (none), 1 (logarithmic) or 2 (linear)" },
	{ DEBUG "verbose", "0 or 1" },
	{ DEBUG "cgroup_mode", "up, smp, concur, max or tasks" },
	{ DEBUG "llc_balancing/enabled", "0 or 1" },
	{ "/sys/kernel/debug/x86/sched_itmt_enabled", "0 or 1" },
	{ DEBUG "domains/*", "a whole number, and there are domains here while sched/verbose is 1 (6.12)" },
	{ DEBUG "fair_server/*",
	  "nanoseconds: a period of 100 us to 4.19 s, a runtime of at most the period, both within what "
	  "sched_rt_runtime_us leaves" },
	{ CPUS "cpuidle/current_governor", "one of those in available_governors beside it" },
	{ CPUS "cpu*/cpuidle/*", "0 or 1, for an idle state the machine file has (idle.state)" },
	{ CPUS "cpu*/cpufreq/*",
	  "performance or schedutil, on a machine whose file has operating points (opp) for the CPU" },
	{ CPUS "cpufreq/*", "microseconds, while schedutil is the governor" },
	{ "cpuset.cpus", "a list of CPUs like 0-3,8 that the machine has, and no other group's of a partition" },
	{ "cpuset.cpus.exclusive", "a list of CPUs like 0-3,8, among the parent's exclusive ones and no sibling's" },
	{ "cpuset.cpus.partition",
	  "member, root or isolated; a partition needs CPUs of its own (cpuset.cpus), which its parent, a partition too or "
	  "the root, can spare, and no sibling has" },
	{ "cpu.weight", "1 to 10000, and not while cpu.idle is 1" },
	{ "cpu.weight.nice", "-20 to 19, and not while cpu.idle is 1" },
	{ "cpu.max", "QUOTA [PERIOD] in microseconds: a quota of 1000 or more or `max`, a period of 1000 to 1000000" },
	{ "cpu.max.burst", "microseconds, at most the quota of cpu.max" },
	{ "cpu.idle", "0 or 1" },
	{ "cpu.uclamp.*", "a percentage of 0 to 100 with at most two decimals, or `max`" },
};

#define PREFERS		"the machine prefers cores (`priority` in its file)"

/* What the tree, the build or the machine lacks where a file is missing. */
static const struct {
	const char *file, *why;
} absences[] = {
	{ SYSCTL "sched_util_clamp_m*", "it is built without UCLAMP_TASK" },
	{ SYSCTL "sched_autogroup_enabled", "it is built without SCHED_AUTOGROUP" },
	{ SYSCTL "sched_cfs_bandwidth_slice_us", "it is built without CFS_BANDWIDTH" },
	{ SYSCTL "sched_itmt_enabled",
	  "trees before 6.14 have it (later ones have sched x86/sched_itmt_enabled), where " PREFERS },
	{ "/sys/kernel/debug/x86/sched_itmt_enabled",
	  "trees from 6.14 on have it (earlier ones have sysctl kernel.sched_itmt_enabled), where " PREFERS },
	{ DEBUG "preempt", "the preemption model is chosen when the kernel is built, without " DYNAMIC },
	{ DEBUG "cgroup_mode", "trees have it from 7.3 on" },
	{ DEBUG "llc_balancing/*", "trees have cache-aware scheduling from 7.2 on, built with SCHED_CACHE" },
	{ DEBUG "fair_server/*", "trees have it from 6.12 on" },
	{ DEBUG "ext_server/*", "trees have it from 7.0 on, built for a sched_ext scheduler" },
	{ DEBUG "base_slice_ns", "trees have it from 6.6 on; earlier ones have min_granularity_ns" },
	{ DEBUG "min_granularity_ns", "trees before 6.6 have it; later ones have base_slice_ns" },
	{ DEBUG "domains/*", "domains are there while sched/verbose is 1, of the CPUs and levels that the machine has" },
	{ CPUS "cpuidle/*", "the machine file has no idle states (idle.state)" },
	{ CPUS "cpu*/cpuidle/*", "the machine file has no such idle state (idle.state)" },
	{ CPUS "cpu*/cpufreq/*", "the machine file has no operating points (opp) for the CPU" },
	{ CPUS "cpufreq/*", "schedutil is the governor of no CPU" },
};

/* Numbers the kernel would take and then divide by zero; scan_size_mb in pages has 32 bits. */
static const struct {
	const char *file;
	unsigned long max;
} divisors[] = {
	{ DEBUG "numa_balancing/scan_size_mb", (1UL << 24) - 1 },
	{ DEBUG "min_granularity_ns", ~0U },
};

static unsigned long divisor(const char *file)
{
	for (size_t i = 0; i < sizeof(divisors) / sizeof(divisors[0]); i++)
		if (!strcmp(divisors[i].file, file))
			return divisors[i].max;
	return 0;
}

int would_divide_by_zero(const char *file, const char *value)
{
	unsigned long max = divisor(file), number = strtoul(value, NULL, 0);

	return max && (!number || number > max);
}

/* What a file takes, as a sentence's end, or nothing; the text stays until the next call. */
const char *takes(const char *file)
{
	static char text[400];
	unsigned long long max;
	long long min;
	size_t i;

	text[0] = 0;
	if (divisor(file)) {
		snprintf(text, sizeof(text), "; it takes a whole number from 1 to %lu: the kernel divides by it",
			 divisor(file));
		return text;
	}
	for (i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (!fnmatch(known[i].file, file, 0)) {
			snprintf(text, sizeof(text), "; it takes %s", known[i].advice);
			return text;
		}
	if (!kern_file_range(file, &min, &max))
		snprintf(text, sizeof(text), "; it takes a whole number from %lld to %llu", min, max);
	return text;
}

/*
 * Why there is no such file; NULL if the reason is not known. What holds for a whole folder explains
 * no file of one that is there.
 */
static const char *absence(const char *file, int has_folder)
{
	for (size_t i = 0; i < sizeof(absences) / sizeof(absences[0]); i++) {
		const char *last = strrchr(absences[i].file, '/');

		if (!fnmatch(absences[i].file, file, 0) && !(has_folder && !strcmp(last, "/*")))
			return absences[i].why;
	}
	return NULL;
}

#define FEW	16	/* files of a folder, to be listed */

static struct {
	const char *folder;
	size_t length;
	int count;
	char names[400];
} within;

static void note_within(const char *path, int writable)
{
	size_t used = strlen(within.names);
	const char *name = path + within.length + 1;

	if (!writable || strncmp(path, within.folder, within.length) || path[within.length] != '/' ||
	    strchr(name, '/') || within.count++ >= FEW)
		return;
	snprintf(within.names + used, sizeof(within.names) - used, "%s%s", used ? ", " : "", name);
}

/* The files in a folder of so long a name, if they are few, or nothing. */
static const char *files_in(const char *folder, size_t length)
{
	within.folder = folder;
	within.length = length;
	within.count = 0;
	within.names[0] = 0;
	kern_list_files(note_within);
	return within.count && within.count <= FEW ? within.names : NULL;
}

#define NEAR	2	/* letters */

static struct {
	const char *file;
	char path[200];
	size_t off;
} nearest;

/* How many letters have to be changed, added or taken away to make one name of the other. */
static size_t distance(const char *one, const char *other)
{
	size_t row[200], columns = strlen(other);

	if (columns >= sizeof(row) / sizeof(row[0]))
		return columns;
	for (size_t j = 0; j <= columns; j++)
		row[j] = j;
	for (size_t i = 0; one[i]; i++) {
		size_t diagonal = row[0]++;

		for (size_t j = 0; j < columns; j++) {
			size_t least = diagonal + (one[i] != other[j]);

			diagonal = row[j + 1];
			if (least > diagonal + 1)
				least = diagonal + 1;
			if (least > row[j] + 1)
				least = row[j] + 1;
			row[j + 1] = least;
		}
	}
	return row[columns];
}

static void note_nearest(const char *path, int writable)
{
	size_t off = writable ? distance(nearest.file, path) : nearest.off;

	if (off < nearest.off && strlen(path) < sizeof(nearest.path)) {
		nearest.off = off;
		strcpy(nearest.path, path);
	}
}

/* The file whose name was misspelt so, or nothing. */
static const char *file_like(const char *file)
{
	nearest.file = file;
	nearest.off = NEAR + 1;
	kern_list_files(note_nearest);
	return nearest.off <= NEAR ? nearest.path : NULL;
}

/* Why there is no such file; what else there is. */
static const char *no_such_file(const char *file)
{
	static char text[500];
	const char *slash = strrchr(file, '/');
	const char *names = slash ? files_in(file, slash - file) : NULL, *like;

	if (absence(file, !!names))
		snprintf(text, sizeof(text), "this kernel does not have it: %s", absence(file, !!names));
	else if (names)
		snprintf(text, sizeof(text), "this kernel has no such file; those beside it are %s", names);
	else if ((like = file_like(file)))
		snprintf(text, sizeof(text), "this kernel has no such file; it has %s", like);
	else
		return NULL;
	return text;
}

/* What an error number and what a file takes say together; as above. */
const char *refusal(const char *file, int err)
{
	static char text[500];
	const char *advice = takes(file), *absent;

	if (err == -EACCES && files_in(file, strlen(file))) {
		snprintf(text, sizeof(text), "it is a folder; the files in it are %s", within.names);
		return text;
	}
	if (err == -EACCES)
		advice = "; the file is read-only";
	else if (err == -ENOENT && !strncmp(file, "cpu.max", strlen("cpu.max")))
		advice = WITHOUT("CFS_BANDWIDTH");
	else if (err == -ENOENT && !strncmp(file, "cpu.uclamp.", strlen("cpu.uclamp.")))
		advice = WITHOUT("UCLAMP_TASK_GROUP");
	else if (err == -ENOENT && (absent = no_such_file(file)))
		return absent;
	else if (err == -ENOENT && !advice[0])
		advice = "; this kernel has no such file, nor one of almost that name";
	snprintf(text, sizeof(text), "%s%s", strerror(-err), advice);
	return text;
}
