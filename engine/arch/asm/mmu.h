/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_MMU_H
#define _ASM_SIM_MMU_H

typedef struct {
	unsigned long dummy;
} mm_context_t;

#endif
