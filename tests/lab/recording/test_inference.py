"""From traces written by hand to the words of their tasks."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.errors import UsageError
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import TIMER_SLACK, grid_period, infer
from schedlab.lab.recording.pace import Speeds, speeds
from schedlab.lab.recording.workload import RecordedWorkload, join_words
from schedlab.machine.model import find_machine
from tests.helpers.traces import Line, fork, ftrace, perf_script, read, switch, waking

IDLE, A, B, C = ("swapper/0", 0), ("a", 10), ("b", 11), ("kworker/0:1", 12)
MS = 1_000_000


def words(lines: list[Line], choice: Choice | None = None) -> dict[str, str]:
    return {task.key: task.words for task in inferred(lines, choice).tasks}


def inferred(lines: list[Line], choice: Choice | None = None) -> RecordedWorkload:
    return infer(read(lines), choice or Choice(), "x")


@pytest.mark.parametrize("form", [ftrace, perf_script])
def test_a_wake_is_an_edge_at_a_point_of_the_wakers_work(form: Callable[[Line], str]) -> None:
    """With the flags of ftrace, and where neither flags nor interrupts are recorded."""
    lines = [
        switch(0, 0, IDLE, "R", A),
        switch(0, 1, IDLE, "R", B),
        switch(3_000, 1, B, "S", IDLE),
        waking(5_000, 0, A, B),
        switch(6_000, 1, IDLE, "R", B),
        switch(7_000, 0, A, "S", IDLE),
        switch(9_000, 1, B, "S", IDLE),
    ]
    made = infer(read(lines, form), Choice(), "x")
    found = {task.key: task.words for task in made.tasks}
    assert found == {"a-10": "5000 >11 2000", "b-11": "3000 w 3000"}


def test_preemption_is_no_wait() -> None:
    found = words(
        [
            switch(0, 0, IDLE, "R", A),
            switch(1_000, 0, A, "R+", B),
            switch(4_000, 0, B, "R", A),
            switch(6_000, 0, A, "S", IDLE),
            waking(8_000, 0, IDLE, A, "h"),
            switch(8_000, 0, IDLE, "R", A),
            switch(9_000, 0, A, "S", IDLE),
        ]
    )
    assert found["b-11"] == "3000"
    assert found["a-10"].startswith("3000 s") and found["a-10"].endswith(" 1000")


def test_a_child_starts_where_its_parent_forks_it() -> None:
    lines = [
        switch(0, 0, IDLE, "R", A),
        waking(500, 0, A, B),
        fork(1_000, 0, A, B),
        switch(2_000, 0, A, "R", B),
        switch(5_000, 0, B, "X", A),
        switch(6_000, 0, A, "S", IDLE),
    ]
    made = inferred(lines)
    by_key = {task.key: task for task in made.tasks}
    assert by_key["a-10"].words == "1000 +11 2000"
    assert by_key["b-11"].words == "3000"
    assert by_key["b-11"].settings["instance"] == 0


def test_a_number_used_again_is_another_task() -> None:
    life = [
        fork(1_000, 0, A, B),
        switch(2_000, 0, A, "R", B),
        switch(5_000, 0, B, "X", A),
    ]
    again = [line._replace(ns=line.ns + 10_000) for line in life]
    again[1] = switch(12_000, 0, A, "R", B)
    found = words(
        [switch(0, 0, IDLE, "R", A), waking(1, 0, A, C), *life, *again,
         switch(20_000, 0, A, "S", IDLE)]
    )  # fmt: skip
    assert found["b-11"] == found["b-12"] == "3000"
    assert found["a-10"] == "1000 +11 7000 +12 6000"


def test_a_task_that_was_asleep_before_waits_first() -> None:
    found = words(
        [
            switch(0, 0, IDLE, "R", A),
            waking(2_000, 0, A, B),
            switch(3_000, 1, IDLE, "R", B),
            switch(4_000, 1, B, "S", IDLE),
            switch(4_000, 0, A, "S", IDLE),
        ]
    )
    assert found == {"a-10": "2000 >11 2000", "b-11": "w 1000"}


def test_one_wake_of_several_counts() -> None:
    """The kernel tells a waking only where it finds the task asleep; a second one is its second."""
    found = words(
        [
            switch(0, 0, IDLE, "R", A),
            switch(0, 1, IDLE, "R", B),
            switch(1_000, 1, B, "S", IDLE),
            waking(2_000, 0, A, B),
            waking(2_100, 0, A, B),
            switch(3_000, 1, IDLE, "R", B),
            switch(4_000, 1, B, "S", IDLE),
            switch(5_000, 0, A, "S", IDLE),
        ]
    )
    assert found["a-10"].count(">") == found["b-11"].count("w") == 1


@pytest.mark.parametrize(
    ("context", "state", "letter"),
    [("h", "S", "s"), ("h", "D", "s"), ("s", "D", "d"), ("s", "S", "@"), (".", "S", "@")],
)
def test_causes_that_are_no_task_of_the_recording(context: str, state: str, letter: str) -> None:
    ms = 5 * MS
    by = IDLE if context != "." else C
    found = words(
        [
            switch(0, 0, IDLE, "R", A),
            switch(1_000, 0, A, state, C),
            waking(ms, 0, by, A, context) if by == C else waking(ms, 1, by, A, context),
            switch(ms, 0, C, "S", A),
            switch(ms + 1_000, 0, A, "S", IDLE),
        ]
    )
    assert list(found) == ["a-10"]
    assert found["a-10"].split()[1][0] == letter
    assert len(found["a-10"].split()) == 3


def test_periods_on_a_grid() -> None:
    lines = [switch(0, 0, IDLE, "R", A)]
    for turn in range(1, 20):
        worked = (turn * 7919) % 900_000
        lines += [
            switch((turn - 1) * MS + worked, 0, A, "S", IDLE),
            waking(turn * MS, 0, IDLE, A, "h"),
            switch(turn * MS, 0, IDLE, "R", A),
        ]
    lines.append(switch(20 * MS, 0, A, "S", IDLE))
    assert words(lines)["a-10"].count(f"t{MS}") == 19


def test_sleeps_of_one_length_are_no_grid() -> None:
    ended, slept, at = [], [], 0
    for turn in range(30):
        at += (turn * 7919) % 900_000 + 500_000
        ended.append(at)
        slept.append(500_000)
    assert grid_period(np.array(ended), np.array(slept)) == 0


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("jitter", [0, 15_000, 400_000])
def test_steady_work_between_timers(seed: int, jitter: int) -> None:
    """10 ms and 1 ms of work, each a little different: on a grid, and with a sleep of 9 ms."""
    rng = np.random.default_rng(seed)
    late = rng.integers(0, jitter + 1, 100)
    work = 1_000_000 + rng.integers(-3_000, 3_000, 100) * (jitter > 0)
    grid = 10_000_000 * np.arange(100) + late
    slept = np.diff(grid, prepend=-10_000_000) - work
    assert grid_period(grid, slept) == 10_000_000
    sleeps = 9_037_211 + late
    assert grid_period(np.cumsum(sleeps + work), sleeps) == 0


def test_the_slack_of_timers_is_not_replayed_twice() -> None:
    found = words(
        [
            switch(0, 0, IDLE, "R", A),
            switch(1_000, 0, A, "S", IDLE),
            waking(1_000 + MS, 0, IDLE, A, "h"),
            switch(1_000 + MS, 0, IDLE, "R", A),
            switch(2_000 + MS, 0, A, "S", IDLE),
        ]
    )
    assert found["a-10"] == f"1000 s{MS - TIMER_SLACK} 1000"


def test_interrupts_are_taken_off_where_they_are_recorded() -> None:
    lines = [
        switch(0, 0, IDLE, "R", A),
        waking(10, 0, A, B),
        Line(1_000, 0, "a", 10, "irq_handler_entry", "irq=9 name=eth0", "h"),
        Line(3_000, 0, "a", 10, "irq_handler_exit", "irq=9 ret=handled", "h"),
        switch(10_000, 0, A, "S", IDLE),
    ]
    assert words(lines)["a-10"] == "8000"


def test_without_flags_interrupts_are_known_by_their_events() -> None:
    lines = [
        switch(0, 0, IDLE, "R", A),
        switch(1_000, 1, B, "S", IDLE),
        Line(5 * MS, 0, "a", 10, "hrtimer_expire_entry", "hrtimer=0 now=1"),
        waking(5 * MS + 1, 0, A, B),
        Line(5 * MS + 2, 0, "a", 10, "hrtimer_expire_exit", "hrtimer=0"),
        switch(5 * MS + 100, 1, IDLE, "R", B),
        switch(6 * MS, 1, B, "S", IDLE),
        switch(6 * MS, 0, A, "S", IDLE),
    ]
    made = infer(read(lines, perf_script), Choice(), "x")
    found = {task.key: task.words for task in made.tasks}
    assert ">" not in found["a-10"]
    assert found["b-11"].split()[1][0] == "s"


def test_slow_cpus_do_less() -> None:
    lines = [
        switch(0, 0, IDLE, "R", A),
        waking(10, 0, A, B),
        switch(10_000, 0, A, "S", IDLE),
    ]
    assert words(lines, Choice(speed=Speeds({0: 0.5})))["a-10"] == "5000"


@pytest.mark.parametrize(("beside", "words_of_a"), [((1.0, 0.6), "7600"), ((1.0,), "10000")])
def test_what_a_busy_sibling_took_is_no_work(beside: tuple[float, ...], words_of_a: str) -> None:
    """A is alone for 4 us of 10; C on another core takes nothing."""
    lines = [
        switch(0, 0, IDLE, "R", A),
        switch(0, 2, IDLE, "R", C),
        switch(3_000, 1, IDLE, "R", B),
        switch(9_000, 1, B, "S", IDLE),
        switch(10_000, 0, A, "S", IDLE),
        switch(10_000, 2, C, "S", IDLE),
    ]
    found = words(lines, Choice(speed=Speeds(cores=[(0, 1), (2, 3)], beside=beside)))
    assert found["a-10"] == words_of_a
    assert found["b-11"] == str(round(6_000 * beside[-1]))


def test_a_wake_beside_a_busy_sibling_is_at_the_work_done_by_then() -> None:
    lines = [
        switch(0, 0, IDLE, "R", A),
        switch(0, 1, IDLE, "R", B),
        switch(2_000, 1, B, "S", IDLE),
        waking(4_000, 0, A, B),
        switch(5_000, 1, IDLE, "R", B),
        switch(6_000, 0, A, "S", IDLE),
        switch(7_000, 1, B, "S", IDLE),
    ]
    found = words(lines, Choice(speed=Speeds(cores=[(0, 1)], beside=(1.0, 0.5))))
    assert found == {"a-10": "3000 >11 1500", "b-11": "1000 w 1500"}


def test_the_speeds_of_a_machine() -> None:
    found = speeds(find_machine("small-2n-smt2"))
    assert found.beside == (1.0, 0.6)
    assert [tuple(core) for core in found.cores] == [(0, 1), (2, 3), (4, 5), (6, 7)]
    assert not speeds(find_machine("smp4")).cores


def test_no_sched_switch_is_refused_and_says_what_to_record() -> None:
    with pytest.raises(UsageError, match="the trace has no sched_switch"):
        inferred([waking(1, 0, A, B)])


def test_without_sched_waking_waits_are_sleeps() -> None:
    made = inferred(
        [
            switch(0, 0, IDLE, "R", A),
            switch(10_000, 0, A, "S", IDLE),
            switch(90_000, 0, IDLE, "R", A),
            switch(100_000, 0, A, "S", IDLE),
        ]
    )
    assert made.tasks[0].words == "10000 s30000 10000"
    assert any("sched_waking is not recorded" in note for note in made.recorded["notes"])


def test_what_a_task_does_alone_needs_no_wakes() -> None:
    assert words([switch(0, 0, IDLE, "R", A), switch(10, 0, A, "X", IDLE)]) == {"a-10": "10"}


def test_lost_switches_are_told() -> None:
    made = inferred([switch(0, 0, IDLE, "R", A), waking(1, 0, A, B), switch(10, 0, B, "S", IDLE)])
    assert any("1 switches were lost" in note for note in made.recorded["notes"])


def test_no_task_of_such_a_name() -> None:
    with pytest.raises(UsageError, match="no task of the trace matches"):
        inferred(
            [switch(0, 0, IDLE, "R", A), waking(1, 0, A, B), switch(10, 0, A, "S", IDLE)],
            Choice(("nginx*",)),
        )


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 5)), max_size=60))
def test_every_wait_has_its_wake(steps: list[tuple[int, int, int]]) -> None:
    """Whatever tasks do and whatever is missing: as many wakes as waits, so all waits end."""
    tasks = [IDLE, *((f"t{i}", 10 + i) for i in range(1, 6))]
    on = [tasks[0], tasks[0]]
    lines = [switch(0, 0, IDLE, "R", tasks[1]), waking(1, 0, tasks[1], tasks[2])]
    on[0] = tasks[1]
    for turn, (what, cpu, which) in enumerate(steps, 1):
        ns, task = turn * 1_000, tasks[which]
        if what < 2 and task not in on:
            lines.append(switch(ns, cpu, on[cpu], "SR"[what], task))
            on[cpu] = task
        elif what == 2 and task != IDLE:
            lines.append(waking(ns, cpu, on[cpu], task))
        elif what == 3 and task != IDLE:
            lines.append(fork(ns, cpu, on[cpu], task))
    made = inferred(lines)
    waits = {task.id: task.words.split().count("w") for task in made.tasks}
    wakes = dict.fromkeys(waits, 0)
    for task in made.tasks:
        for letter, number in task.steps():
            if letter == ">":
                wakes[number] += 1
    assert waits == wakes


def test_a_process_number_that_is_used_again_has_another_name_and_priority() -> None:
    """The first task is called so and nice; the second one, of the same number, is neither."""
    nice = switch(2_000, 1, ("first", 11), "X", IDLE)
    first = nice._replace(text=nice.text.replace("prev_prio=120", "prev_prio=130"))
    lines = [
        switch(0, 0, IDLE, "R", A),
        fork(500, 0, A, ("first", 11)),
        switch(1_000, 1, IDLE, "R", ("first", 11)),
        first,
        fork(5_000, 0, A, ("second", 11)),
        switch(6_000, 1, IDLE, "R", ("second", 11)),
        switch(9_000, 1, ("second", 11), "X", IDLE),
        switch(9_500, 0, A, "X", IDLE),
    ]
    made = inferred(lines)
    found = {task.name: (task.words, task.settings.get("priority")) for task in made.tasks[1:]}
    assert found == {"first": ("1000", 10), "second": ("3000", None)}
    assert not [note for note in made.recorded["notes"] if "used again" in note]
    assert [task.name for task in inferred(lines, Choice(("second",))).tasks] == ["second"]


def test_timers_that_were_late_are_asked_for_in_between() -> None:
    """A period of 1 ms, of which the work of one turn takes 2.5: two points pass meanwhile.

    On a machine where all goes three times as fast each would be waited for.
    """
    lines = [switch(0, 0, IDLE, "R", A)]
    at, turn = 0, 0
    while turn < 40:
        worked = 2_500_000 if turn == 20 else (turn * 7919) % 400_000 + 1000
        turn += 1 + worked // MS
        lines += [
            switch(at + worked, 0, A, "S", IDLE),
            waking(turn * MS, 0, IDLE, A, "h"),
            switch(turn * MS, 0, IDLE, "R", A),
        ]
        at = turn * MS
    lines.append(switch(at + 1000, 0, A, "S", IDLE))
    made = infer(read(lines), Choice(), "x")
    assert [note for note in made.recorded["notes"] if note.startswith("2 times a periodic timer")]
    [task] = made.tasks
    assert task.words.count("t1000000") == 40
    fast = [(letter, ns // 3 if not letter else ns) for letter, ns in task.steps()]
    run = IdealRun(replace(made, tasks=[replace(task, words=join_words(fast))]))
    assert run.ns // MS == at // MS


def test_times_count_from_the_first_work() -> None:
    """The command of a recording waits for its recorder, which is no part of the workload."""
    lines = [
        switch(0, 0, B, "S", IDLE),
        waking(90 * MS, 1, B, A),
        switch(90 * MS, 0, IDLE, "R", A),
        switch(91 * MS, 0, A, "S", IDLE),
        waking(95 * MS, 0, IDLE, A, "h"),
        switch(95 * MS, 0, IDLE, "R", A),
        switch(96 * MS, 0, A, "X", IDLE),
    ]
    assert words(lines, Choice(("a",)))["a-10"].split()[:2] == ["@0", "1000000"]


def test_a_task_that_a_stranger_starts_comes_when_it_first_runs() -> None:
    lines = [
        switch(0, 1, IDLE, "R", B),
        fork(90 * MS, 1, B, A),
        switch(91 * MS, 0, IDLE, "R", A),
        switch(92 * MS, 0, A, "X", IDLE),
    ]
    [task] = inferred(lines, Choice(("a",))).tasks
    assert task.settings["delay"] == 0
