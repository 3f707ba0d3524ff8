// SPDX-License-Identifier: GPL-2.0-only
/* The kernel log goes to the engine's, with simulated time. */
#include <linux/printk.h>
#include <linux/kernel.h>
#include <linux/ratelimit.h>
#include "shim.h"

static int log_line(const char *fmt, va_list args)
{
	char buf[512];
	int len;

	fmt = printk_skip_level(fmt);
	len = vscnprintf(buf, sizeof(buf), fmt, args);
	hw_log(buf, len);
	return len;
}

int _printk(const char *fmt, ...)
{
	va_list args;
	int len;

	va_start(args, fmt);
	len = log_line(fmt, args);
	va_end(args);
	return len;
}

/* Nothing has to wait here. */
int _printk_deferred(const char *fmt, ...) __alias(_printk);

/* WARN()'s text; the warning itself follows through asm/bug.h. */
void __warn_printk(const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	log_line(fmt, args);
	va_end(args);
}

int __printk_ratelimit(const char *func)
{
	return 1;
}

int ___ratelimit(struct ratelimit_state *rs, const char *func)
{
	return 1;
}

void dump_stack(void)
{
}

void add_taint(unsigned int flag, enum lockdep_ok lockdep_ok)
{
}
