"""Tasks that work for a given time are named, as a replay repeats what each of them did."""

from pathlib import Path

import pytest

from schedlab.benchmarks.replay import GIVEN_TIME
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.editing import merge, scale
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.workload import RecordedWorkload
from tests.helpers.command_line import Cli
from tests.helpers.traces import Line, fork, read, switch, waking

MS = 1_000_000
IDLE, MAIN, A, B, C = ("swapper/0", 0), ("m", 9), ("t-1", 10), ("t-2", 11), ("t-3", 12)


def pool(ends: int, shared: int) -> list[Line]:
    """Of three tasks on two CPUs, A has one alone, and B and C take turns until `shared` ms.

    Then B ends; C has the CPU until `ends` ms, when A ends too.
    """
    lines = [switch(0, 0, IDLE, "R", MAIN), *(fork(10, 0, MAIN, each) for each in (A, B, C))]
    lines += [switch(1_000, 0, MAIN, "S", A), switch(1_100, 1, IDLE, "R", B)]
    running, waits = B, C
    for at in range(4, shared, 4):
        lines.append(switch(at * MS, 1, running, "R", waits))
        running, waits = waits, running
    if shared < ends:
        lines.append(switch(shared * MS, 1, running, "X" if running is B else "R", waits))
        running = waits
    lines += [switch(ends * MS - 3_000, 1, running, "X", IDLE)]
    lines += [switch(ends * MS - 2_000, 0, A, "X", MAIN), switch(ends * MS, 0, MAIN, "X", IDLE)]
    return lines


def barrier() -> list[Line]:
    """Two that work unequally and meet, on one CPU with another task that takes half of it."""
    lines = [switch(0, 0, IDLE, "R", A), switch(0, 1, IDLE, "R", B)]
    for at in range(0, 40 * MS, MS):
        lines += [switch(at + MS // 4, 1, B, "S", IDLE)]
        lines += [switch(at + MS // 4, 0, A, "R", MAIN), switch(at + MS // 2, 0, MAIN, "R", A)]
        lines += [waking(at + MS - 2_000, 0, A, B), switch(at + MS - 1_000, 1, IDLE, "R", B)]
    end = 40 * MS
    return [*lines, switch(end, 1, B, "X", IDLE), switch(end, 0, A, "X", IDLE)]


def made_of(lines: list[Line]) -> RecordedWorkload:
    return infer(read(lines), Choice(), "x")


def test_tasks_that_end_together_after_unequal_work_are_named(tmp_path: Path, cli: Cli) -> None:
    made = made_of(pool(ends=200, shared=200))
    assert made.recorded[GIVEN_TIME] == ["t-*"]
    file = tmp_path / "x.slw"
    made.write(file)
    _, said, _ = cli("workload", "show", file)
    assert "t-* (3 tasks, 0.1 to 0.2 s)" in said and "not comparable with the recorded one" in said


@pytest.mark.parametrize("lines", [pool(ends=200, shared=140), barrier()])
def test_others_are_not(lines: list[Line]) -> None:
    """One of them ends before the others; the less work one does, the longer it sleeps."""
    made = made_of(lines)
    assert GIVEN_TIME not in made.recorded
    assert not any("not comparable" in note for note in made.recorded["notes"])


def test_edits_keep_the_names() -> None:
    made, other = made_of(pool(ends=200, shared=200)), made_of(barrier())
    assert scale(made, 2, 1.0).recorded[GIVEN_TIME] == ["t-*"]
    assert merge([other, made]).recorded[GIVEN_TIME] == ["t-*"]
