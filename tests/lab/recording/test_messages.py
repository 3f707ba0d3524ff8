"""Messages over pipes and sockets in traces: they become sends and receives of a replay."""

from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.recording.causes import MESSAGE, TASK
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.editing import merge, scale
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.trimming import trim
from schedlab.lab.recording.workload import Message, RecordedWorkload, read_workload
from tests.helpers.traces import Line, read, switch, waking

IDLE, A, B, C = ("swapper/0", 0), ("a", 10), ("b", 11), ("c", 12)


def message(ns: int, cpu: int, task: tuple[str, int], what: str, channel: int = 0) -> Line:
    text = f"kind=unix object={channel} bytes=100" if channel else "bytes=100"
    return Line(ns, cpu, *task, f"message_{what}", text)


def call(ns: int, until: int, cpu: int, task: tuple[str, int], what: str) -> list[Line]:
    return [message(ns, cpu, task, what, 7), message(until, cpu, task, "done")]


ONE_WAITS = [
    switch(0, 0, IDLE, "R", A),
    switch(0, 1, IDLE, "R", B),
    message(3_000, 1, B, "receive", 7),
    switch(4_000, 1, B, "S", IDLE),
    message(5_000, 0, A, "send", 7),
    waking(5_500, 0, A, B),
    message(6_000, 0, A, "done"),
    switch(7_000, 1, IDLE, "R", B),
    message(8_000, 1, B, "done"),
    switch(9_000, 0, A, "S", IDLE),
    switch(10_000, 1, B, "S", IDLE),
]


def made_of(lines: list[Line], choice: Choice | None = None) -> RecordedWorkload:
    return infer(read(lines), choice or Choice(), "x")


def words(made: RecordedWorkload) -> dict[str, str]:
    return {task.key: task.words for task in made.tasks}


def test_a_wait_for_a_message_is_decided_anew_and_its_call_is_no_work() -> None:
    made = made_of(ONE_WAITS)
    assert words(made) == {"a-10": "5000 m1 3000", "b-11": "3000 r1 2000"}
    assert made.messages == [Message("unix", 7, 100)]
    assert made.recorded["waits"][MESSAGE]["count"] == 1 and TASK not in made.recorded["waits"]


def test_a_wake_by_a_message_that_another_call_waits_for() -> None:
    """As epoll_wait(), whose own wait and wake are left out: the receive after it waits."""
    lines = [
        switch(0, 0, IDLE, "R", A),
        switch(0, 1, IDLE, "R", B),
        switch(4_000, 1, B, "S", IDLE),
        message(5_000, 0, A, "send", 7),
        waking(5_500, 0, A, B),
        message(6_000, 0, A, "done"),
        switch(7_000, 1, IDLE, "R", B),
        *call(8_000, 8_500, 1, B, "receive"),
        switch(9_000, 0, A, "S", IDLE),
        switch(10_000, 1, B, "S", IDLE),
    ]
    assert words(made_of(lines)) == {"a-10": "5000 m1 3000", "b-11": "5000 r1 1500"}


def test_what_was_sent_before_the_trace_began_is_not_received_again() -> None:
    more = [*ONE_WAITS[:2], *call(1_000, 1_500, 1, B, "receive"), *ONE_WAITS[2:]]
    assert words(made_of(more)) == words(made_of(ONE_WAITS))


def test_what_is_received_before_it_is_sent_is_no_message() -> None:
    """As many bytes are sent as received, but another message was on its way at the beginning."""
    more = [*ONE_WAITS[:2], *call(1_000, 1_500, 1, B, "receive"), *ONE_WAITS[2:-2]]
    more += [*call(8_100, 8_500, 0, A, "send"), *ONE_WAITS[-2:]]
    assert words(made_of(more)) == {"a-10": "5000 m1 2100 m1 500", "b-11": "3000 r1 2000"}


def test_two_that_receive_make_edges() -> None:
    more = [
        *ONE_WAITS[:7],
        switch(6_000, 2, IDLE, "R", C),
        *call(6_100, 6_200, 0, A, "send"),
        *call(6_300, 6_400, 2, C, "receive"),
        switch(6_500, 2, C, "S", IDLE),
        *ONE_WAITS[7:],
    ]
    assert not made_of(more).messages


def test_a_task_that_is_not_taken_makes_arrivals() -> None:
    made = made_of(ONE_WAITS, Choice(("b",)))
    assert words(made) == {"b-11": "4000 @0 3000"} and not made.messages


def test_messages_come_back_from_the_file(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    made_of(ONE_WAITS).write(file)
    assert list(read_workload(file).messages) == [Message("unix", 7, 100)]
    file.write_text(file.read_text().replace("m1", "m2"))
    with pytest.raises(UsageError, match=r"tasks\.a-10: the word 'm2' names a message"):
        read_workload(file)


def test_an_ideal_run_waits_for_messages() -> None:
    run = IdealRun(made_of(ONE_WAITS))
    assert run.ns == 8_000
    assert run.wake_of(11, 1) == (10, 5_000)


def test_copies_have_channels_of_their_own() -> None:
    made = made_of(ONE_WAITS)
    for twice in (scale(made, 2, 1), merge([made, made])):
        assert [message.channel for message in twice.messages] == [7, 14]
        assert [task.words for task in twice.tasks][2:] == ["5000 m2 3000", "3000 r2 2000"]


def test_what_is_cut_off_arrives_from_outside() -> None:
    made = made_of(ONE_WAITS)
    assert words(trim(made, None, ("b",))) == {"b-11": "3000 @5000 2000"}
    assert words(trim(made, None, ("a",))) == {"a-10": "8000"}
    assert words(trim(made, 4e-6, ())) == {"a-10": "4000", "b-11": "3000"}
