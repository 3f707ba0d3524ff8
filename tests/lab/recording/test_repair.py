"""Traces that lack a sched_switch: each line names who runs, and the replay is the same."""

from collections.abc import Sequence

import pytest

from schedlab.lab.recording.causes import OUTSIDE
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.repair import with_missing_switches
from schedlab.lab.recording.workload import RecordedWorkload
from tests.helpers.traces import Line, futex, futex_done, read, switch, waking

IDLE, PING, PONG = ("swapper/0", 0), ("ping", 10), ("pong", 11)
ROUNDS, WORK = 40, 100_000
Task = tuple[str, int]


def message(ns: int, cpu: int, task: Task, what: str, channel: int = 0) -> Line:
    text = f"kind=pipe object={channel} bytes=1" if channel else "bytes=1"
    return Line(ns, cpu, *task, f"message_{what}", text)


def receives(ns: int, until: int, cpu: int, task: Task, channel: int) -> list[Line]:
    return [
        message(ns, cpu, task, "receive", channel),
        switch(ns + 500, cpu, task, "S", IDLE),
        switch(until - 500, cpu, IDLE, "R", task),
        message(until, cpu, task, "done"),
    ]


def sends(ns: int, cpu: int, task: Task, channel: int, whom: Task) -> list[Line]:
    return [
        message(ns, cpu, task, "send", channel),
        waking(ns + 500, cpu, task, whom),
        message(ns + 1_000, cpu, task, "done"),
    ]


def ping_pong() -> list[Line]:
    """Two tasks that work, send a byte and wait for the other's, by turns."""
    lines = [switch(0, 0, IDLE, "R", PING), switch(0, 1, IDLE, "R", PONG)]
    lines += receives(1_000, WORK + 3_000, 1, PONG, 1)
    now = 0
    for _ in range(ROUNDS):
        now += WORK
        lines += sends(now, 0, PING, 1, PONG)
        lines += receives(now + 1_500, now + WORK + 6_000, 0, PING, 2)
        now += WORK + 3_000
        lines += sends(now, 1, PONG, 2, PING)
        now += 3_000
        lines += receives(now - 1_500, now + WORK + 3_000, 1, PONG, 1)
    return sorted(lines[:-2], key=lambda line: line.ns)


def made_of(lines: Sequence[Line]) -> RecordedWorkload:
    return infer(read(lines), Choice(), "x")


def long(made: RecordedWorkload) -> float:
    return IdealRun(made).ns / 1e9


@pytest.mark.parametrize("which", [1, 2, 17, ROUNDS - 1])
@pytest.mark.parametrize("there", ["in", "out"])
def test_a_missing_switch_leaves_turns_as_they_were(which: int, there: str) -> None:
    lines = ping_pong()
    whole = long(made_of(lines))
    assert whole == pytest.approx(2 * ROUNDS * WORK / 1e9, rel=0.1)
    word = "next_comm=pong" if there == "in" else "prev_comm=pong"
    at = [at for at, line in enumerate(lines) if word in line.text][which]
    made = made_of(lines[:at] + lines[at + 1 :])
    assert long(made) == pytest.approx(whole, rel=0.02)
    assert any("1 switches were lost" in note for note in made.recorded["notes"])
    assert not any("leaves another task" in note for note in made.recorded["notes"])


def test_a_whole_trace_needs_no_repair() -> None:
    events = read(ping_pong())
    assert with_missing_switches(events) is events


@pytest.mark.parametrize("word", ["receive", "send", "done"])
@pytest.mark.parametrize("task", [PING, PONG])
def test_a_message_that_is_lost_in_the_middle_is_told_and_no_other_comes_early(
    word: str, task: Task
) -> None:
    lines = ping_pong()
    whole = long(made_of(lines))
    own = [at for at, line in enumerate(lines) if line[2:5] == (*task, f"message_{word}")]
    at = own[len(own) // 2]
    made = made_of(lines[:at] + lines[at + 1 :])
    assert long(made) == pytest.approx(whole, rel=0.05)
    assert any("messages were left out" in note for note in made.recorded["notes"])


BARRIER = 0x100
FOUR = [("worker", 20 + at) for at in range(4)]


def meetings(rounds: int) -> list[Line]:
    """Four tasks that work, and meet at a barrier, of which the last one to come differs."""
    lines = [switch(0, cpu, IDLE, "R", task) for cpu, task in enumerate(FOUR)]
    now = 0
    for turn in range(rounds):
        late = turn % 4
        for cpu, task in enumerate(FOUR):
            if cpu == late:
                continue
            lines += [
                futex(now + 50_000 + cpu, cpu, task, "wait", BARRIER, turn),
                switch(now + 50_500 + cpu, cpu, task, "S", IDLE),
                switch(now + 102_000 + cpu, cpu, IDLE, "R", task),
                futex_done(now + 102_500 + cpu, cpu, task),
            ]
        task = FOUR[late]
        lines.append(futex(now + 100_000, late, task, "wake", BARRIER, 0x7FFFFFFF))
        woken = [each for each in FOUR if each != task]
        lines += [waking(now + 100_500 + at, late, task, each) for at, each in enumerate(woken)]
        lines.append(futex_done(now + 101_000, late, task, 3))
        now += 103_000
    return sorted(lines, key=lambda line: line.ns)


@pytest.mark.parametrize("which", [1, 6, 20])
@pytest.mark.parametrize("word", ["next_pid=21", "prev_pid=22"])
def test_a_barrier_is_one_though_a_switch_is_missing(which: int, word: str) -> None:
    lines = meetings(12)
    whole = made_of(lines)
    assert whole.barriers == [4]
    at = [at for at, line in enumerate(lines) if word in line.text][min(which, 8)]
    made = made_of(lines[:at] + lines[at + 1 :])
    assert made.barriers == [4]
    assert OUTSIDE not in made.recorded["waits"]
    assert long(made) == pytest.approx(long(whole), rel=0.05)
