"""Workload files: written and read back, cut, scaled, merged."""

import json
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.errors import UsageError
from schedlab.lab.recording.closure import probe, without_costs, word_costs
from schedlab.lab.recording.editing import merge, scale
from schedlab.lab.recording.ideal import IdealRun
from schedlab.lab.recording.showing import describe
from schedlab.lab.recording.trimming import trim
from schedlab.lab.recording.workload import (
    TIMER_SLACK,
    Item,
    Message,
    RecordedTask,
    RecordedWorkload,
    join_words,
    read_workload,
)
from tests.helpers.command_line import Cli

Json = dict[str, Any]


def workload(**tasks: str) -> RecordedWorkload:
    made = [RecordedTask(int(key[1:]), key[0], words) for key, words in tasks.items()]
    return RecordedWorkload(made, {"source": "test", "seconds": 1.0})


PING = workload(a1="1000 >2 500 w 1000 >3", b2="w 2000 >1", c3="w s5000 100")


def balance(made: RecordedWorkload) -> dict[int, int]:
    """Wakes less waits, of each task."""
    count = {task.id: 0 for task in made.tasks}
    for task in made.tasks:
        for letter, number in task.steps():
            if letter == "w":
                count[task.id] -= 1
            elif letter == ">":
                count[number] += 1
    return count


def test_a_file_comes_back_as_it_was(tmp_path: Path) -> None:
    PING.write(tmp_path / "x.slw")
    back = read_workload(tmp_path / "x.slw")
    assert [(t.id, t.name, t.words) for t in back.tasks] == [
        (t.id, t.name, t.words) for t in PING.tasks
    ]
    assert back.recorded == PING.recorded


def test_a_refusal_names_the_line(tmp_path: Path) -> None:
    file = tmp_path / "x.slw"
    made = replace(PING, items=[Item(1, "100"), Item(1, "r9")], messages=[])
    made.write(file)
    number = next(at for at, line in enumerate(file.read_text().split("\n"), 1) if '"r9"' in line)
    with pytest.raises(UsageError, match=rf"x\.slw:{number}: items\.2: the word 'r9'"):
        read_workload(file)


def test_only_a_workload_alone_keeps_the_cpus_that_its_tasks_begin_on() -> None:
    alone = replace(PING, tasks=[replace(t, settings={"first_cpu": 1}) for t in PING.tasks])
    for made, keeps in (
        (scale(alone, 1, 2.0), 3),
        (scale(alone, 2, 1.0), 0),
        (merge([PING, alone]), 0),
    ):
        assert sum("first_cpu" in task.settings for task in made.tasks) == keeps


def hostile(recorded: Json | None = None, items: Json | None = None, **more: Any) -> str:
    """A file whose tasks are those with a dash in their names; without any, one that works."""
    tasks = {key: more.pop(key) for key in list(more) if "-" in key} or {"a-1": "100"}
    made = {
        key: task if isinstance(task, dict) else {"loop": 1, "replay": task}
        for key, task in tasks.items()
    }
    about = {"version": 1, **(recorded or {})}
    return json.dumps({"recorded": about, "items": items or {}, **more, "tasks": made})


