/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef _ASM_SIM_SPINLOCK_H
#define _ASM_SIM_SPINLOCK_H

#include <hw.h>

extern void sim_lock_slow(arch_spinlock_t *l);
extern int sim_lock_is_taken(arch_spinlock_t *l);
extern void sim_core_write(unsigned int cpu);

#define arch_spin_is_locked(l)		((l)->locked != 0)
#define arch_spin_is_contended(l)	0
#define arch_spin_value_unlocked(l)	(!(l).locked)

/* The lock of a CPU's runqueue: under core scheduling it guards those of the CPU's siblings as well. */
static inline void sim_rq_lock_write(unsigned int cpu)
{
	sim_rq_write(cpu);
	if (__builtin_expect(sim.core_sched, 0))
		sim_core_write(cpu);
}

static inline void arch_spin_lock(arch_spinlock_t *l)
{
	/* With no lock held, let the other CPUs catch up with this one's kernel time first. */
	if (!sim.held && sim.clk >= sim.catch_up)
		sim_catch_up();
	if (l->locked || l->last != sim.cpu + 1)
		sim_lock_slow(l);
	else
		l->acquired = sim.clk;
	if (l->home)
		sim_rq_lock_write(l->home - 1);
	l->locked = 1;
	sim.held++;
}

static inline int arch_spin_trylock(arch_spinlock_t *l)
{
	if (l->locked)
		return 0;
	if (l->last == sim.cpu + 1)
		l->acquired = sim.clk;
	else if (sim_lock_is_taken(l))
		return 0;
	else
		sim_lock_slow(l);
	if (l->home)
		sim_rq_lock_write(l->home - 1);
	l->locked = 1;
	sim.held++;
	return 1;
}

static inline void arch_spin_unlock(arch_spinlock_t *l)
{
	if (__builtin_expect(!l->locked, 0))
		sim_lock_imbalance(l);
	l->locked = 0;
	l->last = sim.cpu + 1;
	l->released = sim.clk;
	sim.held--;
}

static inline void arch_read_lock(arch_rwlock_t *l)
{
	while (l->value < 0)
		sim_spin();
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
		sim_spin();
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
