"""sched_ext: schedulers of the tree and of a test's own, compiled natively and loaded by the kernel."""

from __future__ import annotations

import hashlib
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from schedlab.kernels import KernelError
from schedlab.kernels.engine import SCHEDULERS
from tests.helpers import builds
from tests.helpers.engine.simulator import Json, Simulator, machine
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
const volatile u64 maps = 77, programs;
u64 slots[2], total; void bpf_preempt_disable(void) __ksym;

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
} last SEC(".maps");

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


@pytest.fixture
def of_tree(tmp_path: Path) -> Made:
    """The simulator with a scheduler of the tree."""
    if not (kernel_source(SERIES) / SCHEDULERS).is_dir():
        pytest.skip(f"the tree was unpacked without {SCHEDULERS}")
    return lambda name: Simulator(builds.with_scheduler(SERIES, name), tmp_path)


@pytest.fixture
def of_source(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, of_tree: Made) -> Made:
    """The simulator with a scheduler whose enqueue() begins with some lines."""

    def make(body: str) -> Simulator:
        name = hashlib.sha256(body.encode()).hexdigest()[:8]
        source = tmp_path_factory.getbasetemp() / name / "mini.bpf.c"
        source.parent.mkdir(exist_ok=True)
        if not source.exists():
            source.write_text(MINIMAL.replace("@BODY@", body))
        return Simulator(builds.with_scheduler(SERIES, str(source)), tmp_path)

    return make


def loaded(file: str, **tunables: str) -> Json:
    return {
        **PROGRAMS,
        "sched_ext": {"scheduler": file},
        **({"sched_ext_tunables": tunables} if tunables else {}),
    }


def test_a_scheduler_of_the_tree_runs_everything_the_same_way_twice(of_tree: Made) -> None:
    sim = of_tree("simple")
    scenario = loaded("scx_simple.bpf.c", fifo_sched="1")
    first, second = sim("smt8", scenario), sim("smt8", scenario)
    assert first["trace_hash"] == second["trace_hash"]
    assert first["settings"]["sched_ext"] == "simple"
    assert first["settings"]["sched_ext fifo_sched"] == "1"
    ordered = sim("smt8", loaded("scx_simple.bpf.c"))
    assert ordered["trace_hash"] != first["trace_hash"]
    assert sim("smt8", PROGRAMS)["trace_hash"] not in (
        first["trace_hash"],
        ordered["trace_hash"],
    )


def test_a_build_with_a_scheduler_lists_its_files(of_tree: Made) -> None:
    """Those of /sys that can be read: sched_ext's own lie beside them."""
    sim = of_tree("simple")
    command = [str(sim.binary), "--machine", str(sim.machine("smt8")), "--print-files"]
    files = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert "/sys/devices/system/cpu/" in files
    assert "/sys/kernel/sched_ext" not in files


def test_central_runs_everything_the_same_way_twice(of_tree: Made) -> None:
    """Threads of the kernel and init are found by their pids as well as the scenario's tasks."""
    sim = of_tree("central")
    first = sim("smt8", loaded("scx_central.bpf.c"))
    assert first["trace_hash"] == sim("smt8", loaded("scx_central.bpf.c"))["trace_hash"]
    assert first["metrics"]["utilisation"] > 0.9
    done = sim.start("smp4", loaded("scx_central.bpf.c", central_cpu="4"))
    assert done.returncode == 2
    assert "its tunable central_cpu is 4; the machine has CPUs 0 to 3" in done.stderr


SET_UP = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
const volatile bool smt_enabled, numa_enabled = true;
const volatile u64 preferred_cpus[1024], cpu_capacity[1024];
volatile s64 cpufreq_perf_lvl;
u32 primary = 100, beside_1;

SEC("syscall")
int enable_primary_cpu(s32 *cpu)
{
    primary = *cpu < 0 ? 0 : primary + 1;
    return 0;
}

SEC("syscall")
int enable_sibling_cpu(s32 *cpus)
{
    if (cpus[0] == 1) beside_1 = cpus[1];
    return cpus[0] == 5;
}

void BPF_STRUCT_OPS(bpfland_enqueue, struct task_struct *p, u64 enq_flags)
{
    scx_bpf_error("%d primary, %d beside 1, smt %d, numa %d, %d first, 0 has %d, level %d",
                  primary, beside_1, smt_enabled, numa_enabled, (int)preferred_cpus[0],
                  (int)cpu_capacity[0], (int)cpufreq_perf_lvl);
}

