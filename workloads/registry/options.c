// SPDX-License-Identifier: GPL-2.0-only
/* Values of a workload's options, from a command line or a scenario. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "registry.h"

const struct workload *wl_find(const char *name)
{
	for_each_workload(w)
		if (!strcmp((*w)->name, name))
			return *w;
	return NULL;
}

int wl_option_index(const struct workload *workload, const char *name)
{
	for (int i = 0; workload->options[i].name; i++)
		if (!strcmp(workload->options[i].name, name))
			return i;
	return -1;
}

/* The n-th of "a|b|c" and its length, or NULL. */
static const char *word_at(const char *words, int n, size_t *len)
{
	for (;; words++, n--) {
		*len = strcspn(words, "|");
		if (!n)
			return words;
		words += *len;
		if (!*words)
			return NULL;
	}
}

static const char *word_copy(const char *words, int n)
{
	size_t len;
	const char *word = word_at(words, n, &len);

	return strndup(word, len);
}

void wl_values_init(struct wl_values *values, const struct workload *workload)
{
	values->workload = workload;
	for (int i = 0; workload->options[i].name; i++) {
		const struct wl_option *o = &workload->options[i];

		values->number[i] = o->standard;
		values->text[i] = o->kind == WL_WORD ? word_copy(o->words, o->standard) : "";
	}
}

struct unit {
	const char *name;
	double factor;
};

static const struct unit times[] = {
	{ "", 1e9 }, { "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { }
}, sizes[] = {
	{ "", 1 }, { "B", 1 }, { "K", 1024 }, { "KiB", 1024 }, { "M", 1 << 20 }, { "MiB", 1 << 20 },
	{ "G", 1 << 30 }, { "GiB", 1 << 30 }, { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }, { }
}, fractions[] = {
	{ "", 1e6 }, { }
}, plain[] = {
	{ "", 1 }, { }
};

static int parse_number(const char *text, const struct unit *units, double *value)
{
	char *end;
	double number = strtod(text, &end);

	if (end == text)
		return -1;
	while (*end == ' ')
		end++;
	for (; units->name; units++)
		if (!strcmp(end, units->name)) {
			*value = number * units->factor;
			return 0;
		}
	return -1;
}

static int parse_word(struct wl_values *values, int index, const char *text)
{
	const char *word;
	size_t len;

	for (int n = 0; (word = word_at(values->workload->options[index].words, n, &len)); n++)
		if (strlen(text) == len && !memcmp(text, word, len)) {
			values->number[index] = n;
			values->text[index] = word_copy(values->workload->options[index].words, n);
			return 0;
		}
	return -1;
}

int wl_value_parse(struct wl_values *values, int index, const char *text, char *why, unsigned long size)
{
	static const struct {
		const struct unit *units;
		const char *expected;
	} kinds[] = {
		[WL_COUNT] = { plain, "a whole number" },
		[WL_FLAG] = { plain, "1 or 0" },
		[WL_TIME] = { times, "a time such as 1.5us, 20ms or 2s" },
		[WL_SIZE] = { sizes, "an amount of memory such as 64KiB" },
		[WL_FRACTION] = { fractions, "a fraction such as 0.95" },
	};
	const struct wl_option *o = &values->workload->options[index];
	double value, unit = o->kind == WL_FRACTION ? 1e6 : 1;

	if (o->kind == WL_TEXT || o->kind == WL_PATH) {
		values->text[index] = strdup(text);
		return 0;
	}
	if (o->kind == WL_WORD) {
		if (!parse_word(values, index, text))
			return 0;
		snprintf(why, size, "\"%s\": one of %s is expected", text, o->words);
		return -1;
	}
	if (parse_number(text, kinds[o->kind].units, &value) ||
	    (kinds[o->kind].units[0].factor == 1 && value != (long long)value)) {
		snprintf(why, size, "\"%s\": %s is expected", text, kinds[o->kind].expected);
		return -1;
	}
	if (!(value >= o->min && value <= o->max)) {
		snprintf(why, size, "\"%s\" is out of range: %.15g to %.15g%s", text, o->min / unit,
			 o->max / unit, o->kind == WL_TIME ? " ns" : o->kind == WL_SIZE ? " bytes" : "");
		return -1;
	}
	values->number[index] = value < 0 ? value - 0.5 : value + 0.5;
	return 0;
}

static int index_of(const struct wl_values *values, const char *name)
{
	int i = wl_option_index(values->workload, name);

	if (i < 0) {
		fprintf(stderr, "workload %s asks for option %s, which is not in its table\n",
			values->workload->name, name);
		abort();
	}
	return i;
}

long long wl_value(const struct wl_values *values, const char *name)
{
	return values->number[index_of(values, name)];
}

const char *wl_value_text(const struct wl_values *values, const char *name)
{
	return values->text[index_of(values, name)];
}
