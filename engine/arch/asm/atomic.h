/* SPDX-License-Identifier: GPL-2.0-only */
/* One host thread runs every CPU: plain read-modify-write is atomic. Hot lines are charged for. */
#ifndef _ASM_SIM_ATOMIC_H
#define _ASM_SIM_ATOMIC_H

#include <linux/types.h>
#include <asm/cmpxchg.h>
#include <asm/barrier.h>
#include <hw.h>

#define ATOMIC64_INIT(i)	{ (i) }

#define SHIM_ATOMIC_OP(p, T, V, op, c)					\
static __always_inline void p##_##op(V i, T *v)				\
{									\
	shim_hot_touch(v, 1);						\
	v->counter = v->counter c i;					\
}									\
static __always_inline V p##_fetch_##op(V i, T *v)			\
{									\
	V old = v->counter;						\
	shim_hot_touch(v, 1);						\
	v->counter = old c i;						\
	return old;							\
}

#define SHIM_ATOMIC_RETURN(p, T, V, op, c)				\
static __always_inline V p##_##op##_return(V i, T *v)			\
{									\
	shim_hot_touch(v, 1);						\
	return v->counter = v->counter c i;				\
}

#define SHIM_ATOMIC_ALL(p, T, V)					\
static __always_inline void p##_set(T *v, V i)				\
{									\
	WRITE_ONCE(v->counter, i);					\
}									\
SHIM_ATOMIC_OP(p, T, V, add, +)						\
SHIM_ATOMIC_RETURN(p, T, V, add, +)					\
SHIM_ATOMIC_OP(p, T, V, sub, -)						\
SHIM_ATOMIC_RETURN(p, T, V, sub, -)					\
SHIM_ATOMIC_OP(p, T, V, and, &)						\
SHIM_ATOMIC_OP(p, T, V, or, |)						\
SHIM_ATOMIC_OP(p, T, V, xor, ^)

SHIM_ATOMIC_ALL(arch_atomic, atomic_t, int)

/* Static keys are read through this one all the time; no hot line is an atomic_t read. */
static __always_inline int arch_atomic_read(const atomic_t *v)
{
	return READ_ONCE(v->counter);
}

static __always_inline s64 arch_atomic64_read(const atomic64_t *v)
{
	shim_hot_touch(v, 0);
	return READ_ONCE(v->counter);
}

SHIM_ATOMIC_ALL(arch_atomic64, atomic64_t, s64)

#define SHIM_ATOMIC_EXCHANGE(p, T, V)					\
static __always_inline V p##_cmpxchg(T *v, V from, V to)		\
{									\
	return arch_cmpxchg(&v->counter, from, to);			\
}									\
static __always_inline V p##_xchg(T *v, V to)				\
{									\
	return arch_xchg(&v->counter, to);				\
}
SHIM_ATOMIC_EXCHANGE(arch_atomic, atomic_t, int)
SHIM_ATOMIC_EXCHANGE(arch_atomic64, atomic64_t, s64)
#define arch_atomic_cmpxchg		arch_atomic_cmpxchg
#define arch_atomic_xchg		arch_atomic_xchg
#define arch_atomic64_cmpxchg		arch_atomic64_cmpxchg
#define arch_atomic64_xchg		arch_atomic64_xchg

/* Tell the generic fallbacks which forms exist. */
#define arch_atomic_fetch_add		arch_atomic_fetch_add
#define arch_atomic_fetch_sub		arch_atomic_fetch_sub
#define arch_atomic_fetch_and		arch_atomic_fetch_and
#define arch_atomic_fetch_or		arch_atomic_fetch_or
#define arch_atomic_fetch_xor		arch_atomic_fetch_xor
#define arch_atomic_add_return		arch_atomic_add_return
#define arch_atomic_sub_return		arch_atomic_sub_return
#define arch_atomic64_fetch_add		arch_atomic64_fetch_add
#define arch_atomic64_fetch_sub		arch_atomic64_fetch_sub
#define arch_atomic64_fetch_and		arch_atomic64_fetch_and
#define arch_atomic64_fetch_or		arch_atomic64_fetch_or
#define arch_atomic64_fetch_xor		arch_atomic64_fetch_xor
#define arch_atomic64_add_return	arch_atomic64_add_return
#define arch_atomic64_sub_return	arch_atomic64_sub_return

#endif
