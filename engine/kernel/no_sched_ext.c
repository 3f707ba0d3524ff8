// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a build without sched_ext answers about a scheduler: there is none, so nobody loads one or
 * sets its tunables.
 */
#include <linux/errno.h>
#include "shim.h"

#ifndef CONFIG_SCHED_CLASS_EXT
const char *kern_scx_choose(unsigned int nr, const char *group)
{
	return NULL;
}

int kern_scx_has_subs(void)
{
	return 0;
}

const char *kern_scx_name(void)
{
	return NULL;
}

void kern_scx_set_up(void)
{
}

int kern_scx_set(const char *tunable, const char *value)
{
	return -ENOENT;
}

void kern_scx_get(const char *tunable, char *buf, unsigned long size)
{
	*buf = 0;
}

void kern_scx_list(void (*tunable)(const char *name))
{
}

int kern_scx_load(void)
{
	return -EOPNOTSUPP;
}

const char *kern_scx_refused(void)
{
	return NULL;
}

int kern_scx_is_loaded(void)
{
	return 0;
}

void kern_scx_unload(void)
{
}

void kern_scx_look(void)
{
}
#endif
