"""Servers in traces: requests become items, whether or not the trace shows that they were made."""

from collections.abc import Iterator
from dataclasses import replace

from schedlab.lab.recording.causes import ITEM, TASK
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.editing import merge
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.trimming import trim
from schedlab.lab.recording.workload import PUT, RecordedTask, RecordedWorkload
from tests.helpers.traces import Line, fork, read, switch, waking, yields
from tests.lab.recording.test_futexes import LOCK, made_of, wait, wake

IDLE, SERVER, A, B = ("swapper/0", 0), ("server", 10), ("a", 11), ("b", 12)
ROUNDS = 10
Task = tuple[str, int]


def begin() -> Iterator[Line]:
    """The three tasks are there, and the server waits."""
    for cpu, task in enumerate((SERVER, A, B)):
        yield switch(0, cpu, IDLE, "R", task)
    yield switch(100, 0, SERVER, "S", IDLE)


def served(at: int, first: tuple[Task, int], second: tuple[Task, int]) -> list[Line]:
    """A round: the first client wakes the server, the second one asks while it works."""
    (one, cpu), (other, beside) = first, second
    return [
        waking(at + 10_000, cpu, one, SERVER),
        switch(at + 11_000, cpu, one, "S", IDLE),
        switch(at + 12_000, 0, IDLE, "R", SERVER),
        switch(at + 14_000, beside, other, "S", IDLE),
        waking(at + 20_000, 0, SERVER, one),
        switch(at + 21_000, cpu, IDLE, "R", one),
        waking(at + 35_000, 0, SERVER, other),
        switch(at + 36_000, 0, SERVER, "S", IDLE),
        switch(at + 37_000, beside, IDLE, "R", other),
    ]


def rounds() -> list[Line]:
    lines = list(begin())
    for number in range(ROUNDS):
        clients = ((A, 1), (B, 2)) if number % 2 else ((B, 2), (A, 1))
        lines += served(100_000 * (number + 1), *clients)
    return lines


def recorded(lines: list[Line], choice: Choice | None = None) -> RecordedWorkload:
    return infer(read(lines), choice or Choice(), "x")


def test_requests_to_a_server_are_items_that_its_clients_put() -> None:
    """Also those that woke nobody, so that the server answers whoever asks, and not in turns."""
    made = recorded(rounds())
    words = {task.key: task.words.split() for task in made.tasks}
    assert words["server-10"] == ["100", "q1"]
    assert len(made.items) == 2 * ROUNDS
    for client in ("a-11", "b-12"):
        number = client[-2:]
        asks = [at for at, word in enumerate(words[client]) if word.startswith(PUT)]
        assert len(asks) == ROUNDS
        assert all("w" in words[client][at + 1 : at + 3] for at in asks)
        answers = {made.items[int(words[client][at][1:]) - 1].words for at in asks}
        assert {answer.split()[1] for answer in answers} == {f">{number}"}
    assert sum(ns for _, steps in made.named_steps() for letter, ns in steps if not letter) > 0
    waits = made.recorded["waits"]
    assert waits[ITEM]["count"] == ROUNDS and waits[TASK]["count"] == 2 * ROUNDS
    assert not list(IdealRun(made).stuck())


def test_a_client_that_comes_first_is_not_kept_for_the_other() -> None:
    """One client begins a millisecond late: the other one's requests are answered before."""
    made = recorded(rounds())
    tasks = [
        replace(task, words=f"1000000 {task.words}") if task.name == "b" else task
        for task in made.tasks
    ]
    run = IdealRun(RecordedWorkload(tasks, {}, items=made.items))
    assert not list(run.stuck())
    assert run.times(11)[-1] < 1_000_000 < run.times(12)[-1]


def test_the_work_of_all_is_kept() -> None:
    lines = rounds()
    as_written = recorded(lines, Choice(as_written=True))
    assert recorded(lines).work() == as_written.work()
    assert not as_written.items


def test_a_task_that_waits_for_all_others_serves_none() -> None:
    """It starts two workers each round, and goes on when the second one is done as well."""
    lines = list(begin())
    for at in range(100_000, 100_000 * ROUNDS, 100_000):
        lines += [
            waking(at + 10_000, 1, A, SERVER),
            switch(at + 11_000, 1, A, "S", IDLE),
            switch(at + 12_000, 0, IDLE, "R", SERVER),
            switch(at + 14_000, 0, SERVER, "S", IDLE),
            waking(at + 20_000, 2, B, SERVER),
            switch(at + 21_000, 2, B, "S", IDLE),
            switch(at + 22_000, 0, IDLE, "R", SERVER),
            waking(at + 30_000, 0, SERVER, A),
            switch(at + 31_000, 1, IDLE, "R", A),
            waking(at + 32_000, 0, SERVER, B),
            switch(at + 33_000, 2, IDLE, "R", B),
            switch(at + 34_000, 0, SERVER, "S", IDLE),
        ]
    made = recorded(lines)
    assert not made.items and made.recorded["waits"][TASK]["count"] == 4 * (ROUNDS - 1)


