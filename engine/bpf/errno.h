/* SPDX-License-Identifier: GPL-2.0-only */
/* The errors of the kernel tree, under the name that libc has for them. */
#include <asm-generic/errno.h>

#ifndef ENOTSUP
#define ENOTSUP	EOPNOTSUPP	/* of libc alone */
#endif
