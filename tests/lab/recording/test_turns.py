"""Tasks that take turns: also where a trace shows only some of their waits and wakes."""

from collections.abc import Sequence

import pytest

from schedlab.lab.recording.causes import TASK
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.workload import RecordedWorkload
from tests.helpers.traces import Line, futex, futex_done, read, switch, waking

IDLE, A, B, C = ("swapper/0", 0), ("t1", 10), ("t2", 11), ("t3", 12)
ROUNDS = 40
LONG = 20_000
"""ns of a turn of both, on one CPU."""
WORDS = (0x100, 0x104)
"""Of the two futexes; neighbours, as the two words of a condition variable."""


def gives(ns: int, task: tuple[str, int], word: int, woken: Sequence[Line]) -> list[Line]:
    """A call that wakes one task at most."""
    done = futex_done(ns + 200, 0, task, len(woken))
    return [futex(ns, 0, task, "wake", word, 1), *woken, done]


def turns(hidden: int) -> list[Line]:
    """Both on one CPU: of `hidden` rounds, B has done its part before A comes to its wait."""
    lines = [switch(0, 0, IDLE, "R", A)]
    for number in range(ROUNDS):
        at = LONG * number
        unseen = number % ROUNDS < hidden
        lines += gives(at + 8_000, A, WORDS[0], [waking(at + 8_100, 0, A, B)])
        if not unseen:
            lines.append(futex(at + 8_500, 0, A, "wait", WORDS[1], 0))
        lines.append(switch(at + 9_000, 0, A, "R" if unseen else "S", B))
        lines += [futex_done(at + 9_100, 0, B)] if number else []
        woken = [] if unseen else [waking(at + 19_100, 0, B, A)]
        lines += gives(at + 19_000, B, WORDS[1], woken)
        lines.append(futex(at + 19_500, 0, B, "wait", WORDS[0], 0))
        lines.append(switch(at + 20_000, 0, B, "S", A))
        lines += [] if unseen else [futex_done(at + 20_000, 0, A)]
    return [*lines, switch(LONG * ROUNDS + 5_000, 0, A, "X", IDLE)]


def made_of(lines: list[Line]) -> RecordedWorkload:
    return infer(read(lines), Choice(), "x")


@pytest.mark.parametrize("calls", [True, False])
@pytest.mark.parametrize("hidden", [0, 5, 16])
def test_turns_stay_turns_though_some_leave_no_wait(hidden: int, calls: bool) -> None:
    """Futexes that others of their kind make a pool's, and what shows no calls, as an eventfd."""
    made = made_of([line for line in turns(hidden) if calls or "futex" not in line.event])
    assert not made.items and TASK in made.recorded["waits"]
    words = {task.name: task.words.split() for task in made.tasks}
    assert words["t1"].count("w") == ROUNDS == words["t2"].count(">10")
    assert words["t2"].count("w") == words["t1"].count(">11")
    assert hidden == 0 or ">11 900 w" in " ".join(words["t1"][:8]), "as B has done its part"
    run = IdealRun(made)
    assert not list(run.stuck())
    assert run.ns >= 0.9 * made.work()
    told = [note for note in made.recorded["notes"] if "left nothing in the trace" in note]
    assert [note.split()[0] for note in told] == ([str(hidden)] if hidden else [])


def ring(hidden: int) -> list[Line]:
    """Three on one CPU: of `hidden` rounds, C has done its part before A comes to its wait."""
    lines = [switch(0, 0, IDLE, "R", A)]
    for number in range(ROUNDS):
        at, unseen = LONG * number, number % 2 == 0 and number < 2 * hidden
        lines += [waking(at + 8_000, 0, A, B), switch(at + 9_000, 0, A, "SR"[unseen], B)]
        lines += [waking(at + 13_000, 0, B, C), switch(at + 14_000, 0, B, "S", C)]
        lines += [] if unseen else [waking(at + 19_000, 0, C, A)]
        lines.append(switch(at + 20_000, 0, C, "S", A))
    return [*lines, switch(LONG * ROUNDS + 5_000, 0, A, "X", IDLE)]


