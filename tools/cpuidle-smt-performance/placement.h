/* SPDX-License-Identifier: GPL-2.0-only */
/* Whether the CPUs chosen suit the experiment. */
#ifndef PLACEMENT_H
#define PLACEMENT_H

#include "options.h"

/* Fails where the experiment cannot be run so; warns where it does not show what it is to. */
void check_placement(const struct options *o);

/* Fails where the CPU is offline or no thread may run there. */
void check_cpu(const char *option, int cpu);

#endif
