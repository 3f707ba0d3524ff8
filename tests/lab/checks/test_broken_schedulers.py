"""Faults of sched_ext schedulers are found: by checks, and by where two variants part."""

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from schedlab.cli import schedlab
from schedlab.kernels.engine import SCHEDULERS
from tests.helpers import builds
from tests.helpers.kernel_source import kernel_source

SERIES = "6.12"
KERNEL = "6.12-full"
SOURCE = """
#include <scx/common.bpf.h>

char _license[] SEC("license") = "GPL";
const volatile u32 fault;

#define QUEUE 7
enum { CPU0_ONLY = 1, LATE_LAST = 2 };

s32 BPF_STRUCT_OPS(faulty_select_cpu, struct task_struct *p, s32 prev_cpu, u64 wake_flags)
{
    bool idle;

    return fault == CPU0_ONLY ? prev_cpu : scx_bpf_select_cpu_dfl(p, prev_cpu, wake_flags, &idle);
}

void BPF_STRUCT_OPS(faulty_enqueue, struct task_struct *p, u64 enq_flags)
{
    bool others = fault == LATE_LAST && p->comm[0] != 'l';

    scx_bpf_dispatch(p, others ? SCX_DSQ_GLOBAL : QUEUE, SCX_SLICE_DFL, enq_flags);
}

void BPF_STRUCT_OPS(faulty_dispatch, s32 cpu, struct task_struct *prev)
{
    if (fault != CPU0_ONLY || !cpu)
        scx_bpf_consume(QUEUE);
}

s32 BPF_STRUCT_OPS_SLEEPABLE(faulty_init)
{
    return scx_bpf_create_dsq(QUEUE, -1);
}

SCX_OPS_DEFINE(faulty_ops, .select_cpu = (void *)faulty_select_cpu,
               .enqueue = (void *)faulty_enqueue, .dispatch = (void *)faulty_dispatch,
               .init = (void *)faulty_init, .name = "faulty");
"""
CHECK = """
title = "A scheduler with a fault"
machines = ["smp4"]
kernels = ["6.12-full"]
settings = "scx={source}; scx-tunable fault={fault}"

[scenario]
duration = "2s"
groups = [{{ path = "/a" }}, {{ path = "/b", "cpu.weight" = "{weight}" }}]
[[scenario.tasks]]
name = "a"
group = "/a"
count = 4
program = [{{ run = "10s" }}]
[[scenario.tasks]]
name = "b"
group = "/b"
count = 4
program = [{{ run = "10s" }}]
[[scenario.tasks]]
name = "late"
program = [{{ run = "100us" }}, {{ sleep = "9ms" }}]

[[expect]]
that = "work-conservation"
waits = "50ms"
[[expect]]
that = "no-stall"
longest = "1s"
[[expect]]
that = "fairness"
tasks = "[ab]*"
within = 0.2
weights = {{ "a*" = 100, "b*" = {weight} }}
"""


@pytest.fixture
def source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not (kernel_source(SERIES) / SCHEDULERS).is_dir():
        pytest.skip(f"the tree was unpacked without {SCHEDULERS}")
    monkeypatch.setenv("SCHEDLAB_CACHE", str(builds.CACHE))
    file = tmp_path / "faulty.bpf.c"
    file.write_text(SOURCE)
    builds.with_scheduler(SERIES, str(file))
    assert builds.kernel_for_schedulers() == KERNEL
    return file


def test_each_fault_breaks_its_expectation_alone(source: Path, tmp_path: Path) -> None:
    """An idle CPU beside a queue with tasks, a task that never runs, groups' weights ignored."""

    def failed(fault: int, weight: int) -> set[str]:
        check = tmp_path / "faulty.toml"
        check.write_text(CHECK.format(source=source, fault=fault, weight=weight))
        done: Result = CliRunner().invoke(schedlab, ["check", str(check), "--no-reduce"])
        kinds = ("work-conservation", "no-stall", "fairness")
        assert "1 passed" in done.output or "1 failed" in done.output, done.output
        return {kind for kind in kinds if f"    {kind}: " in done.output}

    assert failed(0, 100) == set()
    assert "work-conservation" in failed(1, 100)
    assert failed(2, 100) == {"no-stall"}
    assert failed(0, 300) == {"fairness"}


ENDS = """
title = "A run ends where its scenario does"
machines = ["smp4"]
kernels = ["6.12-full"]
settings = "scx={source}; scx-tunable fault=1"

[scenario]
duration = "200ms"
[[scenario.tasks]]
name = "a"
count = 4
program = [{{ run = "10s" }}]

[[expect]]
that = "bandwidth"
tasks = "a*"
{bound} = {cpus}
"""


def test_a_schedulers_unloading_is_not_judged(source: Path, tmp_path: Path) -> None:
    """It takes some tens of milliseconds, in which the kernel schedules by itself."""
    check = tmp_path / "ends.toml"
    for bound, cpus, said in (("at_most", 1.001, "1 passed"), ("at_least", 1.1, "1 failed")):
        check.write_text(ENDS.format(source=source, bound=bound, cpus=cpus))
        done: Result = CliRunner().invoke(schedlab, ["check", str(check), "--no-reduce"])
        assert said in done.output, done.output
    assert "from 0 ns for 200 ms" in done.output


def test_two_schedulers_part_in_the_workload(source: Path) -> None:
    """What is decided while they are loaded is not compared: that differs always."""
    variants = (
        f"{name}: kernel={KERNEL}; scx={source}; scx-tunable fault={fault}"
        for name, fault in (("well", 0), ("faulty", 1))
    )
    run = ("--machine", "smp4", "--benchmark", "HackbenchPipeThreads:groups=1,loops=2")
    done = CliRunner().invoke(schedlab, ["diverge", *variants, *run])
    assert done.exit_code == 0, done.output
    assert "well and faulty part in " in done.output
    assert "before the workload" not in done.output


def test_eevdf_and_a_scheduler_part_in_the_workload(source: Path) -> None:
    variants = (f"eevdf: kernel={KERNEL}", f"well: kernel={KERNEL}; scx={source}")
    run = ("--machine", "smp4", "--benchmark", "HackbenchPipeThreads:groups=1,loops=2")
    done = CliRunner().invoke(schedlab, ["diverge", *variants, *run])
    assert done.exit_code == 0, done.output
    assert "eevdf and well part in " in done.output
    assert "before the workload" not in done.output
    assert "  eevdf: " in done.output
    assert "  well" in done.output


def test_a_report_says_what_a_scheduler_changes(source: Path, tmp_path: Path) -> None:
    """The times of tasks that explain a difference are counted under a scheduler too."""
    variants = (
        *("--variant", f"eevdf: kernel={KERNEL}"),
        *("--variant", f"faulty: kernel={KERNEL}; scx={source}; scx-tunable fault=1"),
    )
    run = ("--target", "sim:smp4", "--benchmark", "HackbenchPipeThreads:groups=1,loops=20")
    out = tmp_path / "out"
    asked = ["run", *run, *variants, "--blocks", "6", "--output", str(out)]
    done = CliRunner().invoke(schedlab, asked)
    assert done.exit_code == 0, done.output
    report = (out / "report.txt").read_text(encoding="utf-8")
    assert "worse" in report
    assert "waiting runnable while a CPU was idle" in " ".join(report.split())
