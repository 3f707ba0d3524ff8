/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints at calls of the kernel's static functions, its sources as they are: a unit
 * below this directory makes macros of some functions' names and includes the kernel's
 * file of the same path.  Parameters of a declaration begin with a type, arguments of a
 * call do not: a declaration keeps the name, a call becomes HOOK(name, arguments...).
 * A type begins with a word of C's, or with one of the kernel's own names for numbers and masks.
 */
#ifndef SHIM_HOOK_H
#define SHIM_HOOK_H

#define SHIM_DECLARES_struct	,
#define SHIM_DECLARES_union	,
#define SHIM_DECLARES_enum	,
#define SHIM_DECLARES_const	,
#define SHIM_DECLARES_volatile	,
#define SHIM_DECLARES_register	,
#define SHIM_DECLARES_void	,
#define SHIM_DECLARES__Bool	,
#define SHIM_DECLARES_bool	,
#define SHIM_DECLARES_char	,
#define SHIM_DECLARES_short	,
#define SHIM_DECLARES_int	,
#define SHIM_DECLARES_long	,
#define SHIM_DECLARES_signed	,
#define SHIM_DECLARES_unsigned	,
#define SHIM_DECLARES_float	,
#define SHIM_DECLARES_double	,
#define SHIM_DECLARES_typeof	,
#define SHIM_DECLARES___typeof__	,
#define SHIM_DECLARES___attribute__	,
#define SHIM_DECLARES___always_unused	,
#define SHIM_DECLARES___maybe_unused	,

#define SHIM_DECLARES_u8	,
#define SHIM_DECLARES_u16	,
#define SHIM_DECLARES_u32	,
#define SHIM_DECLARES_u64	,
#define SHIM_DECLARES_s8	,
#define SHIM_DECLARES_s16	,
#define SHIM_DECLARES_s32	,
#define SHIM_DECLARES_s64	,
#define SHIM_DECLARES_size_t	,
#define SHIM_DECLARES_ssize_t	,
#define SHIM_DECLARES_ktime_t	,
#define SHIM_DECLARES_pid_t	,
#define SHIM_DECLARES_gfp_t	,
#define SHIM_DECLARES_atomic_t	,
#define SHIM_DECLARES_atomic_long_t	,
#define SHIM_DECLARES_cpumask_t	,
#define SHIM_DECLARES_cpumask_var_t	,
#define SHIM_DECLARES_nodemask_t	,
#define SHIM_DECLARES_wait_queue_head_t	,

#define SHIM_THIRD_(a, b, c, rest...)	c
#define SHIM_THIRD(args...)		SHIM_THIRD_(args)
#define SHIM_AS_IS(HOOK, name, args...)	name(args)

/*
 * KEEP: what a call returns, or 0 where it returns nothing.  GIVE: the same as the value of a hook,
 * of the call's own type; its call is not made.  So a patch may have a function return something.
 */
#define SHIM_IS_VOID(call)		__builtin_types_compatible_p(typeof(call), void)
#define SHIM_KEEP(call)			__builtin_choose_expr(SHIM_IS_VOID(call), ({ (void)(call); 0; }), call)
#define SHIM_GIVE(kept, call)		__builtin_choose_expr(SHIM_IS_VOID(call), (void)0, kept)

/*
 * The build reads from the object which hooks have matched a call: scripts/unmatched.  An outline of
 * the source, which is not compiled, has the call as it stands there: scripts/calls.py.
 */
#ifdef SHIM_OUTLINE
#define SHIM_MATCHED(name)		shim_place name
#define SHIM_CALL(HOOK, name, args...)	SHIM_MATCHED(#name)(args)
#else
#define SHIM_MATCHED(name)						\
	static const char shim_matched[] __used __section("shim_matched") = name
#define SHIM_CALL(HOOK, name, args...)	({ SHIM_MATCHED(#name); HOOK(name, args); })
#endif

/* By a first argument that is not to be replaced before. */
#define SHIM_CHOOSE(declares)		SHIM_THIRD(declares, SHIM_AS_IS, SHIM_CALL, ~)

/* By the first argument, which has to begin with a word, macros in it replaced. */
#define SHIM_HOOK(HOOK, name, first, more...) \
	SHIM_THIRD(SHIM_DECLARES_##first, SHIM_AS_IS, SHIM_CALL, ~)(HOOK, name, first, ##more)
/* By the second one, where calls begin with &. */
#define SHIM_HOOK_2ND(HOOK, name, first, second, more...) \
	SHIM_THIRD(SHIM_DECLARES_##second, SHIM_AS_IS, SHIM_CALL, ~)(HOOK, name, first, second, ##more)

#endif
