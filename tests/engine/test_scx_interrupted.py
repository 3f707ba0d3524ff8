"""sched_ext: operations and callbacks that are interrupted, so that others run before they end.

A scheduler that ends has no other errors (scx_bpf_error() does nothing): one that did not do what
it is for touches what it may not.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.helpers.engine.scx import loaded, with_scheduler
from tests.helpers.engine.simulator import Json

SLEEPS = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
struct { __uint(type, BPF_MAP_TYPE_RINGBUF); __uint(max_entries, 4096); } told SEC(".maps");
u64 interrupted, running;

static long turn(u32 i, void *context) { return 0; }

s32 BPF_STRUCT_OPS_SLEEPABLE(sleeps_init_task, struct task_struct *p, struct scx_init_task_args *a)
{
    u32 cpu = bpf_get_smp_processor_id();
    void *message;

    if (__sync_fetch_and_add(&running, 1)) __sync_fetch_and_add(&interrupted, 1);
    bpf_loop(1000000, turn, NULL, 0);
    message = bpf_ringbuf_reserve(&told, 8, 0);
    bpf_loop(1000000, turn, NULL, 0);
    if (message) bpf_ringbuf_discard(message, 0);
    bpf_loop(1000000, turn, NULL, 0);
    if (bpf_get_smp_processor_id() != cpu) scx_bpf_error("it goes on on another CPU");
    __sync_fetch_and_sub(&running, 1);
    return 0;
}

void BPF_STRUCT_OPS(sleeps_enqueue, struct task_struct *p, u64 enq_flags)
{
    scx_bpf_dsq_insert(p, SCX_DSQ_GLOBAL, 1000000, enq_flags);
}

void BPF_STRUCT_OPS(sleeps_exit, struct scx_exit_info *info)
{
    if (!interrupted) *(volatile u64 *)1000 = 0;
}

SCX_OPS_DEFINE(sleeps_ops, .init_task = (void *)sleeps_init_task,
               .enqueue = (void *)sleeps_enqueue, .exit = (void *)sleeps_exit, .name = "sleeps");
"""


def test_operations_that_are_preempted_are_counted_by_task(tmp_path: Path) -> None:
    """Each leaves with what it came with, and goes on where it was, as BPF's trampoline pins it."""
    source = tmp_path / "sleeps.bpf.c"
    source.write_text(SLEEPS)
    forks = {"count": 12, "program": [{"fork": True, "body": [{"run": "200us"}]}]}
    scenario: Json = {**loaded(source.name), "duration": "300ms"}
    scenario["tasks"] = [{"name": "forks", **forks}]
    done = with_scheduler(tmp_path, "7.3", str(source)).start("smp4", scenario)
    assert done.returncode == 0, done.stderr


CANCELS = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
struct kept { struct bpf_spin_lock lock; struct bpf_timer timer; u64 n; };
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, u32);
    __type(value, struct kept);
    __uint(max_entries, 1);
} keeps SEC(".maps");
u64 inside, waited, cancelled, cancelling;

static long turn(u32 i, void *context) { return 0; }

static int rings(void *map, u32 *key, struct kept *value)
{
    int i;

    inside = 1;
    bpf_for(i, 0, 300) {
        bpf_loop(1000, turn, NULL, 0);
        bpf_spin_lock(&value->lock);
        value->n++;
        bpf_spin_unlock(&value->lock);
    }
    inside = 0;
    return 0;
}

void BPF_STRUCT_OPS(cancels_enqueue, struct task_struct *p, u64 enq_flags)
{
    struct kept *value = bpf_map_lookup_elem(&keeps, &(u32){ 0 });
    u64 before = inside;
    long answer;

    scx_bpf_dispatch(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
    if (!value || __sync_fetch_and_or(&cancelling, 1)) return;
    if (++cancelled == 1) bpf_timer_init(&value->timer, &keeps, CLOCK_MONOTONIC);
    answer = bpf_timer_cancel(&value->timer);
    if (answer < 0) scx_bpf_error("cancelling answers %ld", answer);
    if (inside) scx_bpf_error("the callback still runs");
    if (before) waited++;
    if (bpf_timer_start(&value->timer, 100000, 0) != -EINVAL) scx_bpf_error("it has a callback");
    bpf_timer_set_callback(&value->timer, rings);
    if (bpf_timer_start(&value->timer, 100000, 0)) scx_bpf_error("it does not start");
    cancelling = 0;
}

void BPF_STRUCT_OPS(cancels_exit, struct scx_exit_info *info)
{
    if (info->kind == SCX_EXIT_UNREG && !waited) *(volatile u64 *)1000 = 0;
}

SCX_OPS_DEFINE(cancels_ops, .enqueue = (void *)cancels_enqueue, .exit = (void *)cancels_exit,
               .name = "cancels");
"""


def test_cancelling_a_timer_waits_for_its_callback(tmp_path: Path) -> None:
    """Of another CPU, which takes locks meanwhile; afterwards it has none until it gets one."""
    source = tmp_path / "cancels.bpf.c"
    source.write_text(CANCELS)
    done = with_scheduler(tmp_path, "6.12", str(source)).start("smp4", loaded(source.name))
    assert done.returncode == 0, done.stderr


def test_newer_kernels_refuse_to_cancel_a_timer_with_interrupts_off(tmp_path: Path) -> None:
    source = tmp_path / "cancels.bpf.c"
    source.write_text(CANCELS.replace("scx_bpf_dispatch", "scx_bpf_dsq_insert"))
    done = with_scheduler(tmp_path, "7.3", str(source)).start("smp4", loaded(source.name))
    assert done.returncode == 3
    assert "cancelling answers -95" in done.stderr


STARTS = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
struct kept { struct bpf_timer timer; };
struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, u32);
    __type(value, struct kept);
    __uint(max_entries, 1);
} keeps SEC(".maps");
u64 left, asked;

static long turn(u32 i, void *context) { return 0; }

static int rings(void *map, u32 *key, struct kept *value)
{
    u64 after = bpf_ktime_get_ns() - left;

    scx_bpf_error("it rings %s", after < 1000000 ? "at once" : after < 2000000 ? "1 ms later" : "late");
    return 0;
}

void BPF_STRUCT_OPS(starts_enqueue, struct task_struct *p, u64 enq_flags)
{
    struct kept *value = bpf_map_lookup_elem(&keeps, &(u32){ 0 });

    scx_bpf_dispatch(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags);
    if (!value || asked++) return;
    bpf_timer_init(&value->timer, &keeps, CLOCK_MONOTONIC);
    bpf_timer_set_callback(&value->timer, rings);
    bpf_timer_start(&value->timer, 500000, 0);
    bpf_timer_start(&value->timer, 1000000, 0);
    bpf_loop(1000000, turn, NULL, 0);
    left = bpf_ktime_get_ns();
}

SCX_OPS_DEFINE(starts_ops, .enqueue = (void *)starts_enqueue, .name = "starts");
"""


@pytest.mark.parametrize(("series", "said"), [("6.12", "at once"), ("7.3", "1 ms later")])
def test_newer_kernels_start_a_timer_when_interrupts_are_on_again(
    tmp_path: Path, series: str, said: str
) -> None:
    """The last one that was asked for counts."""
    insert = "scx_bpf_dispatch" if series == "6.12" else "scx_bpf_dsq_insert"
    source = tmp_path / "starts.bpf.c"
    source.write_text(STARTS.replace("scx_bpf_dispatch", insert))
    done = with_scheduler(tmp_path, series, str(source)).start("smp4", loaded(source.name))
    assert done.returncode == 3
    assert f"it rings {said}" in done.stderr
