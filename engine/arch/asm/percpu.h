/* SPDX-License-Identifier: GPL-2.0-only */
/* Access to another CPU's data goes through per_cpu_offset(): charged by distance, once per kernel entry. */
#ifndef _ASM_SIM_PERCPU_H
#define _ASM_SIM_PERCPU_H

#include <engine_if.h>

#define __my_cpu_offset	(__per_cpu_offset[sim.cpu])
#include <asm-generic/percpu.h>
#undef per_cpu_offset

static inline unsigned long sim_per_cpu_offset(unsigned int cpu)
{
	if (__builtin_expect(sim_touched[cpu] != sim.epoch, 0))
		sim_touch_cpu(cpu);
	return __per_cpu_offset[cpu];
}
#define per_cpu_offset(cpu)	sim_per_cpu_offset(cpu)

#endif
