/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_IRQ_WORK_H
#define _ASM_SIM_IRQ_WORK_H

/* A CPU interrupts itself for it (kernel/ipi.c) through the function-call vector. */
static inline bool arch_irq_work_has_interrupt(void)
{
	return true;
}

extern void arch_irq_work_raise(void);

#endif
