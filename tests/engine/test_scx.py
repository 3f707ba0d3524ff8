"""sched_ext: schedulers of the tree and of a test's own, compiled natively and loaded by the kernel."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from tests.helpers.engine.scx import MINIMAL, PROGRAMS, Made, loaded, with_scheduler
from tests.helpers.engine.simulator import Json, machine


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


def test_a_schedulers_variables_begin_a_page(of_tree: Made) -> None:
    """Which of them share a cache line would be decided by what they are linked with."""
    names = subprocess.run(
        ["nm", str(of_tree("qmap").binary)], capture_output=True, text=True, check=True
    ).stdout
    begins = re.findall(r"^(\w+) \w __start_scx_(?:data|bss|rodata)$", names, re.MULTILINE)
    assert len(begins) == 3
    assert not any(int(begin, 16) % 4096 for begin in begins)
    at = {
        name: int(place, 16) for place, name in re.findall(r"^(\w+) \w (\w+)$", names, re.MULTILINE)
    }
    assert at["__start_scx_rodata"] <= at["slice_ns"] < at["__stop_scx_rodata"]


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


IMMEDIATE = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";

void BPF_STRUCT_OPS(beerland_enqueue, struct task_struct *p, u64 enq_flags)
{
    if (enq_flags & SCX_ENQ_REENQ) scx_bpf_error("it comes back");
    scx_bpf_dsq_insert(p, SCX_DSQ_LOCAL, SCX_SLICE_DFL, enq_flags);
}

SCX_OPS_DEFINE(beerland_ops, .enqueue = (void *)beerland_enqueue, .name = "beerland");
"""


def test_beerland_gets_tasks_back_that_do_not_run_at_once(tmp_path: Path) -> None:
    """By a flag that its program sets, SCX_OPS_ALWAYS_ENQ_IMMED; another name has none."""
    for name, said in (("beerland", "it comes back"), ("other", "")):
        source = tmp_path / f"{name}.bpf.c"
        source.write_text(IMMEDIATE.replace("beerland_ops", f"{name}_ops"))
        done = with_scheduler(tmp_path, "7.3", str(source)).start("smp4", loaded(source.name))
        assert (done.returncode == 0) == (not said)
        assert said in done.stderr


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
    assert f"scx-tunable {name}: " in done.stderr
    assert said in done.stderr


def test_a_structure_is_no_tunable(of_source: Made) -> None:
    sim = of_source("total += sq.a;")
    done = sim.start("smp4", loaded("mini.bpf.c", sq="3"))
    assert done.returncode == 2
    said = "scx-tunable sq: mini.bpf.c has a structure of that name, whose type cannot be set"
    assert said in done.stderr


def test_another_scheduler_than_the_builds_is_refused(of_tree: Made) -> None:
    done = of_tree("simple").start("smp4", loaded("scx_qmap.bpf.c"))
    assert done.returncode == 2
    assert "this build of the simulator has scx_simple.bpf.c" in done.stderr


def test_operations_and_calls_are_events_of_a_trace(of_tree: Made, tmp_path: Path) -> None:
    """And a trace changes nothing, and ends where the scenario does: it is unloaded after that."""
    sim, trace = of_tree("simple"), tmp_path / "trace"
    scenario = {**loaded("scx_simple.bpf.c"), "duration": "5ms"}
    options = ("--trace", str(trace), "--trace-events", "scx_*")
    told = sim("smp4", scenario, *options)["trace_hash"]
    assert told == sim("smp4", scenario)["trace_hash"]
    whole = sim("smp4", scenario, "--trace", str(tmp_path / "whole"))["trace_hash"]
    assert whole == told
    for file in (trace, tmp_path / "whole"):
        times = re.findall(r" (\d+\.\d{9}): ", file.read_text())
        assert 0.004 < float(times[-1]) <= 0.005
    text = trace.read_text()
    assert re.search(r"scx_op: name=select_cpu p=2 prev_cpu=[01] wake_flags=0x4\b", text)
    assert "scx_answer: name=select_cpu answer=" in text
    assert re.search(
        r"scx_call: name=scx_bpf_dispatch p=2 dsq_id=0x\w+ slice=0x1312d00 enq_f", text
    )


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
    sim = with_scheduler(tmp_path, series, name)
    # Long enough for the timers of a second that some of them have.
    scenario = {**loaded(f"scx_{name}.bpf.c"), "background": True, "duration": "1100ms"}
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
    (tmp_path / "moves.bpf.c").write_text(MOVES)
    sim = with_scheduler(tmp_path, "7.3", str(tmp_path / "moves.bpf.c"))
    moved: Json = {
        "groups": [{"path": "/a"}],
        "actions": [{"at": "50ms", "task": "busy*", "group": "/a"}],
    }
    done = sim.start("smp4", {**loaded("moves.bpf.c"), **moved})
    assert done.returncode == 3
    assert re.search(r'"moves" disabled \(scx_bpf_error\): .*busy\d+ moves', done.stderr)


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
