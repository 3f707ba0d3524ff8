// SPDX-License-Identifier: GPL-2.0-only
/* Values of an rt-app file with their place in it: errors name the line and the keys. */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "rt-app-file.h"

static void print_keys(const struct at *at, char *text, size_t size)
{
	size_t used;

	if (!at->up)
		return;
	print_keys(at->up, text, size);
	used = strlen(text);
	snprintf(text + used, size - used, "%s%.*s", used ? "." : "", at->length, at->key);
}

/* Names of the file may hold anything. */
static void one_line(char *text)
{
	for (; *text; text++)
		if (iscntrl((unsigned char)*text))
			*text = '?';
}

void at_refuse(const struct at *at, const char *fmt, ...)
{
	char keys[400] = "", text[400];
	va_list args;

	print_keys(at, keys, sizeof(keys));
	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	one_line(keys);
	one_line(text);
	wl_refuse("%s:%d: %s%s%s", at->file, at->line, keys, keys[0] ? ": " : "", text);
}

struct at at_member(const struct at *up, const char *key, json_t *value)
{
	const char *place = strrchr(key, '@');

	return (struct at) { up, up->file, key, place - key, atoi(place + 1), value };
}

static int is(const struct at *at, const char *name)
{
	return (int)strlen(name) == at->length && !memcmp(at->key, name, at->length);
}

int at_find(const struct at *object, const char *name, struct at *found)
{
	struct at at;
	int nr = 0;

	each_member(object, it, at) {
		if (!is(&at, name))
			continue;
		if (nr++)
			at_refuse(&at, "stands here a second time, first in line %d", found->line);
		*found = at;
	}
	return nr;
}

char *at_name(const struct at *at)
{
	char *name = wl_alloc(at->length + 1);

	memcpy(name, at->key, at->length);
	return name;
}

void at_need_object(const struct at *at)
{
	if (!json_is_object(at->value))
		at_refuse(at, "an object { ... } is expected");
}

long long at_number(const struct at *at, long long min, long long max)
{
	long long n;

	if (!json_is_integer(at->value))
		at_refuse(at, "a whole number is expected");
	n = json_integer_value(at->value);
	if (n < min || n > max)
		at_refuse(at, "%lld is not within %lld..%lld", n, min, max);
	return n;
}

long long at_get_number(const struct at *object, const char *key, long long min, long long max,
			long long standard)
{
	struct at at;

	return at_find(object, key, &at) ? at_number(&at, min, max) : standard;
}

int at_get_flag(const struct at *object, const char *key)
{
	struct at at;

	if (!at_find(object, key, &at))
		return 0;
	if (!json_is_boolean(at.value))
		at_refuse(&at, "true or false is expected");
	return json_is_true(at.value);
}

const char *at_text(const struct at *at)
{
	const char *value = json_string_value(at->value);
	char *kept;

	if (!value)
		at_refuse(at, "a text is expected");
	kept = wl_alloc(strlen(value) + 1);
	return strcpy(kept, value);
}

const char *at_reference(const struct at *at)
{
	const char *name = at_text(at);

	if (!*name)
		at_refuse(at, "a name is expected");
	return name;
}

const char *at_need_reference(const struct at *object, const char *key)
{
	struct at at;

	at_need_object(object);
	if (!at_find(object, key, &at))
		at_refuse(object, "\"%s\" is missing", key);
	return at_reference(&at);
}

int at_listed(const struct at *at, const char *const *names)
{
	for (; *names; names++)
		if (is(at, *names))
			return 1;
	return 0;
}

void at_only(const struct at *object, const char *const *names)
{
	struct at at;

	at_need_object(object);
	each_member(object, it, at)
		if (!at_listed(&at, names))
			at_refuse(&at, "unknown key");
	for (; *names; names++)
		at_find(object, *names, &at);
}

static char *read_text(const char *path, size_t *size)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;

	if (!file)
		wl_refuse("%s: %s", path, strerror(errno));
	for (*size = 0; !feof(file); ) {
		if (*size == room)
			text = realloc(text, room = room ? 2 * room : 4096);
		if (!text)
			wl_refuse("%s: no memory to read it", path);
		*size += fread(text + *size, 1, room - *size, file);
		if (ferror(file))
			wl_refuse("%s: %s", path, strerror(errno));
	}
	fclose(file);
	return text;
}

static json_t *load(const char *path)
{
	size_t size, strict_size;
	char *text = read_text(path, &size), *strict = rt_app_strict(text, size, &strict_size), *near;
	json_error_t error;
	json_t *root;

	if (!strict)
		wl_refuse("%s: brackets are nested deeper than %d", path, RT_APP_DEPTH);
	root = json_loadb(strict, strict_size, 0, &error);
	near = strstr(error.text, " near ");
	if (!root)
		wl_refuse("%s:%d: %.*s", path, error.line,
			  near ? (int)(near - error.text) : (int)strlen(error.text), error.text);
	free(strict);
	free(text);
	return root;
}

struct at at_root(const char *path)
{
	return (struct at) { .file = path, .line = 1, .value = load(path) };
}