@pytest.mark.parametrize("hidden", [0, 10])
def test_three_that_take_turns_keep_them(hidden: int) -> None:
    made = made_of(ring(hidden))
    words = {task.name: task.words.split() for task in made.tasks}
    assert words["t1"].count("w") == ROUNDS == words["t3"].count(">10")
    run = IdealRun(made)
    assert not made.items and not list(run.stuck()) and run.ns >= 0.85 * made.work()


def crowded_ring(hidden: int) -> list[Line]:
    """Three whose parts are longer than calls; of `hidden` rounds only C comes to its wait.

    So of the turn after such a round neither A's wake of B is in the trace nor B's wait for it.
    """
    lines, long = [switch(0, 0, IDLE, "R", A)], 20 * LONG
    unseen = False
    for number in range(ROUNDS):
        at, before = long * number, unseen
        unseen = number % 2 == 0 and number < 2 * hidden
        lines += [] if before else [waking(at + 198_000, 0, A, B)]
        lines += [switch(at + 200_000, 0, A, "SR"[unseen], B), waking(at + 298_000, 0, B, C)]
        lines.append(switch(at + 300_000, 0, B, "SR"[unseen], C))
        lines += [] if unseen else [waking(at + 398_000, 0, C, A)]
        lines.append(switch(at + 400_000, 0, C, "S", A))
    return [*lines, switch(long * ROUNDS + 5_000, 0, A, "X", IDLE)]


@pytest.mark.parametrize("hidden", [0, 10, 20])
def test_three_keep_turns_that_left_nothing_at_two_of_them(hidden: int) -> None:
    made = made_of(crowded_ring(hidden))
    words = {task.name: task.words.split() for task in made.tasks}
    assert words["t1"].count("w") == ROUNDS == words["t1"].count(">11")
    assert words["t2"].count("w") == words["t2"].count(">12") == words["t3"].count("w") == ROUNDS
    run = IdealRun(made)
    assert not list(run.stuck()) and run.ns >= 0.95 * made.work()
    notes = " ".join(made.recorded["notes"])
    assert ("left nothing in the trace" in notes) == bool(hidden) and "buffer" not in notes


def test_two_tasks_that_both_run_take_no_turns() -> None:
    """The one makes work for the other, and seldom waits until that is done."""
    lines = [switch(0, 0, IDLE, "R", A), switch(0, 1, IDLE, "R", B), switch(10, 1, B, "S", IDLE)]
    for at in range(0, ROUNDS * LONG, LONG):
        lines += [waking(at + 1_000, 0, A, B), switch(at + 2_000, 1, IDLE, "R", B)]
        waits = at % (3 * LONG) == 0
        lines += [switch(at + 12_000, 0, A, "S", IDLE)] if waits else []
        lines += [waking(at + 14_000, 1, B, A)] if waits else []
        lines += [switch(at + 15_000, 0, IDLE, "R", A)] if waits else []
        lines.append(switch(at + 16_000, 1, B, "S", IDLE))
    made = made_of([*lines, switch(ROUNDS * LONG, 0, A, "X", IDLE)])
    assert not any("left nothing in the trace" in note for note in made.recorded["notes"])


def buffer() -> list[Line]:
    """Both on one CPU, with room for two: a task works on after its wake, and waits if it must.

    In every second round B takes the CPU as it is woken, so that A finds room and does not wait.
    """
    lines, long = [switch(0, 0, IDLE, "R", A)], 10 * LONG
    for at in range(0, ROUNDS * long, long):
        lines.append(waking(at + 10_000, 0, A, B))
        if at // long % 2:
            lines += [switch(at + 15_000, 0, A, "R", B), switch(at + 100_000, 0, B, "S", A)]
        else:
            lines += [switch(at + 100_000, 0, A, "S", B), waking(at + 110_000, 0, B, A)]
            lines.append(switch(at + 200_000, 0, B, "S", A))
    return [*lines, switch(ROUNDS * long + 5_000, 0, A, "X", IDLE)]


def test_where_a_buffer_is_between_them_no_wait_is_put_in() -> None:
    made = made_of(buffer())
    words = {task.name: task.words.split() for task in made.tasks}
    assert words["t1"].count("w") == ROUNDS / 2 and words["t2"].count("w") == ROUNDS
    assert not made.items and IdealRun(made).ns < 0.8 * made.work()
    notes = " ".join(made.recorded["notes"])
    assert "left nothing in the trace" not in notes and f"{ROUNDS // 2 - 1} waits" in notes
