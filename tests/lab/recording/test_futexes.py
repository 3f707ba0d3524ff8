"""Futexes in traces: locks, barriers and pools become objects that a replay's tasks share."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.recording.causes import ITEM, LOCK_HELD, MEETING, TASK
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.editing import merge, scale
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.trimming import trim
from schedlab.lab.recording.workload import Item, RecordedWorkload, read_workload
from tests.helpers.traces import (
    Line,
    futex,
    futex_done,
    read,
    switch,
    trace_cmd,
    waking,
    yields,
)

IDLE, A, B, C = ("swapper/0", 0), ("a", 10), ("b1", 11), ("b2", 12)
LOCK, OTHER = 0x100, 0x200
Task = tuple[str, int]


def made_of(lines: Sequence[Line], choice: Choice | None = None) -> RecordedWorkload:
    return infer(read(sorted(lines, key=lambda line: line.ns)), choice or Choice(), "x")


def words(made: RecordedWorkload) -> dict[str, str]:
    return {task.key: task.words for task in made.tasks}


def begin(*tasks: Task) -> Iterator[Line]:
    for cpu, task in enumerate(tasks):
        yield switch(0, cpu, IDLE, "R", task)


def wait(ns: int, until: int, cpu: int, task: Task, word: int, value: int) -> list[Line]:
    """A wait in which the task sleeps."""
    return [
        futex(ns, cpu, task, "wait", word, value),
        switch(ns + 100, cpu, task, "S", IDLE),
        switch(until - 100, cpu, IDLE, "R", task),
        futex_done(until, cpu, task),
    ]


def wake(
    ns: int, cpu: int, task: Task, word: int, whom: Sequence[Task], most: int = 1
) -> list[Line]:
    woken = [waking(ns + 100 + at, cpu, task, each) for at, each in enumerate(whom)]
    done = futex_done(ns + 200, cpu, task, len(whom))
    return [futex(ns, cpu, task, "wake", word, most), *woken, done]


def end(ns: int, *tasks: Task) -> Iterator[Line]:
    for cpu, task in enumerate(tasks):
        yield switch(ns, cpu, task, "S", IDLE)


CONTENDED = [
    *begin(A, B),
    *wait(2_000, 5_000, 1, B, LOCK, 2),
    *wake(4_000, 0, A, LOCK, [B]),
    *wake(6_000, 1, B, LOCK, []),
    *end(8_000, A, B),
]
"""A holds a lock, of which only its end is seen; B waits for it and holds it 1 us."""


def test_who_waits_for_a_lock_is_decided_anew() -> None:
    """A took it when nobody saw: so long before its end as B held it, but before B came."""
    made = made_of(CONTENDED)
    assert words(made) == {"a-10": "2000 l1 2000 u1 3800", "b1-11": "2000 l1 1000 u1 1800"}
    assert made.recorded["waits"][LOCK_HELD]["count"] == 1 and TASK not in made.recorded["waits"]
    assert made.recorded["objects"]["locks"] == 1


def test_a_wait_whose_end_is_lost_leaves_the_lock_as_it_is() -> None:
    """Events may be lost anywhere; how long a lock is held is then of the other holds."""
    again = [
        *wait(9_000, 12_000, 1, B, LOCK, 2)[:-1],
        *wake(11_000, 0, A, LOCK, [B]),
        *wake(13_000, 1, B, LOCK, []),
    ]
    made = made_of([*CONTENDED[:-2], *again, *end(15_000, A, B)])
    assert all("l1" in each for each in words(made).values())


def test_a_lock_lost_to_another_one_is_waited_for_again() -> None:
    again = [
        futex(5_100, 1, B, "wait", LOCK, 2),
        futex_done(5_200, 1, B, -11),
    ]
    assert words(made_of([*CONTENDED, *again]))["b1-11"] == "2000 l1 800 u1 1800"


def test_a_lock_that_is_held_at_the_end_is_given_back() -> None:
    lines = [line for line in CONTENDED if line.pid != B[1] or line.ns != 6_000]
    lines = [line for line in lines if not (line.pid == B[1] and line.ns == 6_200)]
    more = [*wake(7_000, 0, A, LOCK, []), *wait(7_300, 7_700, 0, A, LOCK, 2)]
    made = made_of([*lines, *wake(2_500, 1, B, OTHER, []), *more])
    assert all(text.count("l") == text.count("u") for text in words(made).values())


@pytest.mark.parametrize(
    ("value", "why"),
    [(0, "a semaphore or condition: its word is 0"), (5, "a condition: its word counts")],
)
def test_what_is_no_lock_stays_a_hand_over(value: int, why: str) -> None:
    lines = [
        line._replace(text=line.text.replace("val: 0x00000002", f"val: 0x{value:08x}"))
        for line in CONTENDED
    ]
    assert words(made_of(lines))["b1-11"].split()[1] == "w", why


def test_a_task_that_waits_for_another_one_holds_no_lock() -> None:
    """Otherwise a replay in another order could wait for ever."""
    more = [
        switch(6_500, 1, B, "S", IDLE),
        waking(7_000, 0, A, B),
        switch(7_500, 1, IDLE, "R", B),
    ]
    lines = [line for line in CONTENDED if line.pid != B[1] or line.ns < 6_000]
    lines += [*more, *wake(7_600, 1, B, LOCK, [])]
    found = words(made_of(lines))
    assert "l" not in found["a-10"] + found["b1-11"] and found["b1-11"].count("w") == 2


def test_locks_within_each_other_are_taken_in_one_order() -> None:
    def both(first: int, second: int, ns: int, cpu: int, task: Task, other: Task) -> list[Line]:
        """Both locks, found contended; then another task's hold of each ends."""
        return [
            *wait(ns, ns + 1_000, cpu, task, first, 2),
            *wake(ns + 500, 1 - cpu, other, first, [task]),
            *wait(ns + 2_000, ns + 3_000, cpu, task, second, 2),
            *wake(ns + 2_500, 1 - cpu, other, second, [task]),
            *wake(ns + 3_500, cpu, task, second, []),
            *wake(ns + 4_000, cpu, task, first, []),
        ]

    ordered = [*both(LOCK, OTHER, 1_000, 0, A, B), *both(LOCK, OTHER, 11_000, 1, B, A)]
    crossed = [*both(LOCK, OTHER, 1_000, 0, A, B), *both(OTHER, LOCK, 11_000, 1, B, A)]
    counts, told = [], []
    for lines in (ordered, crossed):
        made = made_of([*begin(A, B), *lines, *end(20_000, A, B)])
        counts.append(made.recorded["objects"]["locks"])
        told += [note for note in made.recorded["notes"] if "replayed as hand-overs" in note]
    assert counts == [2, 0]
    assert [note.split()[0] for note in told] == ["2"]


