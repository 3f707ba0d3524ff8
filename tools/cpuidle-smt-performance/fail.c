// SPDX-License-Identifier: GPL-2.0-only
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include "fail.h"

static char **warnings;
static int nr_warnings;

void fail(const char *fmt, ...)
{
	va_list args;

	fflush(stdout);
	fputs("cpuidle-smt-performance: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(2);
}

void warn(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		fail("no memory");
	va_end(args);
	fprintf(stderr, "cpuidle-smt-performance: warning: %s\n", text);
	warnings = realloc(warnings, (nr_warnings + 1) * sizeof(*warnings));
	if (!warnings)
		fail("no memory");
	warnings[nr_warnings++] = text;
}

const char *warning(int i)
{
	return i < nr_warnings ? warnings[i] : NULL;
}
