// SPDX-License-Identifier: GPL-2.0-only
/*
 * rt-app's files are JSON with liberties: its reader takes comments and a comma before a
 * closing bracket; workgen, which prepares files for it, takes repeated keys and keys
 * without a value.  All of that becomes strict JSON here, in which every key is followed
 * by its place: so equal keys stay apart, in their order, and messages can name lines.
 */
#include <stdio.h>
#include "rt-app-file.h"

struct text {
	const char *at, *end;		/* what is left to read */
	const char *start;
	FILE *out;
	int line, depth;
	char closing[RT_APP_DEPTH];	/* of the brackets that are open */
	int key_next;			/* the next string names a member */
};

static int starts(const struct text *t, const char *p, const char *word)
{
	return t->end - p >= 2 && p[0] == word[0] && p[1] == word[1];
}

/* After the comment that begins here, or NULL: none does. */
static const char *after_comment(const struct text *t, const char *p)
{
	int lines = starts(t, p, "//");

	if (!lines && !starts(t, p, "/*"))
		return NULL;
	for (p += 2; p < t->end; p++) {
		if (lines && *p == '\n')
			return p;
		if (!lines && starts(t, p, "*/"))
			return p + 2;
	}
	return t->end;
}

/* The next character that is neither blank nor comment, 0 at the end. */
static char next_sign(const struct text *t, const char *p)
{
	while (p < t->end) {
		const char *after = after_comment(t, p);

		if (after)
			p = after;
		else if (*p == ' ' || *p == '\t' || *p == '\r' || *p == '\n')
			p++;
		else
			return *p;
	}
	return 0;
}

static void copy(struct text *t, const char *to)
{
	for (; t->at < to; t->at++) {
		t->line += *t->at == '\n';
		fputc(*t->at, t->out);
	}
}

/* Lines stay where they are. */
static void blank(struct text *t, const char *to)
{
	for (; t->at < to; t->at++) {
		t->line += *t->at == '\n';
		fputc(*t->at == '\n' ? '\n' : ' ', t->out);
	}
}

static void string(struct text *t)
{
	const char *p = t->at + 1;
	int line = t->line;
	long offset = t->at - t->start;

	while (p < t->end && *p != '"')
		p += *p == '\\' && p + 1 < t->end ? 2 : 1;
	copy(t, p);
	if (t->key_next)
		fprintf(t->out, "@%d:%ld", line, offset);
	if (t->at < t->end)
		copy(t, t->at + 1);
	if (t->key_next && next_sign(t, t->at) != ':')
		fputs(":null", t->out);
	t->key_next = 0;
}

/* A sign of JSON's structure, or part of a value.  -1: brackets too deep. */
static int sign(struct text *t)
{
	char c = *t->at, next;

	switch (c) {
	case '{':
	case '[':
		if (t->depth == RT_APP_DEPTH)
			return -1;
		t->closing[t->depth++] = c == '{' ? '}' : ']';
		t->key_next = c == '{';
		break;
	case '}':
	case ']':
		t->depth -= t->depth > 0;
		t->key_next = 0;
		break;
	case ',':
		next = next_sign(t, t->at + 1);
		if (next == '}' || next == ']') {
			blank(t, t->at + 1);
			return 0;
		}
		t->key_next = t->depth && t->closing[t->depth - 1] == '}';
		break;
	}
	copy(t, t->at + 1);
	return 0;
}

char *rt_app_strict(const char *text, size_t size, size_t *strict_size)
{
	struct text t = { .at = text, .end = text + size, .start = text, .line = 1 };
	int deep = 0;
	char *strict = NULL;

	t.out = open_memstream(&strict, strict_size);
	while (t.out && t.at < t.end && !deep) {
		const char *comment = after_comment(&t, t.at);

		if (comment)
			blank(&t, comment);
		else if (*t.at == '"')
			string(&t);
		else
			deep = sign(&t);
	}
	if (!t.out || fclose(t.out))
		wl_refuse("no memory to read the file");
	return deep ? NULL : strict;
}
