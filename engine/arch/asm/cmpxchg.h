/* SPDX-License-Identifier: GPL-2.0-only */
/* One host thread runs every CPU: plain C is atomic. */
#ifndef _ASM_SIM_CMPXCHG_H
#define _ASM_SIM_CMPXCHG_H

#include <linux/types.h>

#define arch_xchg(ptr, v)						\
({									\
	__typeof__(ptr) __p = (ptr);					\
	__typeof__(*__p) __o = *__p;					\
	*__p = (__typeof__(*__p))(v);					\
	__o;								\
})

#define arch_cmpxchg(ptr, o, n)						\
({									\
	__typeof__(ptr) __p = (ptr);					\
	__typeof__(*__p) __old = (__typeof__(*__p))(o), __cur = *__p;	\
	if (__cur == __old)						\
		*__p = (__typeof__(*__p))(n);				\
	__cur;								\
})

#define arch_cmpxchg_local	arch_cmpxchg
#define arch_cmpxchg64		arch_cmpxchg
#define arch_cmpxchg64_local	arch_cmpxchg

#endif