@pytest.mark.parametrize(
    ("document", "message"),
    [
        ("{", "is not JSON"),
        ("[]", "it is not a recording"),
        (
            hostile(**{"a-1": {"replay": "1", "first_cpu": -1}}),
            r"a-1.first_cpu: the number of a CPU",
        ),
        (
            hostile(**{"a-1": "10 >7"}),
            "a-1: the word '>7' names a task .*\n *Take the word out, or",
        ),
        (hostile(**{"a-1": "10 +7"}), r"a-1: the word '\+7' names a task that"),
        ('{"recorded": {"version": 2}, "tasks": {}}', "version is 2"),
        ('{"recorded": {"version": 1}, "tasks": {"x": {}}}', "is called NAME-NUMBER"),
        ('{"recorded": {"version": 1}, "tasks": {"x-1": {}}}', '"replay" is missing'),
        ('{"recorded": {"version": 1}, "tasks": {"x-1": {"replay": "9 q"}}}', "'q' is not a word"),
        ('{"recorded": {"version": 1}, "tasks": {"x-1": {"replay": "w9"}}}', "'w9' is not a word"),
        ("[" * 100_000, "is not JSON"),
        (hostile(recorded={"seconds": "abc"}), "recorded.seconds: a number is expected"),
        (hostile(recorded={"waits": {"task": {"count": "x"}}}), "waits.task: count and share"),
        (hostile(messages={"1": {"kind": "unix", "channel": 1e999, "bytes": 1}}), "messages.1"),
        (hostile(messages={"1": {"kind": "foo", "channel": 1, "bytes": 1}}), "messages.1: kind"),
        (hostile(messages={"1": {"kind": "unix", "channel": 1, "bytes": -4}}), "messages.1"),
        (hostile(barriers={"1": True}), "barriers.1"),
        (hostile(items={"1": {"pool": 10**6 + 1, "replay": "1"}}), "items.1"),
        (hostile(**{"a-1": "9" * 5000}), "a time is longer than a day"),
        (hostile(**{"a-1": {"loop": 1, "delay": "x", "replay": "9"}}), "a-1.delay: a time in us"),
        (hostile(**{"a-1": {"loop": 2, "replay": "9"}}), "a replay is done once"),
        (hostile(**{"a-1": "9", "b-1": "9"}), "b-1: another task has the same number"),
        (hostile(**{"a-1": "+1"}), "task 1 is started more than once"),
        (
            hostile(items={"1": {"pool": 1, "replay": "1"}}, **{"a-1": "p1 p1"}),
            "item 1 is put more",
        ),
        (hostile(**{"a-1": "t0"}), "a-1: 't0': a grid of 0 ns has no next point"),
        (
            hostile(
                items={"1": {"pool": 1, "replay": "1"}, "2": {"pool": 3, "replay": "1"}},
                **{"a-1": "p1 p2 q2"},
            ),
            "a-1: the word 'q2' names a pool that the file does not have",
        ),
    ],
)
def test_what_is_wrong_with_a_file(tmp_path: Path, document: str, message: str) -> None:
    file = tmp_path / "x.slw"
    file.write_text(document)
    with pytest.raises(UsageError, match=message):
        read_workload(file)


def test_a_file_that_cannot_be_written_is_not_called_unreadable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be written: Is a directory"):
        PING.write(tmp_path)


def test_the_ideal_run_has_a_cpu_for_everybody() -> None:
    run = IdealRun(PING)
    assert run.times(1) == [0, 1000, 1000, 1500, 3000, 4000]
    assert run.wake_of(2, 0) == (1, 1000)
    assert run.ns == 4000 + 5000 + TIMER_SLACK + 100


def test_trim_by_time_leaves_nobody_waiting() -> None:
    made = trim(PING, 3200e-9, ())
    assert {task.key: task.words for task in made.tasks} == {
        "a-1": "1000 >2 500 w 200",
        "b-2": "w 2000 >1",
        "c-3": "",
    }


def test_trim_cuts_all_that_goes_on_at_the_moment() -> None:
    made = workload(
        a1="1000 s60000000000 1000",
        b2="@70000000000 1",
        c3="500 t1500000 t1500000 5",
        d4="d90000000",
    )
    late = RecordedTask(5, "e", "100", {"delay": 60_000_000})
    made = replace(made, tasks=[*made.tasks, late])
    short = trim(made, 2e-3, ())
    assert [task.words for task in short.tasks] == [
        *("1000 s1949000", "@1950000", "500 t1500000 s399500", "d1950000", "")
    ]
    assert IdealRun(short).ns == 2_000_000


