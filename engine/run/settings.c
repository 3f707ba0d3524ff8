// SPDX-License-Identifier: GPL-2.0-only
/* The scenario's settings: written through the kernel's own files and read back from them. */
#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "scenario.h"

#define FEATURES "/sys/kernel/debug/sched/features"

static json_t *found;			/* path -> text as read after all were written */

/* Single blanks between its words. */
static const char *words_of(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++)
		if (!isspace((unsigned char)*from))
			*to++ = *from;
		else if (to > text && to[-1] != ' ')
			*to++ = ' ';
	if (to > text && to[-1] == ' ')
		to--;
	*to = 0;
	return text;
}

static const char *read_text(const char *path)
{
	static char text[4096];
	long len = kern_read_file(path, text, sizeof(text));

	if (len < 0)
		hw_refuse("%s: cannot be read back: %s", path, refusal(path, len));
	return words_of(text);
}

/* Of a list of words like "none (voluntary) full" the chosen one. */
static void chosen_word(const char *text, char *word, size_t size)
{
	const char *open = strpbrk(text, "[("), *close = open ? strpbrk(open, "])") : NULL;

	if (close)
		snprintf(word, size, "%.*s", (int)(close - open - 1), open + 1);
	else
		snprintf(word, size, "%s", text);
}

/* What kstrtobool() makes of a word: 1, 0, or -1 of one that it refuses. */
static int flag_of(const char *word)
{
	if (!word[0])
		return -1;
	if (strchr("yYtT1", word[0]) || !strncasecmp(word, "on", 2))
		return 1;
	return strchr("nNfF0", word[0]) || !strncasecmp(word, "of", 2) ? 0 : -1;
}

static int same(const char *wanted, const char *text)
{
	char *end_wanted, *end_read, word[128];
	long long a, b;

	chosen_word(text, word, sizeof(word));
	/* a flag reads as a letter or a digit, and is written as either or in words */
	if (!strcmp(word, "Y") || !strcmp(word, "N") || (!isdigit((unsigned char)*wanted) &&
							 (!strcmp(word, "0") || !strcmp(word, "1"))))
		return flag_of(wanted) == flag_of(word);
	a = strtoll(wanted, &end_wanted, 0);
	b = strtoll(word, &end_read, 0);
	if (end_wanted > wanted && !*end_wanted && end_read > word && !*end_read)
		return a == b;
	return !strcmp(wanted, word);
}

static int has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && (!at[len] || at[len] == ' '))
			return 1;
	return 0;
}

static int write_file(const char *path, const char *value)
{
	return would_divide_by_zero(path, value) ? -EINVAL : kern_write_file(path, value);
}

static void check_written(const char *path, const char *value, int err)
{
	if (err < 0)
		hw_refuse("writing %s to %s: %s", value, path, refusal(path, err));
}

void setting_write(const char *path, const char *value)
{
	check_written(path, value, write_file(path, value));
}

/*
 * The kernel may accept a setting only after another, as a lower maximum after a lower minimum:
 * settings that it refuses as invalid are written again after the rest, until none is accepted.
 */
static void write_knobs(json_t *knobs)
{
	json_t *refused = json_object(), *v;
	const char *key;

	json_object_foreach(knobs, key, v) {
		int err;

		if (!json_is_string(v))
			hw_refuse("knobs.%s: a text is expected", key);
		err = write_file(key, json_string_value(v));
		if (err == -EINVAL || err == -ENOENT)
			json_object_set(refused, key, v);
		else
			check_written(key, json_string_value(v), err);
	}
	if (json_object_size(refused) == json_object_size(knobs))
		json_object_foreach(refused, key, v)
			setting_write(key, json_string_value(v));
	else
		write_knobs(refused);
	json_decref(refused);
}

void setting_check(const char *path, const char *value)
{
	const char *text = read_text(path);

	/* features reads as the list of all of them */
	if (!(strcmp(path, FEATURES) ? same(value, text) : has_word(text, value)))
		hw_refuse("%s: wrote %s, read back %s%s", path, value, text, takes(path));
}

/* The words written, in the kernel's form: `20` reads as 20.00, a quota with its period. */
static int same_words(const char *wanted, const char *text)
{
	char *end_wanted, *end_read;

	while (*wanted) {
		double a = strtod(wanted, &end_wanted), b = strtod(text, &end_read);

		if (end_wanted == wanted || end_read == text) {
			end_wanted = (char *)wanted + strcspn(wanted, " ");
			end_read = (char *)text + strcspn(text, " ");
			if (end_wanted - wanted != end_read - text ||
			    strncmp(wanted, text, end_wanted - wanted))
				return 0;
		} else if (a - b >= 0.01 || b - a >= 0.01) {
			return 0;
		}
		wanted = end_wanted + strspn(end_wanted, " ");
		text = end_read + strspn(end_read, " ");
	}
	return 1;
}

