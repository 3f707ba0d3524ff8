"""sched_ext: a scheduler to which a test adds lines, and the scenarios that load one."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from schedlab.kernels.engine import SCHEDULERS
from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator
from tests.helpers.kernel_source import kernel_source

SERIES = "6.12"
PROGRAMS: Json = {
    "duration": "100ms",
    "tasks": [{"name": "busy", "count": 12, "program": [{"run": "3ms"}, {"sleep": "1ms"}]}],
}

MINIMAL = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
const volatile u64 divisor;
const volatile s8 small;
const volatile u32 wrong;
enum policy { FIRST, SECOND = 5, LAST = -1 };
const volatile enum policy policy;
const volatile u64 maps = 77, programs; const volatile struct { u32 a; } sq;
u64 slots[2], total; void bpf_preempt_disable(void) __ksym;
static __noinline u64 deep(u64 n) { total += n; return deep(n + 1) + total; }

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, u32);
    __type(value, u64);
    __uint(max_entries, 64);
} seen SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, u32);
    __type(value, u64);
    __uint(max_entries, 2);
} counts SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
    __type(key, u32);
    __type(value, u64);
    __uint(max_entries, 2);
} of_cpus SEC(".maps");

struct kept {
    struct bpf_spin_lock lock;
    struct bpf_timer timer;
    u64 n;
};

struct {
    __uint(type, BPF_MAP_TYPE_HASH);
    __type(key, u32);
    __type(value, struct kept);
    __uint(max_entries, 8);
} keeps SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_LRU_HASH);
    __type(key, u32);
    __type(value, u64);
    __uint(max_entries, 4);
} recent SEC(".maps");

struct {
    __uint(type, BPF_MAP_TYPE_QUEUE);
    __type(value, u32);
    __uint(max_entries, 2);
} last SEC(".maps"); struct {
    __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 4096); } told SEC(".maps");

static long turn(u32 i, void *context) { return 0; }
static long sums(void *map, u32 *key, u64 *value, u64 *sum) { *sum += *key + 1; return 0; }
static int rings(void *map, u32 *key, struct kept *value) { scx_bpf_error("it rings"); return 0; }

void BPF_STRUCT_OPS(mini_enqueue, struct task_struct *p, u64 enq_flags)
{
    @BODY@
    scx_bpf_dispatch(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
}

SCX_OPS_DEFINE(mini_ops, .enqueue = (void *)mini_enqueue, .timeout_ms = 1000U, .name = "mini");
"""

Made = Callable[[str], Simulator]


def need_schedulers(series: str) -> None:
    """Skip a test where the tree of a series has no schedulers."""
    if not (kernel_source(series) / SCHEDULERS).is_dir():
        pytest.skip(f"the tree was unpacked without {SCHEDULERS}")


def with_scheduler(scratch: Path, series: str, name: str, *below: str) -> Simulator:
    """Return the simulator of a series with a scheduler of its tree, or a file, and those below."""
    need_schedulers(series)
    return Simulator(builds.with_scheduler(series, name, *below), scratch)


def loaded(file: str, **tunables: str) -> Json:
    return {
        **PROGRAMS,
        "sched_ext": {"scheduler": file},
        **({"sched_ext_tunables": tunables} if tunables else {}),
    }