def test_trim_says_where_it_cuts_and_what_it_keeps(tmp_path: Path, cli: Cli) -> None:
    """The recorded time is not that of the cut: the tasks may have run one after another."""
    file, short = tmp_path / "x.slw", tmp_path / "short.slw"
    pool = "p1 1000000 p2 1000000 p3"
    made = workload(a1=pool, b2="q1", c3="9000000")
    replace(made, items=[Item(1, "4000000")] * 3).write(file)
    _, said, _ = cli("workload", "trim", str(file), "--first", "3ms", "--output", str(short))
    assert "kept: 3 of 3 tasks, 1 of 3 items and 0.008 of 0.023 s of work\n" in said
    assert "cut: 3ms into the run with a CPU for each task, not into the recorded time\n" in said
    _, said, _ = cli("workload", "trim", str(file), "--tasks", "c", "--output", str(short))
    assert "kept: 1 of 3 tasks and 0.009 of 0.023 s of work\n" in said and "cut:" not in said


def test_scale_refuses_what_cannot_be_read_back() -> None:
    with pytest.raises(UsageError, match="a time is longer than a day"):
        scale(workload(a1="@3000000000000"), 1, 0.01)
    assert scale(workload(a1="100 d9"), 1, 4).recorded["scaled"] == "clients x1, rate x1"


def test_a_rate_that_changes_nothing_says_so(tmp_path: Path, cli: Cli) -> None:
    file, made = tmp_path / "x.slw", tmp_path / "y.slw"
    workload(a1="100 d9").write(file)
    _, out, _ = cli("workload", "scale", str(file), "--rate", "4", "--output", str(made))
    assert "note: --rate changed nothing" in out
    _, out, _ = cli("workload", "scale", str(file), "--output", str(made))
    assert "note: nothing was changed" in out


@pytest.mark.parametrize("words", [("workload", "show"), ("trace", "stats")])
def test_a_pipe_is_refused_at_once(tmp_path: Path, cli: Cli, words: tuple[str, ...]) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    status, _, said = cli(*words, str(pipe))
    assert status == 2
    assert "is not a regular file" in said


def test_an_output_overwrites_nothing_through_a_link(tmp_path: Path, cli: Cli) -> None:
    file, other, link = (tmp_path / name for name in ("x.slw", "other", "link"))
    PING.write(file)
    other.write_text("precious")
    link.symlink_to(other)
    _, _, said = cli("workload", "expand", str(file), "--output", str(link))
    assert "which would be overwritten" in said
    assert other.read_text() == "precious"
    other.unlink()
    for target in (other, link):  # to nothing, and to itself
        link.unlink()
        link.symlink_to(target)
        _, _, said = cli("workload", "expand", str(file), "--output", str(link))
        assert "which would be overwritten" in said and link.is_symlink()


@pytest.mark.parametrize(
    "words",
    [
        *(("import", "x.gz"), ("import", "x.gz", "--probe", "x.slw.gz"), ("expand", "x.slw.gz")),
        *(("scale", "x.slw.gz"), ("merge", "y.slw", "x.slw.gz"), ("trim", "x.slw.gz", "--tasks=a")),
    ],
)
@pytest.mark.parametrize("as_link", [True, False])
def test_no_command_writes_over_what_it_reads(
    tmp_path: Path, cli: Cli, words: tuple[str, ...], as_link: bool
) -> None:
    for name in ("x.gz", "x.slw.gz", "y.slw"):
        PING.write(tmp_path / name)
    read = tmp_path / next(word for word in reversed(words) if word.startswith("x"))
    before = read.read_bytes()
    output = tmp_path / "other.slw.gz" if as_link else read
    if as_link:
        output.hardlink_to(read)
    given = [str(tmp_path / word) if word[1:2] == "." else word for word in words]
    status, _, said = cli("workload", *given, "--output", str(output))
    assert status == 2 and "is read by this command too" in said
    assert read.read_bytes() == before


