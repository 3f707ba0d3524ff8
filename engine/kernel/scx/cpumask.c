// SPDX-License-Identifier: GPL-2.0-only
/* Masks of CPUs, and the numbers of the bits of one. */
#include <linux/bpf.h>
#include <linux/cpumask.h>
#include "scx.h"

struct bpf_cpumask {			/* as in engine/bpf/more-types.h */
	cpumask_t	cpumask;
	int		usage;
};

struct bpf_cpumask *native_bpf_cpumask_create(void)
{
	struct bpf_cpumask *mask = shim_scx_alloc("a cpumask", sizeof(*mask));

	shim_scx_charge(hw_costs.lock);		/* of the allocator's list */
	mask->usage = 1;
	return mask;
}

struct bpf_cpumask *native_bpf_cpumask_acquire(struct bpf_cpumask *mask)
{
	shim_scx_check(mask, sizeof(*mask), true);
	shim_scx_charge(hw_costs.lock);
	mask->usage++;
	return mask;
}

void native_bpf_cpumask_release(struct bpf_cpumask *mask)
{
	shim_scx_check(mask, sizeof(*mask), true);
	shim_scx_charge(hw_costs.lock);
	if (!--mask->usage)
		shim_scx_free(mask);
}

/* Of the scheduler's own, and as long as it has it. */
static void check(const struct cpumask *mask, bool write)
{
	shim_scx_check(mask, cpumask_size(), write);
}

#define ASKS(type, name, args, params...)				\
type native_bpf_cpumask_##name(params);					\
type native_bpf_cpumask_##name(params) { return cpumask_##name args; }

#define CHANGES(type, name, args, params...)				\
type native_bpf_cpumask_##name(struct cpumask *to, ##params);		\
type native_bpf_cpumask_##name(struct cpumask *to, ##params)		\
{									\
	check(to, true);						\
	return cpumask_##name args;					\
}

ASKS(u32, first, (m), const struct cpumask *m)
ASKS(u32, first_zero, (m), const struct cpumask *m)
ASKS(u32, first_and, (a, b), const struct cpumask *a, const struct cpumask *b)
ASKS(bool, equal, (a, b), const struct cpumask *a, const struct cpumask *b)
ASKS(bool, intersects, (a, b), const struct cpumask *a, const struct cpumask *b)
ASKS(bool, subset, (a, b), const struct cpumask *a, const struct cpumask *b)
ASKS(bool, empty, (m), const struct cpumask *m)
ASKS(bool, full, (m), const struct cpumask *m)
ASKS(u32, any_distribute, (m), const struct cpumask *m)
ASKS(u32, any_and_distribute, (a, b), const struct cpumask *a, const struct cpumask *b)
ASKS(u32, weight, (m), const struct cpumask *m)

bool native_bpf_cpumask_test_cpu(u32 cpu, const struct cpumask *m)
{
	check(m, false);
	return cpu < nr_cpu_ids && cpumask_test_cpu(cpu, m);
}

/* Atomic operations. */
#define OF_CPU(type, name, otherwise)					\
type native_bpf_cpumask_##name(u32 cpu, struct cpumask *m);		\
type native_bpf_cpumask_##name(u32 cpu, struct cpumask *m)		\
{									\
	check(m, true);							\
	if (cpu >= nr_cpu_ids)						\
		return otherwise;					\
	shim_scx_charge(hw_costs.lock);					\
	return cpumask_##name(cpu, m);					\
}
OF_CPU(bool, test_and_set_cpu, false)
OF_CPU(bool, test_and_clear_cpu, false)
OF_CPU(void, set_cpu, )
OF_CPU(void, clear_cpu, )

CHANGES(void, setall, (to))
CHANGES(void, clear, (to))
CHANGES(bool, and, (to, a, b), const struct cpumask *a, const struct cpumask *b)
CHANGES(void, or, (to, a, b), const struct cpumask *a, const struct cpumask *b)
CHANGES(void, xor, (to, a, b), const struct cpumask *a, const struct cpumask *b)
CHANGES(void, copy, (to, from), const struct cpumask *from)

int native_bpf_cpumask_populate(struct cpumask *to, const void *from, size_t size)
{
	if (size < bitmap_size(nr_cpu_ids))
		return -EACCES;
	if (!IS_ALIGNED((unsigned long)from, sizeof(long)))
		return -EINVAL;
	check(to, true);
	bitmap_copy(cpumask_bits(to), from, nr_cpu_ids);
	return 0;
}

/* ------------------------------------------------------------------ bpf_for_each(bits, ...) */

struct bits {				/* in struct bpf_iter_bits */
	unsigned long	*copy;
	unsigned int	nr;
	int		bit;
};

int native_bpf_iter_bits_new(struct bits *it, const u64 *words, u32 nr)
{
	*it = (struct bits) { .bit = -1 };
	if (!words || !nr)
		return -EINVAL;
	if (nr > 511)
		return -E2BIG;
	it->copy = hw_zalloc(nr * sizeof(u64), 8);
	memcpy(it->copy, words, nr * sizeof(u64));
	it->nr = nr * 64;
	return 0;
}

int *native_bpf_iter_bits_next(struct bits *it)
{
	it->bit = it->nr ? find_next_bit(it->copy, it->nr, it->bit + 1) : 0;
	if (it->bit >= it->nr) {
		it->nr = 0;
		return NULL;
	}
	return &it->bit;
}

void native_bpf_iter_bits_destroy(struct bits *it)
{
	hw_free(it->copy);
}
