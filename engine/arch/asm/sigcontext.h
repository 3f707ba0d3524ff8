/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_SIGCONTEXT_H
#define _ASM_SIM_SIGCONTEXT_H

struct sigcontext {
	unsigned long sp;
};

#endif
