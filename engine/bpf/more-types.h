/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Types of kernel/bpf, which no linked source has: what a scheduler declares and engine/kernel/scx/
 * fills.
 */
#ifndef NATIVE_MORE_TYPES_H
#define NATIVE_MORE_TYPES_H

enum page_size_enum {
	__PAGE_SIZE	= 4096,
};
struct bpf_cpumask {
	cpumask_t	cpumask;
	int		usage;
};
struct bpf_iter_bits {
	__u64		__opaque[2];
} __attribute__((aligned(8)));
struct bpf_iter_css {
	__u64		__opaque[3];
} __attribute__((aligned(8)));

#endif
