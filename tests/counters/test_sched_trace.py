"""Where tasks' time went, from the scheduler's tracepoints: traces made by hand, and a real one."""

import os
import shutil
import signal
import subprocess
from pathlib import Path

import pytest

from schedlab.base.system import LocalSystem
from schedlab.counters import all_groups
from schedlab.counters.choice import choose
from schedlab.counters.group import Unavailable
from schedlab.counters.sched_trace import SchedTrace, account, tasks_of
from schedlab.counters.times import MEASURED, time_counter, times
from schedlab.counters.wakeups import is_percentile, percentile_counter
from tests.helpers.emulated import emulated_system
from tests.helpers.patience import wait_until


def switch(us: int, cpu: int, prev: tuple[str, int, str], following: tuple[str, int]) -> str:
    """Return a line of perf script for a switch."""
    comm, tid, state = prev
    name, pid = following
    return (
        f"{comm:>16} {tid:5} [{cpu:03}] {line_time(us)} sched:sched_switch: prev_comm={comm}"
        f" prev_pid={tid} prev_prio=120 prev_state={state} ==> next_comm={name} next_pid={pid}"
        " next_prio=120"
    )


def line_time(us: int) -> str:
    return f"{100 + us // 1_000_000}.{us % 1_000_000 * 1000:09}:"


def other(us: int, cpu: int, event: str, text: str) -> str:
    return f"        anything   77 [{cpu:03}] {line_time(us)}       sched:{event}: {text}"


IDLE = ("swapper/0", 0, "R")
ROOT, CHILD = ("load", 10), ("child", 11)


def begin(us: int, cpu: int) -> list[str]:
    text = "filename=/usr/bin/load pid=10 old_pid=10"
    return [other(us, cpu, "sched_process_exec", text)]


def test_each_part_of_a_run() -> None:
    lines = [
        switch(0, 0, ("x", 5, "S"), ROOT),
        *begin(10, 0),
        other(*(20, 0, "sched_process_fork"), "comm=load pid=10 child_comm=load child_pid=11"),
        other(25, 0, "sched_wakeup_new", "comm=load pid=11 prio=120 target_cpu=000"),
        # CPU 1 is idle from the beginning until 40; the child waits for CPU 0
        switch(40, 1, ("swapper/1", 0, "R"), ("busy", 6)),
        switch(60, 0, (*ROOT, "R+"), CHILD),
        switch(70, 0, (*CHILD, "S"), ROOT),
        other(80, 0, "sched_waking", "comm=child pid=11 prio=120 target_cpu=001"),
        switch(82, 1, ("busy", 6, "S"), ("swapper/1", 0)),
        other(85, 1, "sched_wakeup", "comm=child pid=11 prio=120 target_cpu=001"),
        switch(90, 1, ("swapper/1", 0, "R"), CHILD),
        switch(95, 1, (*CHILD, "D"), ("swapper/1", 0)),
        other(97, 1, "sched_waking", "comm=child pid=11 prio=120 target_cpu=001"),
        other(97, 1, "sched_wakeup", "comm=child pid=11 prio=120 target_cpu=001"),
        switch(99, 1, ("swapper/1", 0, "R"), CHILD),
        switch(100, 1, (*CHILD, "X"), ("swapper/1", 0)),
        switch(110, 0, (*ROOT, "Z"), ("swapper/0", 0)),
        switch(500, 0, ("swapper/0", 0, "R"), ("later", 99)),
    ]
    found = account(lines, "load", [0, 1], {})
    us = {
        role: {state: ns / 1000 for state, ns in of.items() if ns}
        for role, of in times(found).items()
    }
    assert found[MEASURED] == 100_000
    assert us["load"] == {"running": 90, "wait_busy": 10}
    assert us["child"] == {
        **{"running": 16, "waking": 5 + 5 + 5 + 2, "wait_idle": 15, "wait_busy": 20},
        **{"asleep_wait": 10, "asleep_io": 2, "gone": 20},
    }
    # each task is accounted for from the beginning of the run to its end
    assert sum(us[""].values()) == 100 + 100


def test_a_cpu_that_never_switches_is_idle() -> None:
    lines = [
        switch(0, 0, ("x", 5, "S"), ROOT),
        *begin(0, 0),
        switch(10, 0, (*ROOT, "R"), ("x", 5)),
        switch(30, 0, ("x", 5, "S"), ROOT),
        switch(40, 0, (*ROOT, "X"), ("swapper/0", 0)),
    ]
    alone, beside = (times(account(lines, "load", range(n), {}))[""] for n in (1, 2))
    assert (alone["wait_busy"], alone.get("wait_idle", 0)) == (20_000, 0)
    assert (beside.get("wait_busy", 0), beside["wait_idle"]) == (0, 20_000)


