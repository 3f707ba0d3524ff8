/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_UNISTD_H
#define _ASM_SIM_UNISTD_H

#include <uapi/asm-generic/unistd.h>
#define NR_syscalls	__NR_syscalls

#endif
