/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_BYTEORDER_H
#define _ASM_SIM_BYTEORDER_H

#include <linux/byteorder/little_endian.h>

#endif
