/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_PTRACE_H
#define _ASM_SIM_PTRACE_H

struct pt_regs {
	unsigned long ip;
	unsigned long sp;
	int user;		/* the interrupt hit user mode (or a halted CPU: 0) */
};

#define user_mode(r)			((r)->user)
#define instruction_pointer(r)		((r)->ip)
#define user_stack_pointer(r)		((r)->sp)
#define profile_pc(r)			((r)->ip)
#define arch_has_single_step()		0

static inline int regs_irqs_disabled(struct pt_regs *regs) { return 0; }
static inline long regs_return_value(struct pt_regs *regs) { return 0; }
static inline int is_syscall_success(struct pt_regs *regs) { return 1; }

#endif