void group_write(const char *group, const char *file, const char *value)
{
	int err = kern_cgroup_write(group, file, value);

	if (err < 0)
		hw_refuse("group %s: writing %s to %s: %s", group, value, file, refusal(file, err));
}

static const char *group_text(const char *group, const char *file)
{
	static char text[4096];			/* pid 1 has a stack of the kernel's size */
	long ret = kern_cgroup_read(group, file, text, sizeof(text));

	if (ret < 0)
		hw_refuse("group %s: %s cannot be read back: %s", group, file, refusal(file, ret));
	return words_of(text);
}

void group_check(const char *group, const char *file, const char *value)
{
	const char *text = group_text(group, file);
	static char list[4096], path[PATH_MAX + 100];

	if (strncmp(file, "cpuset.", 7) ? !same_words(value, text) :
	    strcmp(text, kern_cpu_list(value, list, sizeof(list)) < 0 ? value : list))
		hw_refuse("group %s: %s: wrote %s, read back %s%s", group, file, value, text, takes(file));
	snprintf(path, sizeof(path), CGROUPS "%s/%s", group, file);
	json_object_set_new(found, path, json_string(text));
}

/* Another group, or a CPU that goes, may take a partition's CPUs long after it was made. */
void partitions_check(void)
{
	const char *path;
	json_t *v;

	json_object_foreach(found, path, v) {
		const char *file = strrchr(path, '/') + 1, *text;
		char group[PATH_MAX];

		if (strncmp(path, CGROUPS "/", strlen(CGROUPS "/")) || strcmp(file, "cpuset.cpus.partition"))
			continue;
		snprintf(group, sizeof(group), "%.*s", (int)(file - 1 - path - strlen(CGROUPS)), path + strlen(CGROUPS));
		text = group_text(group, file);
		if (strcmp(text, json_string_value(v)))
			hw_refuse("group %s: %s: %s when it was written, %s at the end of the run: some of it ran without "
				  "the partition%s", group, file, json_string_value(v), text, takes(file));
	}
}

static void feature_word(const char *name, json_t *v, char *word, size_t size)
{
	if (!json_is_boolean(v))
		hw_refuse("features.%s: true or false is expected", name);
	snprintf(word, size, "%s%s", json_is_true(v) ? "" : "NO_", name);
}

/* ------------------------------------------------------------------ idle states, by name */

struct idle_setting {
	int state;
	const char *disable;		/* "1" or "0" */
	void (*act)(const char *path, const char *value);
};

static int idle_state(const char *name, size_t len, const char *key)
{
	char known[HW_MAX_IDLE_STATES * (sizeof(hw_idle_states->name) + 2)] = "none";

	for (int i = 0, at = 0; i < hw_nr_idle_states; i++) {
		if (strlen(hw_idle_states[i].name) == len && !strncmp(hw_idle_states[i].name, name, len))
			return i;
		at += sprintf(known + at, "%s%s", i ? ", " : "", hw_idle_states[i].name);
	}
	hw_refuse("cpuidle.%s: no such idle state; this machine has: %s", key, known);
}

static void of_cpu(int cpu, void *arg)
{
	const struct idle_setting *set = arg;
	char path[100];

	snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpuidle/state%d/disable", cpu,
		 set->state);
	set->act(path, set->disable);
}

/* `key` is a state's name and perhaps its CPUs: "C6 0-3". */
static void of_cpus(const char *key, json_t *enabled, void (*act)(const char *, const char *))
{
	const char *cpus = strchr(key, ' ');
	struct idle_setting set = { .disable = json_is_true(enabled) ? "0" : "1", .act = act };

	if (!json_is_boolean(enabled))
		hw_refuse("cpuidle.%s: true or false is expected", key);
	set.state = idle_state(key, cpus ? (size_t)(cpus - key) : strlen(key), key);
	if (cpus) {
		json_t *list = json_string(cpus + 1);

		json_cpu_list(list, AT(AT(NULL, "cpuidle"), key), hw_nr_cpus - 1, of_cpu, &set);
		json_decref(list);
	} else {
		for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
			of_cpu(cpu, &set);
	}
}

/* ------------------------------------------------------------ the cpufreq governor, of all CPUs */