SCX_OPS_DEFINE(bpfland_ops, .enqueue = (void *)bpfland_enqueue, .name = "bpfland");
"""


def test_a_known_scheduler_is_set_up_as_by_its_own_program(tmp_path: Path, of_tree: Made) -> None:
    (tmp_path / "main.bpf.c").write_text(SET_UP)
    sim = of_tree(str(tmp_path / "main.bpf.c"))

    def said(described: Json) -> str:
        done = sim.start(described, loaded("main.bpf.c"))
        [line] = [line for line in done.stderr.splitlines() if line.startswith("schedsim: ")]
        return line

    small = machine("biglittle-6")
    assert "6 primary, 0 beside 1, smt 0, numa 0, 4 first, 0 has 462, level 1024" in said(small)
    refused = said(machine("smt8"))
    assert "main.bpf.c: its program enable_sibling_cpu() answers 1 for CPU 5" in refused


COSTS = ("bpf_op", "bpf_call", "bpf_hash", "bpf_storage", "bpf_blocks_per_1000")


def test_the_schedulers_code_takes_time(of_tree: Made) -> None:
    sim = of_tree("simple")

    def spent(described: Json, **ns: int) -> int:
        costs = {**dict.fromkeys(COSTS, 0), **ns}
        described["cost"].update((cost, f"{costs[cost]}ns") for cost in COSTS)
        result = sim(described, loaded("scx_simple.bpf.c"))
        return int(result["counters"]["cost:bpf_ns"])

    smt8 = machine("smt8")
    assert spent(smt8) == 0
    operations, calls = spent(smt8, bpf_op=1), spent(smt8, bpf_call=1)
    assert operations > 500
    assert 0 < calls < operations
    assert spent(smt8, bpf_blocks_per_1000=1000) > operations
    assert spent(smt8, bpf_storage=1) == 0
    # Of its calls, those that name its own dispatch queue look for it.
    assert 0 < spent(smt8, bpf_hash=1) < calls
    assert sim("smt8", loaded("scx_simple.bpf.c"))["counters"]["cost:bpf_ns"] > 10 * operations
    assert sim("smt8", PROGRAMS)["counters"]["cost:bpf_ns"] == 0


def test_what_maps_cost_is_by_their_kind(of_source: Made) -> None:
    sim = of_source(
        "u32 k = p->pid; u64 one = 1; bpf_map_update_elem(&seen, &k, &one, BPF_ANY);"
        " u64 *v = bpf_map_lookup_elem(&seen, &k); if (v) (*v)++;"
        " k = 1; v = bpf_map_lookup_elem(&counts, &k); if (v) (*v)++;"
    )

    def spent(**ns: int) -> int:
        described = machine("smt8")
        costs = {**dict.fromkeys(COSTS, 0), "lock": 0, **ns}
        described["cost"].update((cost, f"{value}ns") for cost, value in costs.items())
        result = sim(described, {**loaded("mini.bpf.c"), "duration": "20ms"})
        return int(result["counters"]["cost:bpf_ns"])

    operations = spent(bpf_op=1)
    assert spent() == 0
    # An update looks for its key, and takes the bucket's lock; the array is no call.
    assert spent(bpf_hash=1) == 2 * operations
    assert spent(lock=1) >= operations
    assert spent(bpf_call=1) == 3 * operations


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("fifo", "1", "scx_simple.bpf.c has no tunable of that name; it has "),
        ("fifo_sched", "maybe", '"maybe" is not a value of its type'),
    ],
)
def test_a_tunable_is_checked(of_tree: Made, name: str, value: str, said: str) -> None:
    sim = of_tree("simple")
    done = sim.start("smp4", loaded("scx_simple.bpf.c", **{name: value}))
    assert done.returncode == 2
    assert f"sched_ext_tunables.{name}: " in done.stderr
    assert said in done.stderr


def test_another_scheduler_than_the_builds_is_refused(of_tree: Made) -> None:
    done = of_tree("simple").start("smp4", loaded("scx_qmap.bpf.c"))
    assert done.returncode == 2
    assert "this build of the simulator has scx_simple.bpf.c" in done.stderr


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
"""


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (
            1,
            "the scheduler writes 8 bytes at offset 8 of a value of map counts, which has 8 bytes"
            " in mini_enqueue() (mini.bpf.c:69)",
        ),
        (2, "address 0: a NULL pointer in mini_enqueue() (mini.bpf.c:70)"),
        (3, "no room of 3"),
        (4, 'BPF scheduler "mini" disabled (runnable task stall'),
        (
            5,
            "the scheduler does not come to an end: 33,554,432 pieces of code in one operation"
            " in mini_enqueue() (mini.bpf.c:73)",
        ),
        (7, "comes with preemption off held 0 times and leaves with 1 in mini_enqueue()"),
        (8, "the scheduler takes a spinlock that it holds in mini_enqueue() (mini.bpf.c:80)"),
        (9, "of task_struct: the kernel lets it write scx.slice, scx.dsq_vtime and scx.disallow"),
        (10, "and was freed in mini_enqueue() (mini.bpf.c:"),
        (11, "the scheduler releases a task that it did not acquire in mini_enqueue()"),
        (12, "reads 8 bytes at address 0: a NULL pointer in mini_enqueue() (mini.bpf.c:89)"),
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