def test_locks_that_only_guesses_put_within_each_other_stay_locks() -> None:
    """B is seen to hold each for 5 us; A has both within 1 us, in either order."""
    lines = [
        *(*wait(2_000, 5_000, 1, B, LOCK, 2), *wake(4_000, 0, A, LOCK, [B])),
        *(*wake(10_000, 1, B, LOCK, []), *wait(12_000, 15_000, 1, B, OTHER, 2)),
        *(*wake(14_000, 0, A, OTHER, [B]), *wake(20_000, 1, B, OTHER, [])),
        *(*wake(30_000, 0, A, LOCK, []), *wake(31_000, 0, A, OTHER, [])),
        *(*wake(40_000, 0, A, OTHER, []), *wake(41_000, 0, A, LOCK, [])),
        *(waking(ns, 1, B, ("nobody", 99)) for ns in range(22_100, 45_000, 500)),
    ]
    made = made_of([*begin(A, B), *lines, *end(50_000, A, B)])
    assert made.recorded["objects"]["locks"] == 2
    found = [word for word in words(made)["a-10"].split() if word[0] in "lu"]
    assert [a[1:] == b[1:] for a, b in zip(found[::2], found[1::2], strict=True)] == [True] * 6
    assert not any("hand-overs" in note for note in made.recorded["notes"])


def test_a_yield_is_called_again() -> None:
    lines = [*begin(A), *yields(1_000, 1_500, 0, A), *end(4_000, A)]
    assert words(made_of(lines)) == {"a-10": "1000 y 2500"}