def test_two_that_take_turns_serve_none() -> None:
    lines = list(begin())
    for at in range(100_000, 100_000 * ROUNDS, 100_000):
        lines += [
            waking(at + 10_000, 1, A, SERVER),
            switch(at + 11_000, 1, A, "S", IDLE),
            switch(at + 12_000, 0, IDLE, "R", SERVER),
            waking(at + 20_000, 0, SERVER, A),
            switch(at + 21_000, 1, IDLE, "R", A),
            switch(at + 22_000, 0, SERVER, "S", IDLE),
        ]
    made = recorded(lines)
    assert not made.items and made.recorded["waits"][TASK]["count"] == 2 * (ROUNDS - 1)


def test_a_server_begins_to_serve_when_it_has_started_its_workers() -> None:
    """A worker asks before the other one is there, and is answered as both are."""
    lines = [
        switch(0, 0, IDLE, "R", SERVER),
        fork(1_000, 0, SERVER, A),
        switch(1_500, 1, IDLE, "R", A),
        switch(5_000, 1, A, "S", IDLE),
        fork(20_000, 0, SERVER, B),
        switch(20_500, 2, IDLE, "R", B),
        switch(25_000, 2, B, "S", IDLE),
        waking(30_000, 0, SERVER, A),
        switch(31_000, 1, IDLE, "R", A),
        waking(32_000, 0, SERVER, B),
        switch(33_000, 2, IDLE, "R", B),
        switch(34_000, 0, SERVER, "S", IDLE),
    ]
    for number in range(ROUNDS):
        clients = ((A, 1), (B, 2)) if number % 2 else ((B, 2), (A, 1))
        lines += served(100_000 * (number + 1), *clients)
    server = next(task for task in recorded(lines).tasks if task.name == "server")
    assert server.words == "1000 +11 19000 +12 500 q1"


def test_a_lock_is_held_around_each_yield_of_a_task_that_yields_in_all_its_holds() -> None:
    """Two tasks fight for a lock at times; each yields once while it has it."""
    lines = list(begin())
    for at in range(100_000, 100_000 * ROUNDS, 100_000):
        lines += [
            *yields(at, at + 500, 1, A),
            *yields(at + 10_000, at + 10_500, 1, A),
            *yields(at + 20_000, at + 25_000, 1, A),
            *wait(at + 21_000, at + 30_000, 2, B, LOCK, 2),
            *wake(at + 26_000, 1, A, LOCK, [B]),
            *yields(at + 31_000, at + 32_000, 2, B),
            *wake(at + 33_000, 2, B, LOCK, []),
        ]
    words = {task.name: task.words for task in made_of(lines).tasks}
    of_a = " ".join(word for word in words["a"].split() if not word.isdigit())
    assert of_a == " ".join(["l1 y u1"] * 3 * (ROUNDS - 1))


def test_no_lock_is_held_around_a_yield_while_another_task_holds_it() -> None:
    """Each round, B waits for A's hold; while B has the lock then, A yields once without it."""
    lines = list(begin())
    for at in range(100_000, 100_000 * ROUNDS, 100_000):
        lines += [
            *yields(at, at + 500, 1, A),
            *yields(at + 20_000, at + 25_000, 1, A),
            *wait(at + 21_000, at + 30_000, 2, B, LOCK, 2),
            *wake(at + 26_000, 1, A, LOCK, [B]),
            *yields(at + 31_000, at + 32_000, 2, B),
            *yields(at + 33_000, at + 34_000, 1, A),
            *wake(at + 36_000, 2, B, LOCK, []),
        ]
    words = {task.name: task.words for task in made_of(lines).tasks}
    of_a = " ".join(word for word in words["a"].split() if not word.isdigit())
    assert of_a == " ".join(["l1 y u1 l1 y u1 y"] * (ROUNDS - 1))


