"""sched_ext: what a scheduler's program may do, and what ends a run or is refused by name."""

from __future__ import annotations

from pathlib import Path

import pytest

from schedlab.kernels import KernelError
from tests.helpers.engine.scx import MINIMAL, PROGRAMS, Made, loaded, with_scheduler
from tests.helpers.engine.simulator import Json

WRONG = """
    u32 k = 1, none = 7;
    u64 *v = bpf_map_lookup_elem(&counts, &k), *w = bpf_map_lookup_elem(&counts, &none);
    if (wrong == 1 && v) v[1] = 3;
    if (wrong == 2) (*w)++;
    if (wrong == 3) scx_bpf_error("no %s of %d", "room", 3);
    if (wrong == 4) return;
    if (wrong == 5) for (volatile u32 i = 1; i; i |= 1) ;
    if (wrong == 6 && total++ > 100) return;
    if (wrong == 7) bpf_preempt_disable();
    if (wrong == 8) {
        struct kept one = {}, *here;
        bpf_map_update_elem(&keeps, &k, &one, BPF_ANY);
        here = bpf_map_lookup_elem(&keeps, &k);
        if (here) { bpf_spin_lock(&here->lock); bpf_spin_lock(&here->lock); }
    }
    if (wrong == 9) ((volatile struct task_struct *)p)->static_prio = 139;
    if (wrong == 10) {
        struct bpf_cpumask *mask = bpf_cpumask_create();
        bpf_cpumask_release(mask);
        bpf_cpumask_release(mask);
    }
    if (wrong == 11) bpf_task_release(p);
    if (wrong == 12) bpf_map_update_elem(&counts, &k, NULL, BPF_ANY);
    if (wrong == 14) slots[wrong] = 1;
    if (wrong == 15) ARRAY_ELEM_PTR(slots, wrong, 2)[0] = 1;
    if (wrong == 13) scx_bpf_kick_cpu(bpf_get_smp_processor_id() ^ 1, SCX_KICK_WAIT);
    extern void bpf_of_another_kernel(void) __ksym __weak; u64 zero = 0;
    if (wrong == 16) bpf_of_another_kernel();
    if (wrong == 17) bpf_cpumask_clear((struct bpf_cpumask *)p->cpus_ptr);
    extern struct rq runqueues __ksym; struct rq *rq = bpf_per_cpu_ptr(&runqueues, 0);
    if (wrong == 19) ((volatile struct rq *)rq)->nr_running = 7;
    if (wrong == 20) v = bpf_map_lookup_percpu_elem(&of_cpus, &k, 4000), *v = 1;
    if (wrong == 21) v = bpf_map_lookup_percpu_elem(&of_cpus, &k, 0), v[1] = 1;
    if (wrong == 22) bpf_rcu_read_unlock();
    if (wrong == 18 && v) bpf_snprintf((char *)v, 64, "%llu", &zero, sizeof(zero));
    if (wrong == 23) deep(1);
    if (wrong == 24) *(volatile u64 *)0xdeadbeef0000 = 1;
    if (wrong == 25) total = *(volatile u64 *)0x10000000000;
    if (wrong == 26) bpf_strncmp(NULL, 4, "abc");
    if (wrong == 27) bpf_ringbuf_reserve(&told, 8, 0);
    if (wrong == 28) bpf_ringbuf_submit(slots, 0);
    if (wrong == 29) scx_bpf_dispatch((struct task_struct *)0xdeadbeef0000, 1, 1, 0);
    if (wrong == 30 && !total++) {
        struct kept one = {}, *here;
        bpf_map_update_elem(&keeps, &k, &one, BPF_ANY);
        here = bpf_map_lookup_elem(&keeps, &k);
        if (here) {
            bpf_timer_init(&here->timer, &keeps, 1);
            bpf_timer_set_callback(&here->timer, rings);
            bpf_timer_start(&here->timer, 1000000000, 0);
        }
    }
    if (wrong == 31 || wrong == 32 || wrong > 40) {
        struct kept one = {}, *here, *other;
        u32 next = 2;
        bpf_map_update_elem(&keeps, &k, &one, BPF_ANY);
        bpf_map_update_elem(&keeps, &next, &one, BPF_ANY);
        here = bpf_map_lookup_elem(&keeps, &k);
        other = bpf_map_lookup_elem(&keeps, &next);
        if (!here || !other) return;
        bpf_spin_lock(&here->lock);
        if (wrong == 31) total = bpf_ktime_get_ns();
        if (wrong == 32) bpf_spin_lock(&other->lock);
        if (wrong == 41) v = bpf_map_lookup_elem(&counts, &k);
        if (wrong == 42) total = bpf_get_smp_processor_id();
        if (wrong == 44) bpf_for(k, 0, 1) total++;
        bpf_spin_unlock(&here->lock);
    }
    void (*volatile nothing)(void) = NULL;
    if (wrong == 33) nothing();
    if (wrong == 34) ((void (*)(void))0xdead0000)();
    if (wrong == 35) __builtin_unreachable();
    if (wrong == 36 && v) ((volatile s64 *)v)[-(int)wrong / 36] = 1;
    static const u64 fixed[2] = { 1, 2 };
    if (wrong == 37) *(volatile u64 *)&divisor = 1;
    if (wrong == 38) *(volatile u64 *)&fixed[wrong % 2] = 1;
    if (wrong == 39) bpf_probe_read_kernel((void *)&maps, 8, &total);
    if (wrong == 40) __sync_fetch_and_add((u64 *)&programs, 1);
    static struct bpf_list_head list; static struct bpf_rb_root tree;
    if (wrong == 43) bpf_list_pop_front(&list);
    if (wrong == 45) bpf_rbtree_first(&tree);
"""


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            1,
            "the scheduler writes 8 bytes at offset 8 of a value of map counts, which has 8 bytes"
            " in mini_enqueue() (mini.bpf.c:71)",
        ),
        (2, "address 0: a NULL pointer in mini_enqueue() (mini.bpf.c:72)"),
        (3, "no room of 3"),
        (
            4,
            "s: mini_enqueue() (mini.bpf.c:67) got it and nothing dispatched it since",
        ),
        (
            5,
            "the scheduler does not come to an end: 33554432 pieces of code in one operation"
            " in mini_enqueue() (mini.bpf.c:75)",
        ),
        (7, "comes with preemption off held 0 times and leaves with 1 in mini_enqueue()"),
        (8, "the scheduler takes a spinlock that it holds in mini_enqueue() (mini.bpf.c:82)"),
        (9, "of task_struct: the kernel lets it write scx.slice, scx.dsq_vtime and scx.disallow"),
        (10, "and was freed in mini_enqueue() (mini.bpf.c:"),
        (11, "the scheduler releases a task that it did not acquire in mini_enqueue()"),
        (12, "reads 8 bytes at address 0: a NULL pointer in mini_enqueue() (mini.bpf.c:91)"),
        (14, "the scheduler uses index 14 of an array of type 'u64 [2]' in mini_enqueue() (mini"),
        (15, "writes 8 bytes at address 0: a NULL pointer in mini_enqueue()"),
        (16, "the scheduler calls a kfunc that this kernel does not have in mini_enqueue() (mini"),
        (17, "bytes at offset "),
        (18, "the scheduler writes 64 bytes at offset 0 of a value of map counts, which has 8"),
        (
            19,
            "the scheduler writes 4 bytes to the kernel's per-CPU memory, such as a runqueue in mini",
        ),
        (20, "writes 8 bytes at address 0: a NULL pointer in mini_enqueue() (mini"),
        (
            21,
            "writes 8 bytes at offset 8 of a value of map of_cpus, which has 8 bytes in mini_enqueue",
        ),
        (22, "comes with RCU's read lock held 0 times and leaves with -1 in mini_enqueue()"),
        (13, "hard lockup: a CPU waits for another one with interrupts off"),
        (23, "32 functions of its own in each other (BPF: 8) in mini_enqueue() (mini.bpf.c:12)"),
        (24, "writes 8 bytes at the unmapped address 0xdeadbeef0000 in mini_enqueue() (mini"),
        (25, "the scheduler uses the unmapped address 0x10000000000 in mini_enqueue() (mini"),
        (26, "reads 4 bytes at address 0: a NULL pointer in mini_enqueue() (mini"),
        (
            27,
            "comes with a message of a ring buffer held 0 times and leaves with 1 in mini_enqueue",
        ),
        (28, "a message that it has not reserved in mini_enqueue() (mini.bpf.c:"),
        (29, "what the scheduler calls uses a wild pointer in mini_enqueue() (mini.bpf.c:"),
        (31, "calls bpf_ktime_get_ns() with a spinlock held, where the kernel's verifier refuses"),
        (32, "takes a spinlock while it holds another one in mini_enqueue() (mini.bpf.c:"),
        (33, "the scheduler calls a NULL pointer in mini_enqueue() (mini.bpf.c:138)"),
        (34, "calls address 0xdead0000, where no function is in mini_enqueue() (mini.bpf.c:139)"),
        (35, "__builtin_trap()) in mini_enqueue() (mini.bpf.c:140)"),
        (36, "writes 8 bytes at offset -8 of a value of map counts, which has 8 bytes in mini"),
        (
            37,
            "the scheduler writes to a constant, which a kernel has made read-only in"
            " mini_enqueue() (mini.bpf.c:143)",
        ),
        (38, "the scheduler writes to a constant, which a kernel has made read-only in mini"),
        (39, "what the scheduler calls writes to a constant, which a kernel has made read-only in"),
        (40, "writes to a constant, which a kernel has made read-only in mini_enqueue() (mini"),
        (41, "calls bpf_map_lookup_elem() with a spinlock held, where the kernel's verifier"),
        (42, "calls bpf_get_smp_processor_id() with a spinlock held, where the kernel's verifier"),
        (43, "calls bpf_list_pop_front() with no spinlock held, where the kernel's verifier"),
        (44, "calls bpf_iter_num_new() with a spinlock held, where the kernel's verifier refuses"),
        (45, "calls bpf_rbtree_first() with no spinlock held, where the kernel's verifier"),
    ],
    ids=[
        "beyond",
        "null",
        "error",
        "stall",
        "endless",
        "preemption",
        "lock",
        "kernel",
        "freed",
        "released",
        "argument",
        "index",
        "checked",
        "weak",
        "mask",
        "text",
        "runqueue",
        "CPU",
        "per CPU",
        "unlock",
        "lockup",
        "recursion",
        "wild write",
        "wild read",
        "helper",
        "reference",
        "message",
        "kfunc",
        "call with a lock",
        "lock with a lock",
        "NULL function",
        "wild function",
        "unreachable",
        "before",
        "tunable",
        "constant",
        "helper's constant",
        "atomic constant",
        "lookup with a lock",
        "CPU with a lock",
        "list without a lock",
        "loop with a lock",
        "tree without a lock",
    ],
)
def test_what_the_scheduler_does_wrong_ends_the_run_by_name(
    of_source: Made, wrong: int, said: str
) -> None:
    scenario = {**loaded("mini.bpf.c", wrong=str(wrong)), "duration": "5s"}
    done = of_source(WRONG).start("smp4", scenario)
    assert done.returncode == 3, done.stderr
    [line] = [line for line in done.stderr.splitlines() if line.startswith("schedsim: ")]
    assert said in line


