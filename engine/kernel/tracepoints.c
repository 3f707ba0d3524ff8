// SPDX-License-Identifier: GPL-2.0-only
/* Tracepoints that linked sources raise but unlinked ones define (drivers/base/power). */
#include <linux/module.h>
#include <linux/string.h>
#include <linux/types.h>
#define CREATE_TRACE_POINTS
#include <trace/events/power.h>
