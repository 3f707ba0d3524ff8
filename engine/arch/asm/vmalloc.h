/* SPDX-License-Identifier: GPL-2.0-only */
/* Nothing is ever mapped into a vmalloc area. */
#ifndef _ASM_SIM_VMALLOC_H
#define _ASM_SIM_VMALLOC_H


#endif