def test_a_failure_that_the_kernel_does_not_come_to_handle_ends_the_run(of_source: Made) -> None:
    """Its thread waits for real-time tasks, which nothing throttles, for ever."""
    hog = {"policy": "fifo", "priority": 99, "count": 4, "program": [{"run": "1000s"}]}
    scenario = {
        **loaded("mini.bpf.c", wrong="30"),
        "duration": "2s",
        "knobs": {"/proc/sys/kernel/sched_rt_runtime_us": "-1"},
        "tasks": [*PROGRAMS["tasks"], {"name": "hog", **hog}],
    }
    done = of_source(WRONG).start("smp4", scenario)
    assert done.returncode == 3
    assert "the scheduler has failed, and the kernel has not removed it in 60 s" in done.stderr


NEVER = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
const volatile bool has_timer, has_queue, cancels;
struct kept { struct bpf_timer timer; };

struct {
    __uint(type, BPF_MAP_TYPE_ARRAY);
    __type(key, u32);
    __type(value, struct kept);
    __uint(max_entries, 1);
} keeps SEC(".maps");

static int rings(void *map, u32 *key, struct kept *value)
{
    if (cancels) scx_bpf_error("cancelling answers %ld", bpf_timer_cancel(&value->timer));
    return bpf_timer_start(&value->timer, 10000000, 0);
}