def test_operations_and_calls_are_events_of_a_trace(of_tree: Made, tmp_path: Path) -> None:
    """And a trace changes nothing."""
    sim, trace = of_tree("simple"), tmp_path / "trace"
    scenario = {**loaded("scx_simple.bpf.c"), "duration": "5ms"}
    options = ("--trace", str(trace), "--trace-events", "scx_*")
    told = sim("smp4", scenario, *options)["trace_hash"]
    assert told == sim("smp4", scenario)["trace_hash"]
    whole = sim("smp4", scenario, "--trace", str(tmp_path / "whole"))["trace_hash"]
    assert whole == told  # and what it does while it is unloaded is traced
    text = trace.read_text()
    assert "scx_op: name=select_cpu p=2 prev_cpu=0 wake_flags=0x4" in text
    assert "scx_answer: name=select_cpu answer=" in text
    assert re.search(
        r"scx_call: name=scx_bpf_dispatch p=2 dsq_id=0x\w+ slice=0x1312d00 enq_f", text
    )


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

    A loop of more turns than the kernel takes makes none. The fields of a scheduler's own
    declaration of a structure lie where the kernel has them, if it has them.
    """
    body = (
        "u32 k = p->pid; u64 v = k / divisor + k % divisor;"
        " bpf_map_update_elem(&seen, &k, &v, BPF_ANY);"
        " u64 *w = bpf_map_lookup_elem(&seen, &k);"
        ' if (!w || *w != k) scx_bpf_error("%llu", w ? *w : 0);'
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
    sim = Simulator(builds.with_scheduler("7.3", str(tmp_path / "mini.bpf.c")), tmp_path)
    done = sim.start("smp4", loaded("mini.bpf.c"))
    assert done.returncode == 2
    assert "schedsim: sched_ext: " in done.stderr
    assert said in done.stderr


@pytest.mark.parametrize(
    ("map_", "said"),
    [
        ("__uint(type, 7); __type(key, u32); __uint(max_entries, 2);", "maps of type 7 (enum"),
        ("__uint(type, 1); __type(key, u32); __uint(max_entries, 2);", "not make it: value: miss"),
    ],
    ids=["kind", "value"],
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
            "mini.bpf.c: calls bpf_made_up in mini_enqueue() (mini.bpf.c:66), which is not a"
            " function that this kernel or the simulator has for schedulers",
        ),
        ("not_declared(p);", "implicit declaration of function"),
        ("volatile double half = p->pid; half /= 2;", "mini.bpf.c:66"),
        ('asm volatile("goto +1");', "mini.bpf.c:66: no such instruction: `goto +1'"),
    ],
    ids=["source", "kfunc", "implicit", "fraction", "assembly"],
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


@pytest.mark.parametrize(
    ("series", "name"),
    [
        *(("7.2", name) for name in ("qmap", "pair")),  # the others are the files of 7.3
        *(("7.3", name) for name in ("simple", "central", "flatcg", "qmap", "cpu0", "sdt", "pair")),
    ],
)
def test_the_schedulers_of_younger_trees_run_everything_the_same_way_twice(
    tmp_path: Path, series: str, name: str
) -> None:
    """Of qmap the operations are sched_ext_ops_cid, and it and sdt keep all in an arena.

    7.2's qmap uses a CPU when something else has woken there, and cpu0 none but the first.
    """
    if not (kernel_source(series) / SCHEDULERS).is_dir():
        pytest.skip(f"the tree was unpacked without {SCHEDULERS}")
    sim = Simulator(builds.with_scheduler(series, name), tmp_path)
    scenario = {**loaded(f"scx_{name}.bpf.c"), "background": True, "duration": "3s"}
    first, second = (sim("smt8", scenario) for _ in range(2))
    assert first["trace_hash"] == second["trace_hash"]
    assert first["settings"]["sched_ext"] == name
    assert (first["metrics"]["utilisation"] > 0.5) == (name != "cpu0")


MOVES = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

void BPF_STRUCT_OPS(moves_cgroup_move, struct task_struct *p, struct cgroup *from, struct cgroup *to)
{
    scx_bpf_error("%s moves", p->comm);
}

SCX_OPS_DEFINE(moves_ops, .cgroup_move = (void *)moves_cgroup_move, .name = "moves");
"""


