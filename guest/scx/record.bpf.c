/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Written into the kernel's trace, at the begin and end of one operation of a sched_ext scheduler:
 * its number, and its arguments or answer; of tasks their pids. Loaded once for each operation.
 */
#include "vmlinux.h"
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/bpf_core_read.h>

#define MOST	4

char _license[] SEC("license") = "GPL";
const volatile unsigned int operation, nr_arguments;
const volatile char kinds[MOST + 1];	/* t: a task, p: another pointer, else a number */

/* A program of struct_ops has one argument: where the operation's are. */
static u64 argument(void *ctx, unsigned int nr)
{
	struct task_struct *p;
	u64 arguments, value = 0;

	if (nr >= nr_arguments || nr >= MOST || kinds[nr] == 'p' || bpf_get_func_arg(ctx, 0, &arguments))
		return 0;
	bpf_probe_read_kernel(&value, sizeof(value), (u64 *)arguments + nr);
	if (kinds[nr] != 't')
		return value;
	p = (struct task_struct *)value;
	return p ? BPF_CORE_READ(p, pid) : 0;
}

SEC("fentry")
int begins(void *ctx)
{
	bpf_printk("scx begins %u %llx %llx %llx %llx", operation, argument(ctx, 0), argument(ctx, 1), argument(ctx, 2),
		   argument(ctx, 3));
	return 0;
}

SEC("fexit")
int ends(void *ctx)
{
	u64 answer = 0;

	bpf_get_func_ret(ctx, &answer);
	bpf_printk("scx ends %u %llx", operation, answer);
	return 0;
}
