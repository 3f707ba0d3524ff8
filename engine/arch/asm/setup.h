/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_SETUP_H
#define _ASM_SIM_SETUP_H

#define COMMAND_LINE_SIZE	512

#endif