def test_a_move_to_another_group_is_told_to_the_scheduler(tmp_path: Path) -> None:
    if not (kernel_source("7.3") / SCHEDULERS).is_dir():
        pytest.skip(f"the tree was unpacked without {SCHEDULERS}")
    (tmp_path / "moves.bpf.c").write_text(MOVES)
    sim = Simulator(builds.with_scheduler("7.3", str(tmp_path / "moves.bpf.c")), tmp_path)
    moved: Json = {
        "groups": [{"path": "/a"}],
        "actions": [{"at": "50ms", "task": "busy*", "group": "/a"}],
    }
    done = sim.start("smp4", {**loaded("moves.bpf.c"), **moved})
    assert done.returncode == 3
    assert re.search(r'"moves" disabled \(scx_bpf_error\): .*busy\d+ moves', done.stderr)


def in_groups(below: Json, *weights: int) -> Json:
    """A root qmap's scenario: groups a, b, ... of four tasks each, and its sub-schedulers."""
    names = "abcdef"[: len(weights)]
    program = [{"run": "3ms"}, {"sleep": "1ms"}]
    return {
        "duration": "600ms",
        "groups": [
            {"path": f"/{name}", "cpu.weight": str(weight)}
            for name, weight in zip(names, weights, strict=True)
        ],
        "tasks": [
            {"name": name, "count": 4, "group": f"/{name}", "program": program} for name in names
        ],
        "sched_ext": {"scheduler": "scx_qmap.bpf.c"},
        "sched_ext_below": below,
    }


def cpu_seconds(result: Json, group: str) -> float:
    of_group = (each for each in result["tasks"] if re.fullmatch(rf"{group}\d", each["name"]))
    return sum(float(each["runtime_ns"]) for each in of_group) / 1e9


def test_a_sub_scheduler_has_the_cpus_that_its_parent_grants(tmp_path: Path) -> None:
    """Of four CPUs qmap hands out as many as a group's weight is of all, its own being 100.

    A task that moves into the group is initialised by the sub-scheduler and runs there.
    """
    if not (kernel_source("7.3") / SCHEDULERS).is_dir():
        pytest.skip(f"the tree was unpacked without {SCHEDULERS}")
    sim = Simulator(builds.with_scheduler("7.3", "qmap", "qmap"), tmp_path)
    one = {"/a": "scx_qmap.bpf.c"}
    for weight, share in ((100, 2), (300, 3)):
        first, second = (sim("smp4", in_groups(one, weight, 100)) for _ in range(2))
        assert first["trace_hash"] == second["trace_hash"]
        assert first["settings"]["sched_ext /a"] == "scx_qmap.bpf.c"
        assert cpu_seconds(first, "a") == pytest.approx(0.6 * share, rel=0.05)
        assert cpu_seconds(first, "b") == pytest.approx(0.6 * (4 - share), rel=0.05)
    trace = tmp_path / "trace.txt"
    moved = {"actions": [{"at": "50ms", "task": "b1", "group": "/a"}]}
    options = ("--trace", str(trace), "--trace-events", "scx_op")
    sim("smp4", {**in_groups(one, 300, 100), **moved}, *options)
    pid = next(each["pid"] for each in first["tasks"] if each["name"] == "b1")
    seen = trace.read_text()
    assert re.search(rf"scx_op: name=exit_task p={pid}\b", seen)
    assert re.search(rf"scx_op: name=/a:init_task p={pid}\b", seen)
    assert re.search(rf"scx_op: name=/a:enqueue p={pid}\b", seen)


