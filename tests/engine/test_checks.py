"""Broken schedulers are caught: the engine's checks are themselves checked, on patched builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from conftest import Json, Simulator
from test_build import patched_build

LOAD: Json = {
    "duration": "3s",
    "tasks": [{"name": "t", "count": 8, "program": [{"run": "2ms"}, {"sleep": "1ms"}]}],
}

# what is broken, where (a pattern of the source and its replacement), what the engine says, in order
BROKEN = [
    (
        "warn",
        r"(void sched_tick\(void\)\n\{(?:.*\n)*?\tsched_clock_tick\(\);\n)",
        r"\1\tWARN_ON_ONCE(rq->nr_running > 1 && sim.clk > 500000000ULL);\n",
        [
            "kernel WARNING at kernel/sched/core.c",
            "simulated time 0.5",
            "CPU ",
            "task t",
            "in the kernel:",
            "    sched_tick",
            "    hrtimer_interrupt+0x",
            "called by task t",
            "    program_main+0x",
            "resumed by ",
        ],
    ),
    (
        "lost",
        r"(ttwu_do_activate\(.*\n.*\n\{\n)",
        r"\1\tif (p->pid == 5 && sim.clk > 500000000ULL) { WRITE_ONCE(p->__state, TASK_RUNNING); return; }\n",
        [
            "a runnable task is on no queue: task t4/5",
            "found by:",
            "    kern_check+0x",
            "called by the engine's loop:",
            "    main+0x",
            "task t4 is stopped in the kernel:",
            "    schedule+0x",
            "    kern_sleep+0x",
            "called by the task:",
            "    program_main+0x",
        ],
    ),
    (
        "count",
        r"(void sched_tick\(void\)\n\{(?:.*\n)*?\tsched_clock_tick\(\);\n)",
        r"\1\tif (sim.clk > 500000000ULL) rq->nr_running++;\n",
        ["nr_running is not the sum of its classes on CPU", "CPU ", " runs ", "in the kernel:"],
    ),
    (
        "hang",
        r"(void sched_tick\(void\)\n\{(?:.*\n)*?\tsched_clock_tick\(\);\n)",
        r"\1\twhile (sim.clk > 500000000ULL) barrier();\n",
        ["no event for 10 s of CPU time", "    sched_tick+0x", "called by task t", "resumed by "],
    ),
]


@pytest.mark.parametrize(
    ("name", "pattern", "replacement", "messages"), BROKEN, ids=[b[0] for b in BROKEN]
)
def test_broken_scheduler_is_caught(
    tmp_path: Path, name: str, pattern: str, replacement: str, messages: list[str]
) -> None:
    binary = patched_build(
        "6.12", f"broken-{name}", tmp_path, "kernel/sched/core.c", pattern, replacement
    )
    run = Simulator(binary, tmp_path).start("smp4", LOAD)
    assert run.returncode == 3, run.stderr
    at = 0
    for message in messages:
        assert message in run.stderr[at:], run.stderr
        at = run.stderr.index(message, at) + len(message)