def test_edits_keep_where_a_workload_is_from() -> None:
    about = {
        **{"source": "x", "seconds": 1.0, "kernel": "6.12", "events": 9, "waited": 3.0},
        "waits": {"task": {"count": 2, "share_of_time": 1.0}},
        "notes": ["1,234 events were lost."],
    }
    made = replace(PING, recorded=about)
    scaled = scale(scale(made, 2, 1), 3, 1.5)
    assert scaled.recorded["scaled"] == "clients x6, rate x1.5"
    assert any("before it was scaled" in line for line in describe(scaled))
    assert scaled.recorded["waits"]["task"] == {"count": 12, "share_of_time": 1.0}
    assert not any("before it was scaled" in line for line in describe(scale(made, 2, 1)))
    short = trim(trim(made, 2e-6, ()), 1e-6, ("a",))
    assert short.recorded == {
        **{"source": "x", "seconds": 1e-6, "kernel": "6.12", "notes": about["notes"]},
        "trimmed": "first 2e-06 s; first 1e-06 s, tasks a",
    }
    assert "trimmed: first 2e-06 s; first 1e-06 s, tasks a" in describe(short)
    other = replace(made, recorded={**about, "waited": 1.0, "waits": {
        "task": {"count": 1, "share_of_time": 0.5}, "timer": {"count": 5, "share_of_time": 0.5},
    }})  # fmt: skip
    both = merge([made, other]).recorded
    assert both["waits"] == {
        "task": {"count": 3, "share_of_time": 0.875},
        "timer": {"count": 5, "share_of_time": 0.125},
    }
    assert (both["kernel"], both["notes"]) == ("6.12", about["notes"])
    part = merge([made, scaled, short]).recorded
    assert "waits" not in part
    assert part["source"] == (
        "x + x (scaled clients x6, rate x1.5) + x (trimmed first 2e-06 s; first 1e-06 s, tasks a)"
    )


def test_trim_by_task_lets_what_others_did_arrive() -> None:
    made = trim(PING, None, ("b",))
    assert {task.key: task.words for task in made.tasks} == {"b-2": "@1000 2000"}
    with pytest.raises(UsageError, match=r"no task is left\. The recording has: "):
        trim(PING, None, ("x",))


def test_scale() -> None:
    twice = scale(PING, 2, 10)
    assert {task.key: task.words for task in twice.tasks} == {
        "a-1": "1000 >2 500 w 1000 >3", "b-2": "w 2000 >1", "c-3": "w s500 100",
        "a-4": "1000 >5 500 w 1000 >6", "b-5": "w 2000 >4", "c-6": "w s500 100",
    }  # fmt: skip
    with pytest.raises(UsageError, match="more than 10,000"):
        scale(PING, 5000, 1)


def test_a_faster_task_comes_earlier_too() -> None:
    """What nobody of the recording started arrives from outside."""
    task = RecordedTask(1, "a", "@600000000 1000", {"delay": 500_000})
    fast = scale(RecordedWorkload([task], {}), 1, 2).tasks[0]
    assert (fast.settings["delay"], fast.words) == (250_000, "@300000000 1000")


@pytest.mark.parametrize(
    ("words", "note"),
    [
        ({"a1": "100 w"}, "a-1 waits for ever at its word 'w'"),
        ({"a1": "l1 l1"}, "a-1 waits for ever at its word 'l1'"),
        ({"a1": "100", "b2": "q1"}, "b-2 waits for ever at its word 'q1'"),
    ],
)
def test_show_names_who_waits_for_ever(words: dict[str, str], note: str) -> None:
    made = replace(workload(**words), items=[Item(1, "100")])
    assert any(note in line for line in describe(made))
    assert not any("for ever" in line for line in describe(PING))


def test_show_finds_tasks_that_wait_for_room_or_are_never_started() -> None:
    """Two that send each other more than a pipe holds before either receives."""
    big = [Message("pipe", number, 1_000_000) for number in (1, 2)]
    made = replace(workload(a1="m1 r2", b2="m2 r1"), messages=big)
    lines = list(describe(made))
    assert "stops after 0 s, as tasks wait for ever (below)" in lines
    assert any("a-1 waits for ever at its word 'm1'" in line for line in lines)
    small = replace(made, messages=[replace(each, bytes=100) for each in big])
    assert not any("for ever" in line for line in describe(small))
    one_way = replace(workload(a1="100 m1 100", b2="500 r1"), messages=big)
    assert not list(IdealRun(one_way).stuck()) and IdealRun(one_way).ns == 600
    never = RecordedTask(3, "c", "100", {"instance": 0})
    assert any("c-3: no task starts" in line for line in describe(RecordedWorkload([never], {})))


