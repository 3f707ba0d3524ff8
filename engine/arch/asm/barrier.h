/* SPDX-License-Identifier: GPL-2.0-only */
/* No reordering between CPUs of one host thread; waiting for a value lets simulated time pass. */
#ifndef _ASM_SIM_BARRIER_H
#define _ASM_SIM_BARRIER_H

#include <hw.h>

#define mb()		barrier()
#define __smp_mb()	barrier()
#define __smp_rmb()	barrier()
#define __smp_wmb()	barrier()
#define nop()		barrier()

#define smp_cond_load_relaxed(ptr, cond_expr)				\
({									\
	typeof(ptr) __PTR = (ptr);					\
	__unqual_scalar_typeof(*ptr) VAL;				\
	for (;;) {							\
		VAL = READ_ONCE(*__PTR);				\
		if (cond_expr)						\
			break;						\
		hw_spin();						\
	}								\
	(typeof(*ptr))VAL;						\
})

#include <asm-generic/barrier.h>

#endif
