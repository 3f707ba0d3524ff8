/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_SPINLOCK_TYPES_H
#define _ASM_SIM_SPINLOCK_TYPES_H

/*
 * A lock remembers who had it last (to fetch its line from there) and the
 * interval of its last holding, so that CPUs which arrive inside it in
 * simulated time wait, although the host ran the holder to its end.
 */
#ifdef SHIM_KERNELS_LAYOUT	/* scripts/rq-lines.c: as large as the kernel's own */
typedef struct {
	unsigned int	locked:1, last:11, home:11, acquired:4, released:5;
} arch_spinlock_t;
#else
typedef struct {
	unsigned char	locked;
	unsigned short	last;		/* CPU number + 1 of the last holder */
	unsigned short	home;		/* CPU number + 1 whose runqueue this lock guards */
	unsigned long long acquired; /* simulated ns; of the first in an unbroken row of holders */
	unsigned long long released;
} arch_spinlock_t;
#endif
#define __ARCH_SPIN_LOCK_UNLOCKED	{ 0 }

typedef struct {
	int value;			/* readers, or -1 for a writer */
} arch_rwlock_t;
#define __ARCH_RW_LOCK_UNLOCKED		{ 0 }

#endif
