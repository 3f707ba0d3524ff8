/* SPDX-License-Identifier: GPL-2.0-only */
/* What the measuring itself costs on this machine. */
#ifndef SELFTEST_H
#define SELFTEST_H

#include "options.h"

/* Chooses CPUs where `o` names none. */
void self_test(const struct options *o);

#endif
