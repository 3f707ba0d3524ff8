/* SPDX-License-Identifier: GPL-2.0-only */
/* Messages for the user: why it ends, and what to know of the figures. */
#ifndef FAIL_H
#define FAIL_H

/* Says why and exits with status 2. */
void fail(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* Says it on standard error and keeps it for the report. */
void warn(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* The i-th thing warned of, or NULL. */
const char *warning(int i);

#endif
