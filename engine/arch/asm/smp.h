/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_SMP_H
#define _ASM_SIM_SMP_H

#include <hw.h>

struct cpumask;

#define raw_smp_processor_id()	(hw.cpu)

extern void arch_smp_send_reschedule(int cpu);
extern void arch_send_call_function_single_ipi(int cpu);
extern void arch_send_call_function_ipi_mask(const struct cpumask *mask);

#endif
