/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Access to another CPU's data goes through per_cpu_ptr() or per_cpu_offset(): charged by lines and
 * distance, once per kernel entry.  What a CPU knows of the domains around it is only read: every
 * cache has it.
 */
#ifndef _ASM_SIM_PERCPU_H
#define _ASM_SIM_PERCPU_H

#include <hw.h>

#define __my_cpu_offset	(__per_cpu_offset[hw.cpu])
#include <asm-generic/percpu.h>
#if !defined(SHIM_KERNELS_LAYOUT) && !defined(COMPILE_OFFSETS) && !defined(__GENERATING_BOUNDS_H)
#include <generated/rq-lines.h>

#define SHIM_PER_CPU_IS(ptr, name)	(!__builtin_strncmp(#ptr, "&(" name, sizeof("&(" name) - 1))

/* A CPU's domains by level: written when they are built, and read ever after. */
#define SHIM_PER_CPU_IS_DOMAINS(ptr)					\
	(SHIM_PER_CPU_IS(ptr, "sd_llc)") || SHIM_PER_CPU_IS(ptr, "sd_llc_size)") || \
	 SHIM_PER_CPU_IS(ptr, "sd_llc_id)") || SHIM_PER_CPU_IS(ptr, "sd_llc_shared)") || \
	 SHIM_PER_CPU_IS(ptr, "sd_share_id)") || SHIM_PER_CPU_IS(ptr, "sd_numa)") || \
	 SHIM_PER_CPU_IS(ptr, "sd_asym_packing)") || SHIM_PER_CPU_IS(ptr, "sd_asym_cpucapacity)") || \
	 SHIM_PER_CPU_IS(ptr, "sd_balance_shared)"))

#undef per_cpu_offset
static inline unsigned long shim_per_cpu_offset(unsigned int cpu)
{
	hw_look(cpu, HW_OTHER_DATA);
	return __per_cpu_offset[cpu];
}
#define per_cpu_offset(cpu)	shim_per_cpu_offset(cpu)

#undef per_cpu_ptr
#define per_cpu_ptr(ptr, cpu)						\
({									\
	unsigned int shim_data_of = (cpu);				\
									\
	__verify_pcpu_ptr(ptr);						\
	if (SHIM_PER_CPU_IS(ptr, "runqueues)"))				\
		hw_look(shim_data_of, RQ_HEAD);				\
	else if (!SHIM_PER_CPU_IS_DOMAINS(ptr))				\
		hw_look(shim_data_of, HW_OTHER_DATA);			\
	SHIFT_PERCPU_PTR((ptr), __per_cpu_offset[shim_data_of]);	\
})
#endif

#endif
