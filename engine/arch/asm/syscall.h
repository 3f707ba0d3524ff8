/* SPDX-License-Identifier: GPL-2.0-only */
/* System calls are plain function calls from the task's program. */
#ifndef _ASM_SIM_SYSCALL_H
#define _ASM_SIM_SYSCALL_H


#endif
