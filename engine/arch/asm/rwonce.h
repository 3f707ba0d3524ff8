/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Plain fields on hot lines are known by the name they are read and written by: all
 * other READ_ONCE() and WRITE_ONCE() are the kernel's own.  A name stands for longer ones too
 * (overloaded, has_blocked_load).  The build reads from the objects which were met:
 * scripts/unmatched.
 */
#ifndef _ASM_SIM_RWONCE_H
#define _ASM_SIM_RWONCE_H

#include <asm-generic/rwonce.h>
#include <hw.h>

#define SHIM_IS_HOT(name)						\
	(__builtin_strstr(name, "->overload") || __builtin_strstr(name, "->overutilized") || \
	 __builtin_strstr(name, "->has_idle_cores") || __builtin_strstr(name, "->nr_idle_scan") || \
	 __builtin_strstr(name, "nohz.has_blocked") || __builtin_strstr(name, "nohz.needs_update") || \
	 __builtin_strstr(name, "sd_share->util_avg") || __builtin_strstr(name, "sd_share->capacity"))

#define SHIM_HOT_ACCESS(name, x, write)					\
do {									\
	asm(".pushsection shim_hot,\"a\"\n\t.asciz \"" name "\"\n\t.popsection"); \
	hw_hot_line((const void *)&(x), write);				\
} while (0)

#undef READ_ONCE
#undef WRITE_ONCE
#ifdef SHIM_OUTLINE	/* of the source, which is not compiled: scripts/calls.py */
#define READ_ONCE(x)			shim_access #x (x)
#define WRITE_ONCE(x, val)		shim_access #x (x, val)
#else
#define READ_ONCE(x)							\
({									\
	compiletime_assert_rwonce_type(x);				\
	if (SHIM_IS_HOT(#x))						\
		SHIM_HOT_ACCESS(#x, x, 0);		\
	__READ_ONCE(x);							\
})

#define WRITE_ONCE(x, val)						\
do {									\
	compiletime_assert_rwonce_type(x);				\
	if (SHIM_IS_HOT(#x))						\
		SHIM_HOT_ACCESS(#x, x, 1);		\
	__WRITE_ONCE(x, val);						\
} while (0)
#endif

#endif
