/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_SPINLOCK_H
#define _ASM_SIM_SPINLOCK_H

#include <hw.h>

extern void shim_lock_slow(arch_spinlock_t *l);
extern int shim_lock_is_taken(arch_spinlock_t *l);
extern void shim_core_write(unsigned int cpu);

#define arch_spin_is_locked(l)		((l)->locked != 0)
#define arch_spin_is_contended(l)	0
#define arch_spin_value_unlocked(l)	(!(l).locked)

/*
 * The lock of a CPU's runqueue: under core scheduling it guards those of the CPU's siblings as
 * well.
 */
static inline void shim_rq_lock_write(unsigned int cpu)
{
	hw_rq_write(cpu);
	if (__builtin_expect(hw.core_sched, 0))
		shim_core_write(cpu);
}

static inline void arch_spin_lock(arch_spinlock_t *l)
{
	/* With no lock held, let the other CPUs catch up with this one's kernel time first. */
	if (!hw.held && hw.clk >= hw.catch_up)
		hw_catch_up();
	if (l->locked || l->last != hw.cpu + 1)
		shim_lock_slow(l);
	else
		l->acquired = hw.clk;
	if (l->home)
		shim_rq_lock_write(l->home - 1);
	l->locked = 1;
	hw.held++;
}

static inline int arch_spin_trylock(arch_spinlock_t *l)
{
	if (l->locked)
		return 0;
	if (l->last == hw.cpu + 1)
		l->acquired = hw.clk;
	else if (shim_lock_is_taken(l))
		return 0;
	else
		shim_lock_slow(l);
	if (l->home)
		shim_rq_lock_write(l->home - 1);
	l->locked = 1;
	hw.held++;
	return 1;
}

static inline void arch_spin_unlock(arch_spinlock_t *l)
{
	if (__builtin_expect(!l->locked, 0))
		hw_lock_imbalance(l);
	l->locked = 0;
	l->last = hw.cpu + 1;
	l->released = hw.clk;
	hw.held--;
}

static inline void arch_read_lock(arch_rwlock_t *l)
{
	while (l->value < 0)
		hw_spin();
	l->value++;
}

static inline void arch_read_unlock(arch_rwlock_t *l)
{
	l->value--;
}

static inline int arch_read_trylock(arch_rwlock_t *l)
{
	if (l->value < 0)
		return 0;
	l->value++;
	return 1;
}

static inline void arch_write_lock(arch_rwlock_t *l)
{
	while (l->value)
		hw_spin();
	l->value = -1;
}

static inline void arch_write_unlock(arch_rwlock_t *l)
{
	l->value = 0;
}

static inline int arch_write_trylock(arch_rwlock_t *l)
{
	if (l->value)
		return 0;
	l->value = -1;
	return 1;
}

#endif