static void of_governor(const char *governor, void (*act)(const char *, const char *))
{
	char path[100];

	for (int cpu = 0; cpu < hw_nr_cpus; cpu++)
		if (hw_cpu_topo[cpu].domain >= 0) {
			snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%d/cpufreq/scaling_governor", cpu);
			act(path, governor);
		}
}

static void read_cpufreq(const char **governor)
{
	json_only(scenario.cpufreq, AT(NULL, "cpufreq"), "governor", NULL);
	*governor = json_get_text(scenario.cpufreq, AT(NULL, "cpufreq"), "governor", NULL);
	if (*governor && !hw_nr_freq_domains)
		hw_refuse("cpufreq.governor: this machine has no operating points to choose from; its file "
			    "gives them as [[cpu]] opp (docs/manual/machines.md)");
}

/* ------------------------------------------------------------------ all of them */

/*
 * CPUs are idle now, and 6.12 stops the server of an idle CPU with each write: it warns at the
 * second.
 */
static void check_fair_servers(void)
{
	const char *key;
	char period[200];
	json_t *v;

	json_object_foreach(scenario.knobs, key, v) {
		if (fnmatch("/sys/kernel/debug/sched/fair_server/*/runtime", key, 0))
			continue;
		snprintf(period, sizeof(period), "%.*s/period", (int)(strrchr(key, '/') - key), key);
		if (json_object_get(scenario.knobs, period))
			json_error_at(AT(AT(NULL, "knobs"), period), "runtime is set for this CPU as well: the kernel "
				      "takes one of them while the CPU is idle and warns at the other one");
	}
}

/* All are written before any is read: one may change another. */
void settings_apply(void)
{
	const char *key, *text, *governor = NULL;
	char word[64];
	json_t *v;

	/*
	 * SCHED_FEAT has them on by default where the timer is armed last: one build is for all
	 * architectures.
	 */
	if (kern_defers_rearming() && !hw_defers_rearming) {
		setting_write(FEATURES, "NO_HRTICK");
		setting_write(FEATURES, "NO_HRTICK_DL");
	}
	/* Counting costs no simulated time, and results want the balance counters. */
	setting_write("/proc/sys/kernel/sched_schedstats", "1");
	json_object_foreach(scenario.features, key, v) {
		feature_word(key, v, word, sizeof(word));
		if (kern_write_file(FEATURES, word) < 0)
			hw_refuse("features.%s: this kernel has no such scheduler feature", key);
	}
	if (scenario.cpufreq)
		read_cpufreq(&governor);
	if (governor)
		of_governor(governor, setting_write);
	check_fair_servers();
	write_knobs(scenario.knobs);
	json_object_foreach(scenario.cpuidle, key, v)
		of_cpus(key, v, setting_write);

	found = json_object();
	text = read_text(FEATURES);
	json_object_set_new(found, FEATURES, json_string(text));
	json_object_foreach(scenario.features, key, v) {
		feature_word(key, v, word, sizeof(word));
		if (!has_word(text, word))
			hw_refuse("features.%s: wrote %s, read back %s", key, word, text);
	}
	json_object_foreach(scenario.knobs, key, v) {
		setting_check(key, json_string_value(v));
		json_object_set_new(found, key, json_string(read_text(key)));
	}
	json_object_foreach(scenario.cpuidle, key, v) {
		char name[64];

		of_cpus(key, v, setting_check);
		snprintf(name, sizeof(name), "cpuidle %s", key);
		json_object_set_new(found, name, json_string(json_is_true(v) ? "0" : "1"));
	}
	if (scenario.isolcpus) {
		char isolated[4096];

		kern_isolated(isolated, sizeof(isolated));
		json_object_set_new(found, "isolcpus", json_string(isolated));
	}
	if (scenario.nohz_full) {
		char tickless[4096];

		kern_tickless(tickless, sizeof(tickless));
		json_object_set_new(found, "nohz_full", json_string(tickless));
	}
	if (scenario.sets_psi)
		json_object_set_new(found, "psi", json_string(kern_has_psi() ? "1" : "0"));
	if (scenario.workloads_group)
		json_object_set_new(found, "cgroup", json_string(scenario.workloads_group));
	if (scenario.workloads_policy)
		json_object_set_new(found, "policy", json_string(scenario.workloads_policy));
	if (scenario.workloads_cookie)
		json_object_set_new(found, "core scheduling", json_string(scenario.workloads_cookie->name));
	if (governor) {
		of_governor(governor, setting_check);
		json_object_set_new(found, "cpufreq governor", json_string(governor));
	}
	if (scenario.scheduler)
		sched_ext_load(found);
}

json_t *settings_json(void)
{
	return json_incref(found);
}