def test_show_names_locks_that_are_taken_in_two_orders() -> None:
    """They need not meet, so that it may run to its end."""
    made = workload(a1="l1 100 l2 100 u2 u1", b2="1000 l2 100 l1 100 u1 u2")
    lines = list(describe(made))
    assert any("locks 1, 2 are taken while another" in line for line in lines)
    assert any(line.startswith("takes ") for line in lines)


def test_merge_gives_everybody_a_number_of_its_own() -> None:
    made = merge([PING, PING])
    assert [task.id for task in made.tasks] == [1, 2, 3, 4, 5, 6]
    assert not any(balance(made).values())


def test_costs_come_off_the_work_that_follows() -> None:
    costs = {"w": 300.0, ">": 50.0}
    steps = [("", 1000), ("w", 0), ("", 200), (">", 2), ("", 500)]
    assert list(without_costs(steps, costs, 100.0)) == [
        ("", 900),
        ("w", 0),
        (">", 2),
        ("", 350),
    ]


def test_the_probe_finds_the_costs_that_were_added() -> None:
    costs = {
        "task": 70_000.0,
        "w": 1500.0,
        ">": 800.0,
        "+": 90_000.0,
        "s": 900.0,
        "m": 30.0,
        "r": 400.0,
        "y": 60.0,
        "j": 2000.0,
        "process": 120_000.0,
        "fork": 150_000.0,
        "m alone": 20.0,
        "r alone": 300.0,
    }
    recorded = []
    tasks = {task.id: task for task in probe().tasks}
    for task in tasks.values():
        steps = list(task.steps())
        extra = costs["process" if task.process else "task"]
        for letter, number in steps:
            forks = letter == "+" and tasks[number].process
            alone = task.process and letter in ("m", "r")
            extra += costs.get("fork" if forks else f"{letter} alone" if alone else letter, 0.0)
        steps.append(("", int(extra)))
        recorded.append(RecordedTask(task.id + 40, task.key, join_words(steps)))
    found = word_costs(RecordedWorkload(recorded, {}))
    assert found == pytest.approx(costs, rel=0.01)
    assert word_costs(PING) == {}


def test_show_has_every_group(tmp_path: Path) -> None:
    text = "\n".join(describe(probe()))
    assert "probe*" in text
    assert "32 tasks" in text


WORDS = st.lists(
    st.sampled_from(["w", ">1", ">2", ">3", "s900", "t700", "@5000", "400"]), max_size=25
)


@settings(max_examples=150, deadline=None)
@given(WORDS, WORDS, WORDS, st.integers(1, 20_000))
def test_what_is_trimmed_can_always_end(a: list[str], b: list[str], c: list[str], ns: int) -> None:
    """A wait is kept only with the wake that ends it, whoever waits too long in the original."""
    whole = workload(a1=" ".join(a), b2=" ".join(b), c3=" ".join(c))
    try:
        made = trim(whole, ns / 1e9, ())
    except UsageError:
        return
    assert all(count >= 0 for count in balance(made).values())
    assert json.dumps({task.key: task.words for task in made.tasks})


def test_words_with_other_digits_than_ascii_are_refused_as_a_run_refuses_them(
    tmp_path: Path,
) -> None:
    path = tmp_path / "x.slw"
    RecordedWorkload([RecordedTask(1, "a", "100 s5")], {}).write(path)
    path.write_text(path.read_text().replace("100 s5", "\u0663 s\u0665"))
    with pytest.raises(UsageError):
        read_workload(path)
