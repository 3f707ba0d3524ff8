/* SPDX-License-Identifier: GPL-2.0-only */
/* The tree's own header of this name, but for what it says in BPF's assembly. */
#ifndef NATIVE_SCX_COMMON_H
#define NATIVE_SCX_COMMON_H

void __scx_bounds(int are_checked);	/* an index that is compared later may be any */

#define MEMBER_VPTR(base, member)						\
({										\
	typeof((base) member) *__at;						\
	u64 __offset;								\
										\
	__scx_bounds(0);							\
	__at = &((base) member);						\
	__scx_bounds(1);							\
	__offset = (u64)__at - (u64)&(base);					\
	__offset <= sizeof(base) - sizeof((base) member) ? __at : NULL;		\
})
#define ARRAY_ELEM_PTR(array, i, n)						\
({										\
	typeof(&(array)[0]) __at = (array) + (i);				\
	u64 __offset = (u64)__at - (u64)(array);				\
	__offset <= sizeof((array)[0]) * ((n) - 1) ? __at : NULL;		\
})
#define bpf_addr_space_cast(var, to, from)	({ }) /* both see an arena at the same addresses */
/*
 * Newer trees leave these two as they are found, for functions of the header too; older ones define
 * theirs.
 */
#pragma push_macro("MEMBER_VPTR")
#pragma push_macro("ARRAY_ELEM_PTR")
#include_next <scx/common.bpf.h>
#pragma pop_macro("MEMBER_VPTR")
#pragma pop_macro("ARRAY_ELEM_PTR")

/*
 * A program makes such an array as long as there are CPUs; this one has room for all there can be.
 */
#undef RESIZABLE_ARRAY
#define RESIZABLE_ARRAY(section, array)	array[1024] SEC("." #section "." #array)
#undef can_loop
#define can_loop		true
#undef __cond_break
#define __cond_break(expr)	({ })

#endif
