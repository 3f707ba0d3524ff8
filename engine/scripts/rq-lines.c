/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Which cache line of struct rq a field lies in, as bits: DEFINE()s in the compiler's assembly, as
 * of kernel/bounds.c.  Locks are here as large as the kernel's own (asm/spinlock_types.h).
 */
#include <linux/kbuild.h>
#include "shim.h"

/* Lines beyond fold: two that fall together cost one of them. */
#define LINE_AT(address)	(1ULL << (unsigned long)(address) / 64 % 63)
#define LINE(field)	LINE_AT(offsetof(struct rq, field))

int main(void)
{
	DEFINE(RQ_HEAD, LINE(nr_running));
	DEFINE(RQ_CFS, LINE_AT(&SHIM_CFS_QUEUED(&((struct rq *)0)->cfs)));
	DEFINE(RQ_AVERAGES, LINE(cfs.avg.load_avg) | LINE(cfs.avg.util_avg) | LINE(cfs.avg.util_est));
	DEFINE(RQ_CURRENT, LINE(curr) | LINE(idle));
	DEFINE(RQ_PENDING, LINE(ttwu_pending));
	return 0;
}