def test_one_call_that_wakes_several_opens_a_gate() -> None:
    """Two wakes 300 ns of work apart are of one call, and the one 5 us later is another."""
    c = ("c", 13)
    made = recorded(
        [
            *begin(),
            switch(0, 3, IDLE, "R", c),
            *(switch(1_000, cpu, task, "S", IDLE) for cpu, task in ((1, A), (2, B), (3, c))),
            switch(2_000, 0, IDLE, "R", SERVER),
            waking(4_000, 0, SERVER, A),
            waking(4_300, 0, SERVER, B),
            waking(9_300, 0, SERVER, c),
            *(switch(10_000, cpu, IDLE, "R", task) for cpu, task in ((1, A), (2, B), (3, c))),
            *(switch(12_000, cpu, task, "S", IDLE) for cpu, task in ((1, A), (2, B), (3, c))),
        ]
    )
    words = {task.name: task.words for task in made.tasks}
    assert words["server"].endswith("2000 o1 5000 >13 2700")
    assert words["a"] == words["b"] == "1000 g1 2000" and words["c"] == "1000 w 2000"
    run = IdealRun(made)
    assert not list(run.stuck()) and run.wake_of(11, 1) == run.wake_of(12, 1)


def test_a_gate_stays_one_of_its_own_recording() -> None:
    """Two recordings beside each other have gates of their own, and no gate is opened twice."""
    tasks = [RecordedTask(1, "a", "1000 o1"), RecordedTask(2, "b", "g1 500")]
    both = merge([RecordedWorkload(tasks, {})] * 2)
    assert [task.words for task in both.tasks] == ["1000 o1", "g1 500", "1000 o2", "g2 500"]
    only = trim(both, None, ["b"])
    assert {task.words for task in only.tasks} == {"@1000 500"}


def test_the_beginning_of_a_server_is_still_a_server() -> None:
    """Requests that came later go, and the last one is cut off where its work is."""
    whole = recorded(rounds())
    every = IdealRun(whole)
    for part in range(3, 10):
        limit = every.ns * part // 10
        made = trim(whole, limit / 1e9, ())
        assert 0 < len(made.items) < len(whole.items)
        assert {"q1"} == {task.words.split()[-1] for task in made.tasks if task.name == "server"}
        run = IdealRun(made)
        assert not list(run.stuck()) and abs(run.ns - limit) < 60_000
        known = {item.words for item in whole.items}
        assert sum(item.words not in known for item in made.items) <= 1


def test_a_server_without_one_of_its_clients_answers_in_the_recorded_order() -> None:
    made = trim(recorded(rounds()), None, ("server", "a"))
    assert not made.items and not list(IdealRun(made).stuck())


EMPTY, FULL, MORE = 0x300, 0x400, 0x500


def buffered(words: tuple[int, int, int, int], both: bool) -> list[Line]:
    """B waits for A at one futex and for C at another one, and wakes each of them at one, too.

    A is let go on by B before C is, and the other way round in every second round.
    """
    c = ("c", 13)
    lines = [switch(0, cpu, IDLE, "R", task) for cpu, task in enumerate((A, B, c))]
    for at in range(100_000, 100_000 * ROUNDS, 100_000):
        lines += [
            *wait(at, at + 20_000, 1, B, words[0], 0),
            *wake(at + 10_000, 0, A, words[0], [B]),
            *wait(at + 15_000, at + 40_000, 0, A, words[1], 0),
            *wake(at + 30_000, 1, B, words[1], [A]),
        ]
        if both:
            lines += [
                *wait(at + 50_000, at + 70_000, 1, B, words[2], 0),
                *wake(at + 60_000, 2, c, words[2], [B]),
                *wait(at + 65_000, at + 90_000, 2, c, words[3], 0),
                *wake(at + 80_000, 1, B, words[3], [c]),
            ]
    return lines


def test_who_waits_for_two_tasks_at_a_futex_each_serves_none_of_them() -> None:
    """Each of its waits is for one wake, which a gate is for: no other one ends it."""
    made = made_of(buffered((EMPTY, FULL, MORE, LOCK), True))
    assert not made.items
    words = {task.name: task.words for task in made.tasks}
    assert words["b"].count("g") == 2 * (ROUNDS - 1) and "w" not in words["b"]
    assert not list(IdealRun(made).stuck())


def test_those_that_wait_at_one_futex_serve_each_other_in_nothing() -> None:
    """As the tasks of a reader-writer lock, of which one wakes all others and they wake it."""
    made = made_of(buffered((LOCK, LOCK, LOCK, LOCK), True))
    assert not made.items