def meeting(ns: int, order: Sequence[tuple[int, Task]], value: int) -> list[Line]:
    """All come to a barrier, a microsecond apart; the last one wakes the others."""
    *first, (cpu, last) = order
    lines = []
    for at, (own, task) in enumerate(first):
        lines += wait(ns + 1_000 * at, ns + 5_000 + at, own, task, LOCK, value)
    return lines + wake(ns + 4_000, cpu, last, LOCK, [task for _, task in first], most=0x7FFFFFFF)


TASKS = [(0, A), (1, B), (2, C)]
MEETINGS = [
    *begin(A, B, C),
    *meeting(1_000, TASKS, 1),
    *meeting(11_000, TASKS[::-1], 2),
    *end(20_000, A, B, C),
]


def test_tasks_that_wait_for_the_last_one_meet_at_a_barrier() -> None:
    made = made_of(MEETINGS)
    assert made.barriers == [3]
    assert {text.count("b1") for text in words(made).values()} == {2}
    assert made.recorded["waits"][MEETING]["count"] == 4


def test_a_broadcast_of_always_the_same_task_is_no_barrier() -> None:
    lines = [*begin(A, B, C), *meeting(1_000, TASKS, 1), *meeting(11_000, TASKS, 2)]
    made = made_of([*lines, *end(20_000, A, B, C)])
    assert not made.barriers and made.recorded["waits"][TASK]["count"] == 4


WORKERS = [
    *begin(A, B, C),
    *wait(1_000, 4_000, 1, B, LOCK, 0),
    *wait(1_500, 7_000, 2, C, LOCK, 0),
    *wake(3_000, 0, A, LOCK, [B]),
    *wake(6_000, 0, A, LOCK, [C]),
    *wait(9_000, 12_000, 1, B, LOCK, 0),
    *wake(11_000, 0, A, LOCK, [B]),
    *end(14_000, A, B, C),
]
"""A wakes B, C, and B again, which wait at one futex and work 5, 7 and 2 us."""


def test_the_work_of_a_pool_is_with_its_items_not_its_tasks() -> None:
    made = made_of(WORKERS)
    assert words(made)["a-10"] == "3000 p1 2800 p2 4800 p3 2800"
    assert (words(made)["b1-11"], words(made)["b2-12"]) == ("1000 q1", "1500 q1")
    assert made.items == [Item(1, "5000"), Item(1, "7000"), Item(1, "2000")]
    assert made.recorded["waits"][ITEM]["count"] == 3
    run = IdealRun(made)
    assert run.ns == 13_400
    assert words(run.frozen())["b1-11"] == "1000 w 5000 w 2000"


def in_turns(first: int, second: int) -> list[Line]:
    """As WORKERS, but C waits at another word than B."""
    return [
        *begin(A, B, C),
        *wait(1_000, 4_000, 1, B, first, 0),
        *wait(1_500, 7_000, 2, C, second, 0),
        *wake(3_000, 0, A, first, [B]),
        *wake(6_000, 0, A, second, [C]),
        *wait(9_000, 12_000, 1, B, first, 0),
        *wake(11_000, 0, A, first, [B]),
        *end(14_000, A, B, C),
    ]


def test_the_two_words_of_a_condition_variable_feed_one_pool() -> None:
    made = made_of(in_turns(0x100, 0x104))
    assert made.items == made_of(WORKERS).items and words(made) == words(made_of(WORKERS))
    assert made.recorded["objects"]["pools"] == 1
    for apart in ((0x104, 0x108), (0x100, 0x108)):
        assert not made_of(in_turns(*apart)).items


def test_a_pool_that_is_told_to_end_by_a_broadcast_is_one() -> None:
    """Whoever waits then has an item of the same call."""
    lines = [*begin(A, B, C), *wait(500, 200_000, 2, C, LOCK, 0)]
    for at in range(1_000, 121_000, 10_000):
        lines += wait(at, at + 4_000, 1, B, LOCK, 0) + wake(at + 3_000, 0, A, LOCK, [B])
    lines += wait(130_000, 199_000, 1, B, LOCK, 0)
    lines += wake(190_000, 0, A, LOCK, [B, C], most=0x7FFFFFFF)
    made = made_of([*lines, *end(210_000, A, B, C)])
    assert len(made.items) == 14 and words(made)["a-10"].count("p") == 14
    assert words(made)["a-10"].split()[-4:-1] != ["w", "w", "w"]
    assert not list(IdealRun(made).stuck())