def test_a_sub_scheduler_without_a_parent_for_it_is_refused(tmp_path: Path, of_tree: Made) -> None:
    if not (kernel_source("7.3") / SCHEDULERS).is_dir():
        pytest.skip(f"the tree was unpacked without {SCHEDULERS}")
    sim = Simulator(builds.with_scheduler("7.3", "qmap", "qmap"), tmp_path)
    for below, said in (
        ({"/nowhere": "scx_qmap.bpf.c"}, "the scenario has no group of this path"),
        ({"/a": "scx_simple.bpf.c"}, "this build of the simulator has scx_qmap.bpf.c there"),
        (
            {"/a": "scx_qmap.bpf.c", "/b": "scx_qmap.bpf.c"},
            "this build of the simulator has none there",
        ),
    ):
        done = sim.start("smp4", in_groups(below, 100, 100))
        assert done.returncode == 2
        assert said in done.stderr
    sim = Simulator(builds.with_scheduler("7.3", "simple", "qmap"), tmp_path)
    scenario = in_groups({"/a": "scx_qmap.bpf.c"}, 100)
    done = sim.start("smp4", {**scenario, "sched_ext": {"scheduler": "scx_simple.bpf.c"}})
    assert done.returncode != 0
    assert "the kernel does not load scx_qmap.bpf.c: Operation not supported" in done.stderr
    sim = Simulator(builds.with_scheduler("6.12", "qmap", "qmap"), tmp_path)
    done = sim.start("smp4", in_groups({"/a": "scx_qmap.bpf.c"}, 100))
    assert done.returncode == 2
    assert "this kernel has no sub-schedulers of sched_ext; Linux has them from 7.3" in done.stderr


FORKS: Json = {
    "workloads": [{"kind": "hackbench", "groups": 1, "fds": 1, "loops": 1, "pipe": True}]
}

EXIT = """
void BPF_STRUCT_OPS(mini_exit, struct scx_exit_info *ei)
{
    u32 k = 1;
    u64 *v = bpf_map_lookup_elem(&counts, &k);

    if (v) v[wrong == 1] = ei->kind;
}

s32 BPF_STRUCT_OPS(mini_init_task, struct task_struct *p, struct scx_init_task_args *args)
{
    return wrong == 2 && args->fork ? -ENOMEM : 0;
}

SCX_OPS_DEFINE(mini_ops, .exit = (void *)mini_exit, .init_task = (void *)mini_init_task,
"""


def test_it_is_unloaded_when_the_run_is_over(tmp_path: Path, of_tree: Made) -> None:
    with_exit = MINIMAL.replace("SCX_OPS_DEFINE(mini_ops,", EXIT).replace("@BODY@", "")
    (tmp_path / "mini.bpf.c").write_text(with_exit)
    sim = of_tree(str(tmp_path / "mini.bpf.c"))
    sim("smp4", loaded("mini.bpf.c"))
    done = sim.start("smp4", loaded("mini.bpf.c", wrong="1"))
    assert done.returncode == 3
    assert "at offset 8 of a value of map counts, which has 8 bytes in mini_exit()" in done.stderr
    done = sim.start("smp4", {**loaded("mini.bpf.c", wrong="2"), **FORKS})
    assert done.returncode == 3
    assert "init_task() of the scheduler refuses a task that" in done.stderr


def test_a_source_has_headers_of_its_own_beside_it(tmp_path: Path, of_source: Made) -> None:
    (tmp_path / "own.h").write_text("#define OWN 7\n")
    own = tmp_path / "own.h"
    sim = of_source(f'\n#include "{own}"\nif (p->pid > 0) scx_bpf_error("%d", OWN);')
    done = sim.start("smp4", loaded("mini.bpf.c"))
    assert done.returncode == 3
    assert '"mini" disabled (scx_bpf_error): 7' in done.stderr
