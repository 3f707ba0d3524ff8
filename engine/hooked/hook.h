/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints at calls of the kernel's static functions, its sources as they are: a unit
 * below this directory makes macros of some functions' names and includes the kernel's
 * file of the same path.  Parameters of a declaration begin with a type, arguments of a
 * call do not: a declaration keeps the name, a call becomes HOOK(name, arguments...).
 */
#ifndef SHIM_HOOK_H
#define SHIM_HOOK_H

#define SHIM_DECLARES_struct	,
#define SHIM_DECLARES_int	,
#define SHIM_DECLARES_unsigned	,

#define SHIM_THIRD_(a, b, c, rest...)	c
#define SHIM_THIRD(args...)		SHIM_THIRD_(args)
#define SHIM_AS_IS(HOOK, name, args...)	name(args)
#define SHIM_CALL(HOOK, name, args...)	({ SHIM_MATCHED(#name); HOOK(name, args); })

/* The build reads from the object which hooks have matched a call: scripts/unmatched. */
#define SHIM_MATCHED(name)						\
	static const char __matched[] __used __section("shim_matched") = name

/* By a first argument that is not to be replaced before. */
#define SHIM_CHOOSE(declares)		SHIM_THIRD(declares, SHIM_AS_IS, SHIM_CALL, ~)

/* By the first argument, which has to begin with a word, macros in it replaced. */
#define SHIM_HOOK(HOOK, name, first, more...) \
	SHIM_THIRD(SHIM_DECLARES_##first, SHIM_AS_IS, SHIM_CALL, ~)(HOOK, name, first, ##more)
/* By the second one, where calls begin with &. */
#define SHIM_HOOK_2ND(HOOK, name, first, second, more...) \
	SHIM_THIRD(SHIM_DECLARES_##second, SHIM_AS_IS, SHIM_CALL, ~)(HOOK, name, first, second, ##more)

#endif
