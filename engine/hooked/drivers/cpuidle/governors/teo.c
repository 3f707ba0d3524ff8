// SPDX-License-Identifier: GPL-2.0-only
/* drivers/cpuidle/governors/teo.c with notes of what it decides from. */
#include "asked.h"

#include <drivers/cpuidle/governors/teo.c>
