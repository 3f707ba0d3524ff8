"""Traces: ftrace text and Perfetto protobuf of the kernel's own tracepoints."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from schedlab.lab.recording.reading import read_trace
from tests.helpers.engine.simulator import Json, Simulator

SCENARIO: Json = {
    "duration": "100ms",
    "tasks": [
        {"name": "work", "count": 6, "program": [{"run": "500us"}, {"sleep": "700us"}]},
        {"name": "other", "count": 2, "program": [{"run": "300us"}, {"sleep": "100us"}]},
    ],
}

LINE = re.compile(r"^ *(.{1,16})-(\d+) +\[(\d{3})\] \S{4} +(\d+\.\d{9}): (\w+): (.*)$")


def lines(path: Path) -> list[re.Match[str]]:
    found = [LINE.match(line) for line in path.read_text().splitlines() if not line.startswith("#")]
    assert all(found)
    return [m for m in found if m]


def test_what_nothing_raises_is_refused(sim: Simulator, tmp_path: Path) -> None:
    """A trace without a line would say that it never happened."""
    path = tmp_path / "trace.txt"
    spawn = {"kind": "unixbench", "test": "spawn", "copies": 2, "duration": "20ms"}
    execl = {**spawn, "test": "execl"}
    asked = {"duration": "100ms", "workloads": [spawn, execl]}
    words = ("--trace", str(path), "--trace-events")
    sim("smp4", asked, *words, "sched_process_*")
    names = set(re.findall(r": (sched_process_\w+): ", path.read_text()))
    assert names == {f"sched_process_{n}" for n in ("fork", "exec", "wait", "exit", "free")}
    assert re.search(r"sched_process_exec: filename=(\S+) pid=(\d+) old_pid=\2\n", path.read_text())
    done = sim.start("smp4", asked, *words, "itimer_expire")
    assert done.returncode == 2
    assert 'no code that is simulated raises "itimer_expire"' in done.stderr


def test_ftrace_text(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    result = sim("smp4", SCENARIO, "--trace", str(path))
    events = lines(path)
    switches = [m for m in events if m[5] == "sched_switch"]
    # the window of the counters and of the trace is the same
    assert len(switches) == result["counters"]["sched:sched_switch"]
    assert re.match(
        r"prev_comm=\S+ prev_pid=\d+ prev_prio=120 prev_state=[RSDIP]\S* ==> next_comm=",
        switches[0][6],
    )
    # on each CPU, the task that goes is the one that came
    running: dict[str, str] = {}
    for m in switches:
        fields = dict(re.findall(r"(\w+_pid)=(\d+)", m[6]))
        assert running.get(m[3], fields["prev_pid"]) == fields["prev_pid"]
        running[m[3]] = fields["next_pid"]


def test_a_task_that_ends_is_not_shown_as_runnable(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    load = {"kind": "unixbench", "test": "spawn", "copies": 2, "duration": "5ms"}
    once: Json = {"name": "once", "loops": 1, "program": [{"run": "1ms"}]}
    sim("smp4", {"duration": "20ms", "tasks": [once], "workloads": [load]}, "--trace", str(path))
    last: dict[str, str] = {}
    ended: list[str] = []
    for m in lines(path):
        if m[5] == "sched_process_exit":
            ended += re.findall(r"pid=(\d+)", m[6])
        if m[5] == "sched_switch" and (
            before := re.search(r"prev_pid=(\d+).* prev_state=(\w)", m[6])
        ):
            last[before[1]] = before[2]
    states = [last[pid] for pid in ended if pid in last]
    assert len(states) > 10 and set(states) <= {"X", "Z"}


def test_filters(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "trace.txt"
    work, other = SCENARIO["tasks"]
    sim(
        "smp4",
        {**SCENARIO, "tasks": [work, {**other, "affinity": "0-1"}]},
        "--trace",
        str(path),
        "--trace-events",
        "sched_wakeup,sched:sched_switch",
        "--trace-cpus",
        "1,3",
        "--trace-tasks",
        "other*",
        "--trace-from",
        "0.02",
        "--trace-to",
        "0.05",
    )
    events = lines(path)
    assert events
    assert {m[5] for m in events} == {"sched_wakeup", "sched_switch"}
    assert {m[3] for m in events} <= {"001", "003"}
    assert all("other" in m[0] for m in events)
    times = [float(m[4]) for m in events]
    assert times[-1] - times[0] <= 0.031


def test_ring_keeps_the_last(sim: Simulator, tmp_path: Path) -> None:
    whole, ring = tmp_path / "whole.txt", tmp_path / "ring.txt"
    sim("smp4", SCENARIO, "--trace", str(whole))
    sim("smp4", SCENARIO, "--trace", str(ring), "--trace-ring", "20")
    assert [m[0] for m in lines(ring)] == [m[0] for m in lines(whole)][-20:]


SERVICES: Json = {
    "duration": "2s",
    "workloads": [{"kind": "deathstarbench", "ccds": 1, "connections": 8, "duration": "1s"}],
}


@pytest.mark.parametrize("scenario", [SCENARIO, SERVICES])
@pytest.mark.parametrize("options", [(), ("--trace-ring", "1000"), ("--trace-format", "perfetto")])
def test_tracing_changes_nothing(
    sim: Simulator, tmp_path: Path, scenario: Json, options: tuple[str, ...]
) -> None:
    """Nor where tasks lie in memory, by which they share cache lines."""
    plain = sim("small-2n-smt2", scenario)
    words = ("--trace", str(tmp_path / "t"), "--trace-events", "*:*", *options)
    assert sim("small-2n-smt2", scenario, *words)["trace_hash"] == plain["trace_hash"]


def test_a_trace_ends_with_what_was_set_for_its_tasks(sim: Simulator, tmp_path: Path) -> None:
    trace = tmp_path / "t"
    work = {"name": "work", "nice": 5, "affinity": "1,3", "program": [{"run": "5ms"}]}
    rest = {"name": "rest", "program": [{"run": "1ms"}, {"sleep": "1ms"}]}
    sim("smp4", {"duration": "20ms", "tasks": [work, rest]}, "--trace", str(trace))
    events = read_trace(trace)
    assert events.setup and events.setup.cpus == "0-3"
    numbers = {name: pid for pid, name in events.names.items()}
    task, other = (events.setup.tasks[numbers[name]] for name in ("work", "rest"))
    assert (task.cpus, task.nice, task.process) == ("1,3", 5, numbers["work"])
    assert (other.cpus, other.nice, other.policy) == ("0-3", 0, 0)


def test_threads_are_of_one_process(sim: Simulator, tmp_path: Path) -> None:
    trace = tmp_path / "t"
    mutex = {"kind": "sysbench-mutex", "threads": 4, "mutex-locks": 20}
    sim("smp4", {"duration": "1s", "workloads": [mutex]}, "--trace", str(trace))
    setup = read_trace(trace).setup
    assert setup and max(Counter(task.process for task in setup.tasks.values()).values()) == 5


def fields(data: bytes) -> Iterator[tuple[int, int | bytes]]:
    """The fields of one protobuf message."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value

    while at < len(data):
        tag = varint()
        if tag & 7 == 0:
            yield tag >> 3, varint()
        else:
            assert tag & 7 == 2
            size = varint()
            yield tag >> 3, data[at : at + size]
            at += size


def test_perfetto(sim: Simulator, tmp_path: Path) -> None:
    path = tmp_path / "trace.pftrace"
    result = sim("smp4", SCENARIO, "--trace", str(path), "--trace-format", "perfetto")
    switches = 0
    for number, packet in fields(path.read_bytes()):
        assert number == 1 and isinstance(packet, bytes)
        bundle = dict(fields(dict(fields(packet))[1]))  # type: ignore[arg-type]
        event = dict(fields(bundle[2]))  # type: ignore[arg-type]
        if 4 in event:
            switch = dict(fields(event[4]))  # type: ignore[arg-type]
            assert set(switch) == {1, 2, 3, 4, 5, 6, 7}
            switches += 1
    assert switches == result["counters"]["sched:sched_switch"]


def test_unknown_event(sim: Simulator, tmp_path: Path) -> None:
    done = sim.start(
        "smp4", SCENARIO, "--trace", str(tmp_path / "t"), "--trace-events", "sched_swich"
    )
    assert done.returncode == 2
    assert 'no tracepoint "sched_swich"' in done.stderr
