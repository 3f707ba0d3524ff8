/* SPDX-License-Identifier: GPL-2.0-only */
/* The counter of a CPU's cycles is its clock, as sched_clock(). */
#ifndef _ASM_SIM_TIMEX_H
#define _ASM_SIM_TIMEX_H

#include <linux/types.h>
#include <hw.h>

typedef unsigned long cycles_t;

static inline cycles_t get_cycles(void)
{
	return hw.clk;
}
#define get_cycles get_cycles

#endif
