/* SPDX-License-Identifier: GPL-2.0-only */
/* Helpers of the generated tracepoint printers (override/trace/trace_events.h). */
#ifndef SHIM_TRACE_PRINT_H
#define SHIM_TRACE_PRINT_H

#include <linux/tracepoint-defs.h>

const char *shim_print_flags(unsigned long flags, const char *delim,
			     const struct trace_print_flags *table);
const char *shim_print_symbolic(unsigned long value, const struct trace_print_flags *table);

static inline const char *shim_trace_string(const char *text)
{
	return text ? text : "";
}

void shim_trace_printf(const struct kern_tracepoint *tp, const char *fmt, ...);

#endif
