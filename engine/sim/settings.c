// SPDX-License-Identifier: GPL-2.0-only
/* The scenario's settings: written through the kernel's own files and read back from them. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include "json.h"
#include "scenario.h"

#define FEATURES "/sys/kernel/debug/sched/features"

static json_t *found;			/* path -> text as read after all were written */

/* A file's text, single blanks between its words. */
static const char *read_text(const char *path)
{
	static char text[4096];
	long len = kern_read_file(path, text, sizeof(text));
	char *to = text;

	if (len < 0)
		usage_error("%s: cannot be read back: %s", path, strerror(-len));
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

/* Of a list of words like "none (voluntary) full" the chosen one. */
static void chosen_word(const char *text, char *word, size_t size)
{
	const char *open = strpbrk(text, "[("), *close = open ? strpbrk(open, "])") : NULL;

	if (close)
		snprintf(word, size, "%.*s", (int)(close - open - 1), open + 1);
	else
		snprintf(word, size, "%s", text);
}

static int same(const char *wanted, const char *text)
{
	char *end_wanted, *end_read, word[128];
	long long a, b;

	chosen_word(text, word, sizeof(word));
	/* a flag reads as a letter */
	if (!strcmp(word, "Y") || !strcmp(word, "N"))
		snprintf(word, sizeof(word), "%d", word[0] == 'Y');
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

void setting_write(const char *path, const char *value)
{
	int err = kern_write_file(path, value);

	if (err < 0)
		usage_error("writing %s: %s", path, strerror(-err));
}

void setting_check(const char *path, const char *value)
{
	const char *text = read_text(path);

	/* features reads as the list of all of them */
	if (!(strcmp(path, FEATURES) ? same(value, text) : has_word(text, value)))
		usage_error("%s: wrote %s, read back %s", path, value, text);
}

static void feature_word(const char *name, json_t *v, char *word, size_t size)
{
	if (!json_is_boolean(v))
		usage_error("features.%s: true or false is expected", name);
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
	char known[SIM_MAX_IDLE_STATES * (sizeof(sim_idle_states->name) + 2)] = "none";

	for (int i = 0, at = 0; i < sim_nr_idle_states; i++) {
		if (strlen(sim_idle_states[i].name) == len && !strncmp(sim_idle_states[i].name, name, len))
			return i;
		at += sprintf(known + at, "%s%s", i ? ", " : "", sim_idle_states[i].name);
	}
	usage_error("cpuidle.%s: no such idle state; this machine has: %s", key, known);
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
		usage_error("cpuidle.%s: true or false is expected", key);
	set.state = idle_state(key, cpus ? (size_t)(cpus - key) : strlen(key), key);
	if (cpus) {
		json_t *list = json_string(cpus + 1);

		json_cpu_list(list, AT(AT(NULL, "cpuidle"), key), sim_nr_cpus - 1, of_cpu, &set);
		json_decref(list);
	} else {
		for (int cpu = 0; cpu < sim_nr_cpus; cpu++)
			of_cpu(cpu, &set);
	}
}

/* ------------------------------------------------------------------ all of them */

/* All are written before any is read: one may change another. */
void settings_apply(void)
{
	const char *key, *text;
	char word[64];
	json_t *v;

	/* Counting costs no simulated time, and results want the balance counters. */
	setting_write("/proc/sys/kernel/sched_schedstats", "1");
	json_object_foreach(scenario.features, key, v) {
		feature_word(key, v, word, sizeof(word));
		if (kern_write_file(FEATURES, word) < 0)
			usage_error("features.%s: this kernel has no such scheduler feature", key);
	}
	json_object_foreach(scenario.knobs, key, v) {
		if (!json_is_string(v))
			usage_error("knobs.%s: a text is expected", key);
		setting_write(key, json_string_value(v));
	}
	json_object_foreach(scenario.cpuidle, key, v)
		of_cpus(key, v, setting_write);

	found = json_object();
	text = read_text(FEATURES);
	json_object_set_new(found, FEATURES, json_string(text));
	json_object_foreach(scenario.features, key, v) {
		feature_word(key, v, word, sizeof(word));
		if (!has_word(text, word))
			usage_error("features.%s: wrote %s, read back %s", key, word, text);
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
}

json_t *settings_json(void)
{
	return json_incref(found);
}
