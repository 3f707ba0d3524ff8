// SPDX-License-Identifier: GPL-2.0-only
/* Reading JSON with one clear error: the key path, what is wrong, what would be right. */
#include <ctype.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include "inside.h"
#include "json.h"

const char *json_file;

json_t *json_read(const char *file)
{
	json_error_t err;
	json_t *root;

	json_file = file;
	root = json_load_file(file, JSON_REJECT_DUPLICATES, &err);
	if (!root)
		hw_refuse("%s: line %d: %s", file, err.line, err.text);
	if (!json_is_object(root))
		hw_refuse("%s: an object { ... } is expected", file);
	return root;
}

static void print_path(const struct path *at)
{
	if (!at)
		return;
	print_path(at->up);
	if (at->key)
		fprintf(stderr, "%s%s", at->up ? "." : "", at->key);
	else
		fprintf(stderr, "[%d]", at->index);
}

void json_error_at(const struct path *at, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "schedsim: %s: ", json_file);
	print_path(at);
	fprintf(stderr, ": ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}

void json_only(json_t *obj, const struct path *at, ...)
{
	const char *key, *allowed;
	json_t *value;

	if (!json_is_object(obj))
		json_error_at(at, "an object is expected");
	json_object_foreach(obj, key, value) {
		va_list args;
		int found = 0;

		va_start(args, at);
		while (!found && (allowed = va_arg(args, const char *)))
			found = !strcmp(key, allowed);
		va_end(args);
		if (!found)
			json_error_at(AT(at, key), "unknown key");
	}
}

json_t *json_need(json_t *obj, const struct path *at, const char *key)
{
	json_t *v = json_object_get(obj, key);

	if (!v)
		json_error_at(AT(at, key), "missing");
	return v;
}

double json_num(json_t *v, const struct path *at, double min, double max)
{
	double d;

	if (!json_is_number(v))
		json_error_at(at, "a number is expected");
	d = json_number_value(v);
	if (!(d >= min && d <= max))
		json_error_at(at, "%g is not within %g..%g", d, min, max);
	return d;
}

long json_int(json_t *v, const struct path *at, long min, long max)
{
	long n;

	if (!json_is_integer(v))
		json_error_at(at, "a whole number is expected");
	n = json_integer_value(v);
	if (n < min || n > max)
		json_error_at(at, "%ld is not within %ld..%ld", n, min, max);
	return n;
}

int json_flag(json_t *v, const struct path *at)
{
	if (!json_is_boolean(v))
		json_error_at(at, "true or false is expected");
	return json_is_true(v);
}

const char *json_text(json_t *v, const struct path *at)
{
	if (!json_is_string(v))
		json_error_at(at, "a text is expected");
	return json_string_value(v);
}

struct unit {
	const char *name;
	double factor;
};

/* `max` is in the first unit; a message names it in the last. */
static double with_unit(json_t *v, const struct path *at, const struct unit *units, double max,
			const char *example)
{
	const char *text = json_is_string(v) ? json_string_value(v) : NULL;
	const struct unit *last = units;
	char *end;
	double d;

	if (!text)
		json_error_at(at, "a quantity with its unit is expected, like \"%s\"", example);
	d = strtod(text, &end);
	while (*end == ' ')
		end++;
	while (last[1].name)
		last++;
	if (end != text)
		for (; units->name; units++)
			if (!strcmp(end, units->name)) {
				if (d < 0)
					json_error_at(at, "\"%s\" is negative", text);
				if (!(d * units->factor <= max))
					json_error_at(at, "\"%s\" is too much: at most %.15g%s is possible", text,
						      max / last->factor, last->name);
				return d * units->factor;
			}
	json_error_at(at, "\"%s\" is not a quantity like \"%s\"", text, example);
}

simtime json_time_up_to(json_t *v, const struct path *at, simtime max)
{
	static const struct unit units[] = {
		{ "ns", 1 }, { "us", 1e3 }, { "ms", 1e6 }, { "s", 1e9 }, { }
	};

	return with_unit(v, at, units, max, "1.5us") + 0.5;
}

simtime json_time(json_t *v, const struct path *at)
{
	return json_time_up_to(v, at, LONGEST_TIME);
}

unsigned int json_kb(json_t *v, const struct path *at)
{
	static const struct unit units[] = {
		{ "KiB", 1 }, { "MiB", 1024 }, { "GiB", 1 << 20 }, { }
	};

	return with_unit(v, at, units, 4095.0 * (1 << 20), "512KiB") + 0.5;
}

unsigned int json_mbs(json_t *v, const struct path *at)
{
	static const struct unit units[] = {
		{ "MB/s", 1 }, { "GB/s", 1e3 }, { }
	};

	double mbs = with_unit(v, at, units, 1e9, "20GB/s");

	if (mbs < 1)
		json_error_at(at, "less than 1 MB/s");
	return mbs + 0.5;
}

void json_cpu_list(json_t *v, const struct path *at, int max, void (*fn)(int, void *), void *arg)
{
	const char *p = json_text(v, at);

	if (!*p)
		json_error_at(at, "the list is empty");
	while (*p) {
		char *end;
		long from = strtol(p, &end, 10), to = from;

		if (end == p || !isdigit((unsigned char)*p))
			json_error_at(at, "\"%s\" is not a list like \"0-3,8\"", json_text(v, at));
		p = end;
		if (*p == '-') {
			to = strtol(p + 1, &end, 10);
			if (end == p + 1)
				json_error_at(at, "\"%s\" is not a list like \"0-3,8\"", json_text(v, at));
			p = end;
		}
		if (from > to || to > max)
			json_error_at(at, "%ld-%ld is not within 0-%d", from, to, max);
		for (long i = from; i <= to; i++)
			fn(i, arg);
		if (*p == ',')
			p++;
		else if (*p)
			json_error_at(at, "\"%s\" is not a list like \"0-3,8\"", json_text(v, at));
	}
}
