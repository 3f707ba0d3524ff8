/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tracepoints at calls of the kernel's static functions, its sources as they are: a unit
 * below this directory makes macros of some functions' names and includes the kernel's
 * file of the same path.  Parameters of a declaration begin with a type, arguments of a
 * call do not: a declaration keeps the name, a call becomes HOOK(name, arguments...).
 */
#ifndef SIM_HOOK_H
#define SIM_HOOK_H

#define SIM_DECLARES_struct	,
#define SIM_DECLARES_int	,

#define SIM_THIRD_(a, b, c, rest...)	c
#define SIM_THIRD(args...)		SIM_THIRD_(args)
#define SIM_AS_IS(HOOK, name, args...)	name(args)
#define SIM_CALL(HOOK, name, args...)	({ SIM_MATCHED(#name); HOOK(name, args); })

/* The build reads from the object which hooks have matched a call: scripts/unmatched. */
#define SIM_MATCHED(name)						\
	static const char __matched[] __used __section("sim_matched") = name

/* By a first argument that is not to be replaced before. */
#define SIM_CHOOSE(declares)		SIM_THIRD(declares, SIM_AS_IS, SIM_CALL, ~)

/* By the first argument, which has to begin with a word, macros in it replaced. */
#define SIM_HOOK(HOOK, name, first, more...) \
	SIM_THIRD(SIM_DECLARES_##first, SIM_AS_IS, SIM_CALL, ~)(HOOK, name, first, ##more)
/* By the second one, where calls begin with &. */
#define SIM_HOOK_2ND(HOOK, name, first, second, more...) \
	SIM_THIRD(SIM_DECLARES_##second, SIM_AS_IS, SIM_CALL, ~)(HOOK, name, first, second, ##more)

#endif
