/* SPDX-License-Identifier: GPL-2.0-only */
/* Interrupt flag of the simulated CPU; interrupts that became due are taken when it opens. */
#ifndef _ASM_SIM_IRQFLAGS_H
#define _ASM_SIM_IRQFLAGS_H

#include <hw.h>

void shim_irq_window(void);		/* kernel/entry.c */

#define ARCH_IRQ_DISABLED	0UL
#define ARCH_IRQ_ENABLED	1UL

static inline unsigned long arch_local_save_flags(void)
{
	return hw.irq_on;
}
#define arch_local_save_flags arch_local_save_flags

static inline void arch_local_irq_restore(unsigned long flags)
{
	hw.irq_on = flags;
	if (flags && __builtin_expect(hw.clk >= hw.irq_due, 0))
		shim_irq_window();
}
#define arch_local_irq_restore arch_local_irq_restore

#include <asm-generic/irqflags.h>

#endif
