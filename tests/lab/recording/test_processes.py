"""Processes and threads of a trace, and waits for the end of a process."""

from dataclasses import replace

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.editing import merge
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.setup import Setup, TaskSetup
from schedlab.lab.recording.trimming import trim
from schedlab.lab.recording.workload import RecordedTask, RecordedWorkload, read_workload
from tests.helpers.traces import Line, fork, read, switch, waking

IDLE, A, B, C = ("swapper/0", 0), ("a", 10), ("b", 11), ("c", 12)
THREAD, PROCESS = 0x10D00, 0


def started(ns: int, by: tuple[str, int], child: tuple[str, int], flags: int) -> list[Line]:
    text = f"pid={child[1]} comm={by[0]} clone_flags={flags:x} oom_score_adj=0"
    return [Line(ns, 0, *by, "task_newtask", text), fork(ns + 1, 0, by, child)]


def ends(ns: int, cpu: int, task: tuple[str, int]) -> Line:
    return Line(ns, cpu, *task, "sched_process_exit", f"comm={task[0]} pid={task[1]} prio=120")


def build(flags: int, second: bool = False) -> RecordedWorkload:
    """A task starts another one, or two, and waits until one has ended."""
    lines = [
        switch(0, 0, IDLE, "R", A),
        *started(10_000, A, B, flags),
        switch(10_500, 1, IDLE, "R", B),
        *(started(15_000, A, C, flags) if second else []),
        *([switch(15_500, 2, IDLE, "R", C)] if second else []),
        switch(20_000, 0, A, "S", IDLE),
        ends(50_000, 1, B),
        waking(51_000, 1, B, A),
        switch(51_500, 1, B, "X", IDLE),
        switch(52_000, 0, IDLE, "R", A),
        switch(60_000, 0, A, "S", IDLE),
        *([switch(70_000, 2, C, "S", IDLE)] if second else []),
    ]
    return infer(read(lines), Choice(), "x")


@pytest.mark.parametrize(("flags", "apart"), [(PROCESS, True), (THREAD, False)])
def test_who_is_a_process_of_its_own_is_seen_as_it_starts(flags: int, apart: bool) -> None:
    made = {task.name: task for task in build(flags).tasks}
    assert (made["b"].process != made["a"].process) == apart


def test_the_end_of_an_only_child_is_waited_for() -> None:
    made = {task.name: task.words for task in build(PROCESS).tasks}
    assert made["a"] == "10001 +11 9999 j11 8000" and ">" not in made["b"]


def test_the_end_of_one_of_several_is_a_wake_as_another_one_may_end_first() -> None:
    made = {task.name: task.words.split() for task in build(PROCESS, second=True).tasks}
    assert "w" in made["a"] and ">10" in made["b"]


TASKS = [
    RecordedTask(1, "a", "1000 +2 500 j2 700", {"process": 1}),
    RecordedTask(2, "b", "5000 +3", {"process": 2, "instance": 0}),
    RecordedTask(3, "c", "9000", {"process": 2, "instance": 0}),
]


def test_a_task_waits_in_the_ideal_run_until_the_other_one_has_ended() -> None:
    run = IdealRun(RecordedWorkload(TASKS, {}))
    assert run.times(1)[-1] == 6_000 and run.ns == 15_000
    assert not list(run.stuck())
    for_ever = [RecordedTask(1, "a", "j2"), RecordedTask(2, "b", "w")]
    assert {word for _, word in IdealRun(RecordedWorkload(for_ever, {})).stuck()} == {"j2", "w"}


def test_processes_and_ends_keep_to_their_copy() -> None:
    made = merge([RecordedWorkload(TASKS, {})] * 2)
    assert [task.process for task in made.tasks] == [1, 2, 2, 3, 4, 4]
    assert made.tasks[3].words == "1000 +5 500 j5 700"


def test_who_waits_for_a_task_that_goes_goes_on_at_that_time() -> None:
    made = trim(RecordedWorkload(TASKS, {}), None, ["a"])
    assert [task.words for task in made.tasks] == ["1500 @6000 700"]
    assert not list(IdealRun(trim(RecordedWorkload(TASKS, {}), 4e-6, ())).stuck())


def test_a_process_has_a_number(tmp_path) -> None:  # type: ignore[no-untyped-def]
    file = tmp_path / "x.slw"
    RecordedWorkload(TASKS, {}).write(file)
    file.write_text(file.read_text().replace('"process":2', '"process":0', 1))
    with pytest.raises(UsageError, match=r"b-2.process: a number from 1 is expected"):
        read_workload(file)


def test_who_is_in_one_process_with_a_task_of_another_priority_has_its_own() -> None:
    """Else it would have that of the task which begins their process."""
    real = ("real", 10)
    lines = [
        *started(100, real, B, THREAD),
        *started(200, real, C, PROCESS),
        switch(500, 0, real, "R", B),
        switch(1_000, 0, B, "R", C),
        switch(2_000, 0, C, "S", real),
        switch(3_000, 0, real, "S", IDLE),
    ]
    lines = [
        line._replace(
            text=line.text.replace("pid=10 prev_prio=120", "pid=10 prev_prio=100").replace(
                "pid=10 next_prio=120", "pid=10 next_prio=100"
            )
        )
        for line in lines
    ]
    tasks = {10: TaskSetup(10, "0"), 11: TaskSetup(10, "0"), 12: TaskSetup(12, "0")}
    setup = Setup("6.12", "0", tasks)
    events = replace(read(lines), setup=setup)
    made = {task.name: task.settings for task in infer(events, Choice(), "x").tasks}
    assert made["real"]["priority"] == -20
    assert made["b"]["priority"] == 0 and "priority" not in made["c"]
