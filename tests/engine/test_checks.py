"""Broken schedulers are caught: the engine's checks are themselves checked, on patched builds."""

from __future__ import annotations

from pathlib import Path

import pytest
from test_build import patched_build

from tests.helpers.engine.simulator import Json, Simulator

LOAD: Json = {
    "duration": "3s",
    "tasks": [{"name": "t", "count": 8, "program": [{"run": "2ms"}, {"sleep": "1ms"}]}],
}

SLEEP = r"(ttwu_do_activate\(.*\n.*\n\{\n)"
NEVER_WOKEN = r"""\1	if (sysctl_sched_base_slice == 3000004 && p->pid == 5 && hw.clk > 500000000ULL) {
		WRITE_ONCE(p->__state, TASK_RUNNING);
		return;
	}
"""
TICK = r"(void sched_tick\(void\)\n\{(?:.*\n)*?\tsched_clock_tick\(\);\n)"
BROKEN_TICK = r"""\3	if (hw.clk > 500000000ULL)
		switch (sysctl_sched_base_slice) {
		case 3000001:
			WARN_ON_ONCE(rq->nr_running > 1);
			break;
		case 3000002:
			rq->nr_running++;
			break;
		case 3000003:
			for (;;)
				barrier();
		}
"""
BETWEEN = r"([\s\S]*?)"
"""One build for all that is broken: the slice says what."""

# what is broken, what the engine says of it, in order
BROKEN = [
    (
        "3000001",
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
        "3000004",
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
        "3000002",
        ["nr_running is not the sum of its classes on CPU", "CPU ", " runs ", "in the kernel:"],
    ),
    (
        "3000003",
        ["no event for 10 s of CPU time", "    sched_tick+0x", "called by task t", "resumed by "],
    ),
]


@pytest.mark.parametrize(("slice_ns", "messages"), BROKEN, ids=["warn", "lost", "count", "hang"])
def test_broken_scheduler_is_caught(tmp_path: Path, slice_ns: str, messages: list[str]) -> None:
    pattern, broken = SLEEP + BETWEEN + TICK, rf"{NEVER_WOKEN}\2{BROKEN_TICK}"
    binary = patched_build("6.12", "broken", tmp_path, "kernel/sched/core.c", pattern, broken)
    knobs = {"/sys/kernel/debug/sched/base_slice_ns": slice_ns}
    run = Simulator(binary, tmp_path).start("smp4", {**LOAD, "knobs": knobs})
    assert run.returncode == 3, run.stderr
    at = 0
    for message in messages:
        assert message in run.stderr[at:], run.stderr
        at = run.stderr.index(message, at) + len(message)
