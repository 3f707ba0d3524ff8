// SPDX-License-Identifier: GPL-2.0-only
/*
 * What schedulers tell their programs: ring buffers, which nobody reads here. And performance
 * counters, which no program has opened here.
 */
#include <linux/bpf.h>
#include "scx.h"

void *native_bpf_ringbuf_reserve(void *map, u64 size, u64 flags)
{
	return shim_scx_alloc("a message of a ring buffer", size);
}

void native_bpf_ringbuf_submit(void *message, u64 flags)
{
	shim_scx_free(message);
}

void native_bpf_ringbuf_discard(void *message, u64 flags)
{
	shim_scx_free(message);
}

long native_bpf_ringbuf_output(void *map, void *message, u64 size, u64 flags)
{
	shim_scx_check(message, size, false);
	return 0;
}

long native_bpf_perf_event_read_value(void *map, u64 flags, void *value, u32 size)
{
	shim_scx_check(value, size, true);
	memset(value, 0, size);
	return -ENOENT;
}
