/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * With PREEMPT_DYNAMIC the model is switched by static keys, as on arm64: their branches cost
 * nothing here.
 */
#ifndef _ASM_SIM_PREEMPT_H
#define _ASM_SIM_PREEMPT_H

#include <asm-generic/preempt.h>

#ifdef CONFIG_PREEMPT_DYNAMIC
#include <linux/jump_label.h>

DECLARE_STATIC_KEY_TRUE(sk_dynamic_irqentry_exit_cond_resched);
void dynamic_preempt_schedule(void);
void dynamic_preempt_schedule_notrace(void);
#undef __preempt_schedule
#undef __preempt_schedule_notrace
#define __preempt_schedule()		dynamic_preempt_schedule()
#define __preempt_schedule_notrace()	dynamic_preempt_schedule_notrace()
#endif

#endif
