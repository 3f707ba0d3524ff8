/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_USER_H
#define _ASM_SIM_USER_H


#endif