def test_work_that_belongs_to_a_task_makes_no_item() -> None:
    """B is woken by name as it serves, so that nobody else could serve for it."""
    more = [
        switch(5_000, 1, B, "S", IDLE),
        waking(5_500, 0, A, B),
        switch(5_800, 1, IDLE, "R", B),
    ]
    made = made_of([*WORKERS, *more])
    assert not made.items and words(made)["b1-11"].count("w") == 3


def test_tasks_that_take_turns_are_no_pool() -> None:
    """Each comes as often as the other: who does what may be agreed on."""
    made = made_of([line for line in WORKERS if line.ns < 8_000])
    assert not made.items and words(made)["a-10"].count(">") == 2


def test_unlike_tasks_are_no_pool() -> None:
    """Their work is not each other's, nor is their priority or their CPUs."""
    made = made_of([*WORKERS, switch(15_000, 2, IDLE, "R", ("slow", 12))])
    assert not made.items


def test_private_words_of_two_processes_are_two() -> None:
    """Of forked processes the addresses are the same."""
    made = made_of([*WORKERS, Line(0, 3, *A, "sched_process_exit", "comm=x pid=99 prio=120")])
    assert made.items
    lines = [line._replace(text=line.text.replace("op: 0x0000008", "op: 0x0000000"))
             for line in WORKERS]  # fmt: skip
    assert made_of(lines).items == made.items


def test_objects_come_back_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    for lines in (CONTENDED, MEETINGS, WORKERS):
        made = made_of(lines)
        made.write(file)
        again = read_workload(file)
        assert (list(again.barriers), list(again.items)) == (list(made.barriers), list(made.items))
        assert words(again) == words(made)
    for wrong, why in (
        ("p4", "'p4' names an? item"),
        ("q2", "'q2' names an? pool"),
        ("b1", "'b1' names an? barrier"),
        ("y1", "not a word"),
    ):
        file.write_text(file.read_text().replace('"3000 p1', f'"{wrong} p1'))
        with pytest.raises(UsageError, match=why):
            read_workload(file)
        made.write(file)


def test_copies_share_nothing() -> None:
    twice = scale(made_of(CONTENDED), 2, 1)
    assert [task.words for task in twice.tasks][2:] == [
        "2000 l2 2000 u2 3800",
        "2000 l2 1000 u2 1800",
    ]
    both = merge([made_of(MEETINGS), made_of(MEETINGS), made_of(WORKERS), made_of(WORKERS)])
    assert list(both.barriers) == [3, 3] and [item.pool for item in both.items] == [1] * 3 + [2] * 3
    assert (
        both.tasks[-1].words == "1500 q2" and both.tasks[-3].words == "3000 p4 2800 p5 4800 p6 2800"
    )


def test_a_cut_leaves_nobody_waiting() -> None:
    short = trim(made_of(CONTENDED), 3e-6, ())
    assert words(short) == {"a-10": "2000 l1 1000 u1", "b1-11": "2000"}
    two = trim(made_of(MEETINGS), None, ("a", "b1"))
    assert list(two.barriers) == [2] and IdealRun(two).ns > 0
    assert words(trim(made_of(MEETINGS), 2e-6, ())) == {
        "a-10": "1000",
        "b1-11": "2000",
        "b2-12": "2000",
    }
    alone = trim(made_of(WORKERS), None, ("b1",))
    assert words(alone) == {"b1-11": "1000 @3000 5000 @10600 2000"}


@pytest.mark.parametrize(
    "line",
    [
        "a-10 [000] d.... 1.000000001: sys_futex(uaddr: 7f0000000100, op: 80, val: 2, utime: 0)",
        "a-10 [000] d.... 1.000000001: sys_enter_futex: uaddr=0x7f0000000100 op=128 val=2",
    ],
)
def test_other_tools_lines_of_the_same_call(line: str) -> None:
    from schedlab.lab.recording.events import FUTEX_IS_PRIVATE, Kind
    from schedlab.lab.recording.text import read_text

    events = read_text([f"{line}\n".encode()], "x")
    assert (events.kind[0], events.three[0]) == (Kind.FUTEX_WAIT, 2)
    assert (events.one[0], events.two[0]) == (0x100, 0x7F00 | FUTEX_IS_PRIVATE)
    assert len(read([futex(1, 0, A, "wait", 1, 2)], trace_cmd)) == 1


