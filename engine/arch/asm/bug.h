/* SPDX-License-Identifier: GPL-2.0-only */
/* WARN and BUG are findings about the scheduler under test: they end the run as a failure. */
#ifndef _ASM_SIM_BUG_H
#define _ASM_SIM_BUG_H

#include <hw.h>

#define HAVE_ARCH_BUG
#define BUG()			hw_bug(__FILE__, __LINE__, __func__)
#define __WARN_FLAGS(f...)		hw_warn(__FILE__, __LINE__, __func__)

#include <asm-generic/bug.h>

#undef __WARN
#define __WARN()		hw_warn(__FILE__, __LINE__, __func__)

#endif
