/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_MMU_CONTEXT_H
#define _ASM_SIM_MMU_CONTEXT_H

struct mm_struct;
struct task_struct;

#include <asm-generic/mm_hooks.h>

/* Address spaces have no page tables here; the cost of a switch is in the schedule cost. */
static inline void switch_mm(struct mm_struct *prev, struct mm_struct *next,
			     struct task_struct *tsk)
{
}

#include <asm-generic/mmu_context.h>

#endif