def test_two_tasks_that_take_turns_at_a_futex_are_no_pool() -> None:
    """Though one wake finds no waiter, so that they are not woken equally often."""
    one, two = ("pp1", 31), ("pp2", 32)
    lines = [*begin(one, two)]
    for turn in range(6):
        now = 10_000 * turn
        if turn != 3:
            lines += wait(now + 1_000, now + 4_000, 1, two, LOCK, 0)
        lines += wake(now + 3_000, 0, one, LOCK, [two] if turn != 3 else [])
        lines += wait(now + 3_500, now + 9_000, 0, one, LOCK, 0)
        lines += wake(now + 8_000, 1, two, LOCK, [one])
    made = made_of(lines)
    assert not made.items
    assert {"w", ">32"} <= set(words(made)["pp1-31"].split())


def test_a_workload_with_a_lock_says_what_is_not_seen() -> None:
    made = made_of([*begin(A, B), *wake(5_000, 0, A, LOCK, [B]), *wait(2_000, 8_000, 1, B, LOCK, 2),
                    *wake(9_000, 1, B, LOCK, [])])  # fmt: skip
    told = any("found a lock free" in note for note in made.recorded["notes"])
    assert told and made.recorded["objects"]["locks"] == 1
    assert any("4e-06 s are seen to be under one" in note for note in made.recorded["notes"])


def rotation(busy: bool) -> list[Line]:
    """A hands work to B and C in turns, who wait at one futex; both work for long if `busy`."""
    lines = [*begin(A, B, C)]
    for turn in range(20):
        cpu, task = ((1, B), (2, C))[turn % 2]
        at = 10_000 * (turn + 1)
        since = at - (1_000 if busy else 14_000)
        lines += wait(since, at + 500, cpu, task, LOCK, 0) + wake(at, 0, A, LOCK, [task])
    return [*lines, *end(300_000, A, B, C)]


def test_tasks_that_others_wake_in_a_rotation_are_a_pool() -> None:
    """They come equally often, as who waits longest is woken first; nobody addresses them."""
    made = made_of(rotation(busy=False))
    assert len(made.items) == 20 and words(made)["b1-11"].endswith("q1")
    assert not any("none of its tasks slept" in note for note in made.recorded["notes"])


def test_a_pool_whose_tasks_were_all_awake_may_hide_items() -> None:
    notes = made_of(rotation(busy=True)).recorded["notes"]
    found = next(note for note in notes if "none of its tasks slept" in note)
    assert found.startswith("For 90 % of the 0.00019 s") and "the 20 items may be more" in found


def test_locks_that_are_mostly_free_are_said_to_be_handed_over() -> None:
    later = (
        *wait(1_002_000, 1_005_000, 1, B, LOCK, 2),
        *wake(1_004_000, 0, A, LOCK, [B]),
        *wake(1_006_000, 1, B, LOCK, []),
    )
    for more, number in (((), 0), (later, 2)):
        notes = made_of([*CONTENDED[:-2], *more, *end(1_010_000, A, B)]).recorded["notes"]
        said = f"{number} of {number} waits for locks are ended in the recorded order"
        assert any(said in note and "take too long" in note for note in notes) == bool(number)


@pytest.mark.parametrize(
    ("ends", "feeder", "said"),
    [((90, 100), 30, True), ((90, 100), 0, False), ((9, 100), 30, False)],
)
def test_tasks_that_never_wait_may_be_a_busy_pool(
    ends: tuple[int, int], feeder: int, said: bool
) -> None:
    """Of an only thread of work, or threads of unlike work, nothing is said."""
    source, pool = ("source", 20), (("worker 1", 21), ("worker 2", 22))
    lines = list(begin(source, *pool))
    for cpu, (task, ms) in enumerate(zip((source, *pool), (feeder, *ends), strict=True)):
        lines += [switch(ms * 1_000_000 + 2_000, cpu, task, "S", IDLE)]
    lines[0] = switch(1_000, 0, IDLE, "R", source)
    notes = made_of(lines).recorded["notes"]
    assert any(note.startswith("2 tasks of one name (worker 1)") for note in notes) == said
