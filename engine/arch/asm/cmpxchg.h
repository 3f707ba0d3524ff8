/* SPDX-License-Identifier: GPL-2.0-only */
/* One host thread runs every CPU: plain C is atomic. Hot lines are charged for (kernel/hot.c). */
#ifndef _ASM_SIM_CMPXCHG_H
#define _ASM_SIM_CMPXCHG_H

#include <linux/types.h>
#include <hw.h>

#define shim_hot_touch(addr, write)					\
do {									\
	if (__builtin_expect(hw_hot_filter[((unsigned long)(addr) >> 6) % HW_HOT_FILTER], 0)) \
		hw_hot_line((const void *)(addr), (write));		\
} while (0)

#define arch_xchg(ptr, v)						\
({									\
	__typeof__(ptr) __p = (ptr);					\
	shim_hot_touch(__p, 1);						\
	__typeof__(*__p) __o = *__p;					\
	*__p = (__typeof__(*__p))(v);					\
	__o;								\
})

/* Of a word whose line is paid for by other means. */
#define shim_cmpxchg(ptr, o, n)						\
({									\
	__typeof__(ptr) __p = (ptr);					\
	__typeof__(*__p) __old = (__typeof__(*__p))(o), __cur = *__p;	\
	if (__cur == __old)						\
		*__p = (__typeof__(*__p))(n);				\
	__cur;								\
})

#define arch_cmpxchg(ptr, o, n)						\
({									\
	__typeof__(ptr) __at = (ptr);					\
	shim_hot_touch(__at, 1);					\
	shim_cmpxchg(__at, o, n);					\
})

#define arch_cmpxchg_local	arch_cmpxchg
#define arch_cmpxchg64		arch_cmpxchg
#define arch_cmpxchg64_local	arch_cmpxchg

#endif