s32 BPF_STRUCT_OPS(never_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
    return prev_cpu;
}

void BPF_STRUCT_OPS(never_enqueue, struct task_struct *p, u64 enq_flags)
{
    if (has_queue) scx_bpf_dispatch(p, 7, SCX_SLICE_DFL, enq_flags);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(never_init)
{
    struct kept *value = bpf_map_lookup_elem(&keeps, &(u32){ 0 });

    if (value && has_timer) {
        bpf_timer_init(&value->timer, &keeps, CLOCK_MONOTONIC);
        bpf_timer_set_callback(&value->timer, rings);
        bpf_timer_start(&value->timer, 10000000, 0);
    }
    return scx_bpf_create_dsq(7, -1);
}

SCX_OPS_DEFINE(never_ops, .select_cpu = (void *)never_select_cpu,
               .enqueue = (void *)never_enqueue, .init = (void *)never_init, .name = "never");
"""


@pytest.mark.parametrize(
    ("series", "tunables", "said"),
    [
        (
            "6.12",
            {},
            " s: never_enqueue() (never.bpf.c:27) got it and nothing dispatched it since",
        ),
        ("6.12", {"has_timer": "1"}, "nothing dispatched it since"),
        (
            "6.12",
            {"has_queue": "1"},
            "queue 0x7, and there is no dispatch() that moves it to a CPU",
        ),
        ("6.12", {"has_timer": "1", "cancels": "1"}, "cancelling answers -35"),
        ("7.3", {}, "never_enqueue() (never.bpf.c:27) got it and nothing dispatched it since"),
    ],
    ids=["nothing", "timer", "queue", "cancelled", "newer"],
)
def test_a_scheduler_that_lets_nobody_run_is_ended_by_the_kernels_watchdog(
    tmp_path: Path, series: str, tunables: Json, said: str
) -> None:
    """Though init, and the watchdog itself, wait for it, and all CPUs are idle without ticks."""
    insert = "scx_bpf_dispatch" if series == "6.12" else "scx_bpf_dsq_insert"
    (tmp_path / "never.bpf.c").write_text(NEVER.replace("scx_bpf_dispatch", insert))
    sim = with_scheduler(tmp_path, series, str(tmp_path / "never.bpf.c"))
    done = sim.start("smp4", loaded("never.bpf.c", **tunables))
    assert done.returncode == 3
    [line] = [line for line in done.stderr.splitlines() if line.startswith("schedsim: ")]
    assert said in line
    assert ("watchdog failed to check in for 30.0" in line) == ("cancels" not in tunables)


LEGAL = """
    static u32 n;
    u32 k = ++n, i; u64 one = 1, *v;
    volatile u16 none16 = 0; volatile u8 none8 = 0; volatile s64 least = 1LL << 63, minus = -1;
    volatile u16 by16; volatile u8 by8, rest8;
    struct kept fresh = { .n = 3 }, *w;

    if (bpf_map_update_elem(&recent, &k, &one, BPF_ANY)) scx_bpf_error("%u do not fit", n);
    if (n > 4 && bpf_map_lookup_elem(&recent, &(u32){ n - 4 })) scx_bpf_error("the oldest stays");
    bpf_map_update_elem(&seen, &k, &one, BPF_ANY);
    v = bpf_map_lookup_elem(&seen, &k);
    bpf_map_delete_elem(&seen, &k);
    if (!v || *v != 1) scx_bpf_error("what is deleted goes at once");
    if (bpf_loop(1 << 24, turn, NULL, 0) != -E2BIG) scx_bpf_error("loops too often");
    if (bpf_loop(1, turn, NULL, 7) != -EINVAL) scx_bpf_error("loops with flags");
    by16 = (u16)k / none16; by8 = (u8)k / none8; rest8 = (u8)k % none8;
    if (by16 || by8 || rest8 != (u8)k) scx_bpf_error("narrow");
    if (least / minus != least) scx_bpf_error("the least number");
    if (!bpf_probe_read_kernel(&one, 8, (void *)0xffff888000001000)) scx_bpf_error("reads");
    u64 sum = 0; struct bpf_iter_num it; int *number, numbers = 0; u32 popped = 0;
    if (bpf_for_each_map_elem(&counts, sums, &sum, 0) != 2 || sum != 3) scx_bpf_error("each");
    bpf_iter_num_new(&it, 3, 6);
    while ((number = bpf_iter_num_next(&it))) numbers += *number;
    bpf_iter_num_destroy(&it);
    if (numbers != 12) scx_bpf_error("numbers %d", numbers);
    void *first = bpf_ringbuf_reserve(&told, 4072, 0), *second = bpf_ringbuf_reserve(&told, 8, 0);
    if (!first || second || bpf_ringbuf_output(&told, slots, 8, 0) != -EAGAIN
        || bpf_ringbuf_query(&told, 0) != 4080) scx_bpf_error("its buffer is not full");
    if (second) bpf_ringbuf_discard(second, 0);
    if (first) bpf_ringbuf_submit(first, 0);
    if (bpf_ringbuf_query(&told, 0) || bpf_ringbuf_output(&told, slots, 8, 0)
        || bpf_ringbuf_reserve(&told, 4096, 0)) scx_bpf_error("its reader does not read");
    for (i = 1; i < 4; i++) bpf_map_push_elem(&last, &i, BPF_EXIST);
    bpf_map_pop_elem(&last, &popped); if (popped != 2) scx_bpf_error("the oldest stays there");
    if (bpf_map_push_elem(&last, &i, 77) != -EINVAL) scx_bpf_error("flags");
    if (bpf_map_update_elem(&seen, &k, &one, 77) != -EINVAL) scx_bpf_error("flags of an update");
    for (i = 100; n == 2 && i < 70100; i++) {
        bpf_map_update_elem(&keeps, &i, &fresh, BPF_ANY);
        w = bpf_map_lookup_elem(&keeps, &i);
        if (w) { bpf_spin_lock(&w->lock); bpf_spin_unlock(&w->lock); }
        bpf_map_delete_elem(&keeps, &i);
    }
    if (maps != 5 || programs || policy != LAST) scx_bpf_error("%llu %d", maps, policy);
    i = 1;
    bpf_map_update_elem(&keeps, &i, &fresh, BPF_ANY);
    w = bpf_map_lookup_elem(&keeps, &i);
    if (w && n == 1) {
        bpf_timer_init(&w->timer, &keeps, 1);
        bpf_timer_set_callback(&w->timer, rings);
        bpf_timer_start(&w->timer, 50000000, 0);
    }
    if (w && n == 2 && bpf_timer_init(&w->timer, &keeps, 1)) scx_bpf_error("the timer stays");
    if (n == 20) bpf_map_delete_elem(&keeps, &i);
    if (n > 20) bpf_map_update_elem(&counts, &(u32){ 0 }, &one, BPF_ANY);
    if (n >= 20) { scx_bpf_dispatch(p, SCX_DSQ_GLOBAL, SCX_SLICE_DFL, enq_flags); return; }
"""


def test_what_bpf_allows_is_allowed(of_source: Made) -> None:
    """Narrow divisions, evictions, reading what was deleted, timers that go with their value.

    And names that the simulator's own tables have, and those of an enumeration's numbers.
    """
    legal = LEGAL.replace("    i = 1;", "    if (n > 20) goto done;\n    i = 1;").replace(
        "    if (n > 20) bpf", "done:\n    if (n > 20) bpf"
    )
    scenario = loaded("mini.bpf.c", maps="05", policy="LAST")
    settings = of_source(legal)("smp4", scenario)["settings"]
    assert settings["sched_ext"] == "mini"
    assert (settings["sched_ext maps"], settings["sched_ext policy"]) == ("5", "-1")


def test_a_workload_that_is_done_while_the_scheduler_is_taken_away_counts_as_failed(
    of_source: Made,
) -> None:
    """From the stall on the kernel runs all tasks by itself: this one then ends at once."""
    scenario = {
        **loaded("mini.bpf.c", wrong="6"),
        "tasks": [],
        "duration": "60s",
        "workloads": [{"kind": "hackbench", "groups": 1, "fds": 20, "loops": 100, "pipe": True}],
        "end": {"when": "workloads_done", "max_simulated": "60s"},
    }
    done = of_source(WRONG).start("smt8", scenario)
    assert done.returncode == 3, done.stderr
    assert 'schedsim: sched_ext: BPF scheduler "mini" disabled (runnable task stall' in done.stderr


def test_divisions_versions_loops_and_flavours_are_as_bpf_has_them(of_source: Made) -> None:
    """Dividing by zero gives zero, and what was divided; natively it would be a signal.

    Also where the compiler sees that the divisor is zero.

    A loop of more turns than the kernel takes makes none. The fields of a scheduler's own
    declaration of a structure lie where the kernel has them, if it has them.
    """
    body = (
        "u32 k = p->pid; u64 v = k / divisor + k % divisor;"
        " bpf_map_update_elem(&seen, &k, &v, BPF_ANY);"
        " u64 *w = bpf_map_lookup_elem(&seen, &k);"
        ' if (!w || *w != k) scx_bpf_error("%llu", w ? *w : 0);'
        " u64 by = 0, seen_zero = k; const u64 none = 0; if (divisor == 77) by = 5;"
        " seen_zero /= none; seen_zero += k / by + (k % by - k);"
        ' if (seen_zero) scx_bpf_error("%llu of zeros", seen_zero);'
        " extern int LINUX_KERNEL_VERSION __kconfig;"
        ' if (LINUX_KERNEL_VERSION >> 8 != 0x60c) scx_bpf_error("%d", LINUX_KERNEL_VERSION);'
        " int i, turns = 0; bpf_for(i, 0, (1 << 23) + 1) turns++;"
        ' bpf_repeat(3) turns++; if (turns != 3) scx_bpf_error("%d turns", turns);'
        " struct rq___mine { u64 clock_task; u64 unheard_of; }"
        " __attribute__((preserve_access_index));"
        " extern struct rq runqueues __ksym; struct rq *rq = bpf_per_cpu_ptr(&runqueues, 0);"
        " struct rq___mine *mine = (void *)rq;"
        " if (mine->clock_task != rq->clock_task || !bpf_core_field_exists(mine->clock_task)"
        ' || bpf_core_field_exists(mine->unheard_of)) scx_bpf_error("%llu", mine->clock_task);'
    )
    result = of_source(body)("smp4", loaded("mini.bpf.c", small="-3"))
    assert result["settings"]["sched_ext small"] == "-3"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (".sub_cgroup_id = 55,", "mini.bpf.c has sub_cgroup_id 55: name the group instead"),
        (".timeout_ms = 60000U,", "does not load mini.bpf.c: Argument list too long (timeout_ms)"),
    ],
    ids=["sub", "timeout"],
)
def test_what_the_operations_ask_for_in_vain_is_refused(
    tmp_path: Path, given: str, said: str
) -> None:
    source = MINIMAL.replace(".timeout_ms = 1000U,", given).replace(
        "scx_bpf_dispatch", "scx_bpf_dsq_insert"
    )
    (tmp_path / "mini.bpf.c").write_text(source.replace("@BODY@", ""))
    sim = with_scheduler(tmp_path, "7.3", str(tmp_path / "mini.bpf.c"))
    done = sim.start("smp4", loaded("mini.bpf.c"))
    assert done.returncode == 2
    assert "schedsim: sched_ext: " in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("map_", "said"),
    [
        ("__uint(type, 7); __type(key, u32); __uint(max_entries, 2);", "maps of type 7 (enum"),
        ("__uint(type, 1); __type(key, u32); __uint(max_entries, 2);", "not make it: value: miss"),
        ("__uint(type, 27); __uint(max_entries, 6000);", "max_entries: bytes, a power of two of"),
        (
            "__uint(type, 2); __type(key, u32); __type(value, u64);"
            " __uint(max_entries, 0xffffffff);",
            "too large to be simulated: 4294967295 entries of 8 bytes",
        ),
        (
            "__uint(type, 1); __type(key, u32); __type(value, u64);"
            " __uint(max_entries, 0xfffffffe);",
            "too large to be simulated: 4294967294 entries of 8 bytes",
        ),
    ],
    ids=["kind", "value", "ring", "array", "hash"],
)
def test_a_map_that_is_not_made_is_refused(
    tmp_path: Path, of_tree: Made, map_: str, said: str
) -> None:
    source = MINIMAL.replace(
        "static long turn", f'struct {{ {map_} }} odd SEC(".maps");\nstatic long turn'
    )
    (tmp_path / "mini.bpf.c").write_text(source.replace("@BODY@", ""))
    done = of_tree(str(tmp_path / "mini.bpf.c")).start("smp4", loaded("mini.bpf.c"))
    assert done.returncode == 2
    assert "schedsim: sched_ext: mini.bpf.c: map odd: " in done.stderr
    assert said in done.stderr


def test_a_scheduler_of_some_tasks_is_refused(tmp_path: Path, of_tree: Made) -> None:
    """No task has its policy: what is simulated would be EEVDF."""
    partial = MINIMAL.replace(".name =", ".flags = SCX_OPS_SWITCH_PARTIAL, .name =")
    (tmp_path / "mini.bpf.c").write_text(partial.replace("@BODY@", ""))
    done = of_tree(str(tmp_path / "mini.bpf.c")).start("smp4", loaded("mini.bpf.c"))
    assert done.returncode == 2
    assert "mini.bpf.c has SCX_OPS_SWITCH_PARTIAL" in done.stderr


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("total = p->unheard_of;", "mini.bpf.c does not compile against"),
        (
            "extern void bpf_made_up(void) __ksym; bpf_made_up();",
            "mini.bpf.c: calls bpf_made_up in mini_enqueue() (mini.bpf.c:68), which is not a"
            " function that this kernel or the simulator has for schedulers",
        ),
        (
            "int bpf_res_spin_lock(u32 *lock) __ksym; bpf_res_spin_lock((u32 *)&total);",
            "calls bpf_res_spin_lock in mini_enqueue() (mini.bpf.c:68), which is not a function",
        ),
        ("not_declared(p);", "implicit declaration of function"),
        ("volatile double half = p->pid; half /= 2;", "mini.bpf.c:68"),
        ('asm volatile("r1 = 5");', 'mini.bpf.c:68: "r1 = 5" is assembly, and schedulers are'),
        ('} asm("nop"); void f(void) {', 'mini.bpf.c:68: "nop" is assembly, and schedulers are'),
        ("volatile u64 a[1024] = {};", "mini.bpf.c:70: the frame size of "),
        ("volatile u64 a[p->pid]; a[0] = 1;", "mini.bpf.c:68: ISO C90 forbids variable length"),
        ("volatile char *a = __builtin_alloca(p->pid); *a = 1;", "mini.bpf.c:68: use of "),
    ],
    ids=[
        "source",
        "kfunc",
        "newer kfunc",
        "implicit",
        "fraction",
        "assembly",
        "file's assembly",
        "frame",
        "array's frame",
        "alloca",
    ],
)
def test_what_cannot_be_built_is_refused_by_name(of_source: Made, body: str, said: str) -> None:
    with pytest.raises(KernelError) as error:
        of_source(body)
    assert said in str(error.value)


ARENA = """
struct {
    __uint(type, BPF_MAP_TYPE_ARENA);
    __uint(map_flags, BPF_F_MMAPABLE);
    __uint(max_entries, 16);
} arena SEC(".maps");

void *bpf_arena_alloc_pages(void *map, void *at, u32 pages, int node, u64 flags) __ksym;
void bpf_arena_free_pages(void *map, void *at, u32 pages) __ksym;

u64 *first;

s32 BPF_STRUCT_OPS_SLEEPABLE(mini_init)
{
    u64 *second;

    first = bpf_arena_alloc_pages(&arena, NULL, 2, -1, 0);
    second = bpf_arena_alloc_pages(&arena, NULL, 1, -1, 0);
    if (!first || second != first + 1024 || bpf_arena_alloc_pages(&arena, NULL, 14, -1, 0))
        return -ENOMEM;
    first[1023] = 7;
    bpf_arena_free_pages(&arena, first, 2);
    if (bpf_arena_alloc_pages(&arena, NULL, 2, -1, 0) != first || first[1023])
        return -EINVAL;
    return 0;
}

SCX_OPS_DEFINE(mini_ops, .enqueue = (void *)mini_enqueue, .init = (void *)mini_init,
"""


def test_an_arena_has_the_pages_that_are_taken(tmp_path: Path, of_tree: Made) -> None:
    with_arena = MINIMAL.replace("SCX_OPS_DEFINE(mini_ops, .enqueue = (void *)mini_enqueue,", ARENA)
    ends = "if (wrong) first[1536] = 1;"
    (tmp_path / "mini.bpf.c").write_text(
        with_arena.replace("total; void", "total; extern u64 *first; void").replace("@BODY@", ends)
    )
    sim = of_tree(str(tmp_path / "mini.bpf.c"))
    assert sim("smp4", loaded("mini.bpf.c"))["settings"]["sched_ext"] == "mini"
    done = sim.start("smp4", loaded("mini.bpf.c", wrong="1"))
    assert done.returncode == 3
    assert "writes 8 bytes at offset 12288 of its arena, of a page that it did not" in done.stderr