def test_a_task_that_ended_is_switched_away_from_under_no_id() -> None:
    """As perf prints it: the task's id is gone, and its last switch counts all the same."""
    gone = switch(50, 0, (*CHILD, "X"), ROOT).replace(f"{CHILD[0]:>16} {CHILD[1]:5}", "  :-1    -1")
    assert ":-1    -1 [000]" in gone
    lines = [
        switch(0, 0, ("x", 5, "S"), ROOT),
        *begin(0, 0),
        other(*(10, 0, "sched_process_fork"), "comm=load pid=10 child_comm=load child_pid=11"),
        other(10, 0, "sched_wakeup_new", "comm=load pid=11 prio=120 target_cpu=000"),
        switch(20, 0, (*ROOT, "R"), CHILD),
        gone,
        switch(100, 0, (*ROOT, "X"), ("swapper/0", 0)),
    ]
    found = times(account(lines, "load", [0], {}))
    assert found[""]["running"] == 100_000, "one CPU ran one task after another"
    assert found["child"]["gone"] > 0


def test_its_wakeups_are_timed() -> None:
    """Of twenty, ten take 5 us from waking to running and ten 9 us."""
    lines = begin(0, 0)
    for at in range(20):
        us, wait = 100 * (at + 1), 5 if at % 2 else 9
        woken = "comm=load pid=10 prio=120 target_cpu=000"
        lines += [
            switch(us, 0, (*ROOT, "S"), ("swapper/0", 0)),
            other(us + 50, 1, "sched_waking", woken),
            other(us + 51, 0, "sched_wakeup", woken),
            switch(us + 50 + wait, 0, ("swapper/0", 0, "R"), ROOT),
        ]
    lines.append(switch(3000, 0, (*ROOT, "X"), ("swapper/0", 0)))
    found = account(lines, "load", [0], {})
    assert {name: ns for name, ns in found.items() if is_percentile(name)} == {
        percentile_counter(50): 5_000
    }


def test_another_program_is_not_in_it() -> None:
    assert account(begin(0, 0), "other", [0], {}) == {}
    assert account(["nonsense", ""], "load", [], {}) == {}


def test_the_tasks_of_its_server_are_in_it() -> None:
    """The server was there before; it sleeps until it is asked, and goes on after the load."""
    lines = [
        *begin(0, 0),
        other(20, 0, "sched_waking", "comm=server pid=40 prio=120 target_cpu=001"),
        other(20, 0, "sched_wakeup", "comm=server pid=40 prio=120 target_cpu=001"),
        switch(25, 1, ("swapper/1", 0, "R"), ("server", 40)),
        switch(60, 1, ("server", 40, "S"), ("swapper/1", 0)),
        switch(100, 0, (*ROOT, "Z"), ("swapper/0", 0)),
    ]
    found = times(account(lines, "load", [0, 1], {40: "server"}))["server"]
    assert sum(found.values()) == 100_000
    assert (found["waking"], found["running"]) == (5_000, 35_000)
    assert found["asleep_wait"] == 60_000


def test_the_tasks_of_a_program_are_found() -> None:
    with subprocess.Popen(("sh", "-c", "sleep 100 & echo; wait"), stdout=subprocess.PIPE) as shell:
        assert shell.stdout and shell.stdout.readline()

        def found() -> dict[int, str]:
            """Return the tasks, once the second has the name of what it runs."""
            tasks = tasks_of(LocalSystem(), shell.pid)
            return tasks if sorted(tasks.values()) == ["sh", "sleep"] else {}

        for pid in sorted(wait_until(found, "sleep"), reverse=True):
            os.kill(pid, signal.SIGKILL)


def test_it_has_to_be_named(tmp_path: Path) -> None:
    system = emulated_system(tmp_path)
    assert "task-time" in all_groups()
    assert choose(system, "all").trace is None


def test_without_perf_or_root_it_says_why(tmp_path: Path) -> None:
    choice = choose(emulated_system(tmp_path, tools={}), ["task-time"])
    assert choice.trace is None
    assert choice.missing[0].startswith("task-time: perf is not installed")


@pytest.mark.skipif(os.geteuid() != 0 or shutil.which("perf") is None, reason="needs root and perf")
def test_a_real_run(tmp_path: Path) -> None:
    system, trace = LocalSystem(), SchedTrace()
    try:
        trace.check(system)
    except Unavailable as error:
        pytest.skip(f"{error}")
    file = str(tmp_path / "switches.data")
    subprocess.run(trace.wrap(("sleep", "0.3"), file), check=True, timeout=60)
    found = trace.read(system, file, "sleep", {})
    assert found[MEASURED] >= 0.3e9
    assert found[time_counter("asleep_wait", "sleep")] > 0.29e9
    assert found[time_counter("running", "sleep")] > 0
    whole = sum(times(found)[""].values())
    assert whole == pytest.approx(found[MEASURED], rel=0.01)
