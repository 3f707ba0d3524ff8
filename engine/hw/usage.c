// SPDX-License-Identifier: GPL-2.0-only
/* Bad input ends the program with one message. */
#include <stdarg.h>
#include <stdlib.h>
#include "inside.h"

void hw_refuse(const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "schedsim: ");
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fprintf(stderr, "\n");
	exit(2);
}
