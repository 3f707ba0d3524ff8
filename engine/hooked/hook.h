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
#define SIM_AS_IS(name, args...)	name(args)

#define SIM_CHOOSE(declares, HOOK)	SIM_THIRD(declares, SIM_AS_IS, HOOK, ~)

/* By the first argument, which has to begin with a word, macros in it replaced. */
#define SIM_HOOK(HOOK, name, first, more...) \
	SIM_THIRD(SIM_DECLARES_##first, SIM_AS_IS, HOOK, ~)(name, first, ##more)
/* By the second one, where calls begin with &. */
#define SIM_HOOK_2ND(HOOK, name, first, second, more...) \
	SIM_THIRD(SIM_DECLARES_##second, SIM_AS_IS, HOOK, ~)(name, first, second, ##more)

#endif
