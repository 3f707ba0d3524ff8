"""Holds that no call shows, of tasks that take a lock again and again after equal work."""

import random
from itertools import pairwise

import pytest

from schedlab.lab.recording.causes import LOCK_HELD
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.workload import RecordedWorkload
from tests.helpers.traces import Line
from tests.lab.recording.test_futexes import LOCK, A, B, begin, made_of, wait, wake

PERIODS, CYCLE, HELD = 24, 30_000, 20_000


def lines(cycles: list[int]) -> list[Line]:
    """A holds the lock in each cycle; after so many, B waits for it or A does, by turns."""
    found = list(begin(A, B))
    at = 1_000
    for period, number in enumerate(cycles):
        last = at + CYCLE * (number - 1)
        if period % 2:
            found += [
                *wait(last + 5_000, last + HELD + 300, 1, B, LOCK, 2),
                *wake(last + HELD, 0, A, LOCK, [B]),
                *wake(last + HELD + 6_000, 1, B, LOCK, []),
            ]
            at = last + CYCLE
        else:
            at = last + CYCLE + 5_000
            found += [
                *wait(last + CYCLE, at, 0, A, LOCK, 2),
                *wake(at - 500, 1, B, LOCK, [A]),
                *wake(at + HELD, 0, A, LOCK, []),
            ]
            at += CYCLE
    return found


def holds_of(made: RecordedWorkload, name: str) -> int:
    return next(task for task in made.tasks if task.name == name).words.split().count("l1")


def test_a_lock_is_taken_in_each_cycle_between_those_that_are_seen() -> None:
    draw = random.Random(1)
    cycles = [draw.randint(1, 6) for _ in range(PERIODS)]
    made = made_of(lines(cycles))
    assert made.recorded["waits"][LOCK_HELD]["count"] >= PERIODS - 1
    whole = sum(cycles) + PERIODS // 2
    assert whole - 8 <= holds_of(made, "a") <= whole
    words = next(task for task in made.tasks if task.name == "a").words.split()
    assert all(one != two for one, two in pairwise(w for w in words if not w.isdigit()))
    assert not list(IdealRun(made).stuck())
    assert any("were put in" in note for note in made.recorded["notes"])


@pytest.mark.parametrize("seed", range(5))
def test_none_is_put_in_where_the_work_between_holds_differs(seed: int) -> None:
    """As much as it likes: no amount is in all of it."""
    draw = random.Random(seed)
    made = made_of(lines([1] * PERIODS))
    few = holds_of(made, "a")
    uneven = lines([1] * PERIODS)
    late = 0
    moved = []
    for line in sorted(uneven, key=lambda line: line.ns):
        if line.event == "sys_exit_futex":
            late += draw.randint(0, 90_000)
        moved.append(line._replace(ns=line.ns + late))
    assert holds_of(made_of(moved), "a") <= few
