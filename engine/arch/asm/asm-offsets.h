/* SPDX-License-Identifier: GPL-2.0-only */
/* No assembly of ours looks into kernel structures. */
#ifndef _ASM_SIM_ASM_OFFSETS_H
#define _ASM_SIM_ASM_OFFSETS_H


#endif
