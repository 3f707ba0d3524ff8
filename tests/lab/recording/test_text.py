"""Reading traces as text: three tools' lines, and all that can be wrong with a file."""

import gzip
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schedlab.base.data import data_folder
from schedlab.base.errors import UsageError
from schedlab.lab.recording.events import Context, Kind, Stop
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.text import read_text
from tests.helpers.damage import damaged
from tests.helpers.tool_output import TOOLS
from tests.helpers.traces import (
    IDLE,
    TWO_TASKS,
    A,
    B,
    Line,
    ftrace,
    perf_script,
    read,
    switch,
    trace_cmd,
    waking,
)


@pytest.mark.parametrize("form", [ftrace, perf_script, trace_cmd])
def test_each_tools_lines(form: Callable[[Line], str]) -> None:
    events = read(TWO_TASKS, form)
    assert events.ns.tolist() == [line.ns for line in TWO_TASKS]
    assert events.kind.tolist() == [
        *(Kind.SWITCH, Kind.FORK, Kind.WAKING, Kind.WAKING),
        *(Kind.SWITCH, Kind.SWITCH, Kind.SWITCH),
    ]
    assert events.current.tolist() == [0, 10, 10, 10, 10, 11, 10]
    assert events.one[4:].tolist() == [10, 11, 10]
    assert events.three[4:].tolist() == [Stop.UNINTERRUPTIBLE, Stop.PREEMPTED, Stop.DEAD]
    assert (events.names[10], events.names[11]) == ("my app-1", "b [x]")
    assert events.priorities[10] == 120
    assert not events.notes
    flags = [Context.TASK, Context.INTERRUPT] if form is not perf_script else [Context.UNKNOWN] * 2
    assert events.context[2:4].tolist() == flags


def test_kinds_are_numbered_in_c_as_here() -> None:
    header = (data_folder("tools") / "trace-text" / "trace-text.h").read_text()
    for names in (Kind, Stop, Context):
        body = re.search(rf"enum {names.__name__.lower()} {{([^}}]*)}}", header)
        assert body
        found = {name: int(number) for name, number in re.findall(r"(\w+) = (\d+)", body[1])}
        assert found == {one.name: one.value for one in names}


def test_the_last_name_in_the_file_counts() -> None:
    """Also where names come and go within one kind of event, as a task executes programs."""
    names = [f"name{turn % 5}" for turn in range(23)]
    events = read([waking(turn, 0, A, (name, 12)) for turn, name in enumerate(names)])
    assert events.names[12] == names[-1]
    again = read(
        [waking(1, 0, A, ("x", 12)), waking(2, 0, A, ("y", 12)), waking(3, 0, A, ("x", 12))]
    )
    assert again.names[12] == "x"


def test_priorities_that_change() -> None:
    later = TWO_TASKS[4]._replace(text=TWO_TASKS[4].text.replace("next_prio=120", "next_prio=-1"))
    assert read([*TWO_TASKS[:4], later]).priorities[11] == -1
    assert read([*TWO_TASKS[:4], later, *TWO_TASKS[5:]]).priorities[11] == 120


def test_names_that_look_like_other_parts_of_a_line() -> None:
    odd = ("x-1 [002] pid=5 prev_pid=7", 12)
    for form in (ftrace, perf_script, trace_cmd):
        events = read([switch(1, 3, odd, "S", A), waking(2, 3, A, odd)], form)
        assert (events.one.tolist(), events.cpu.tolist()) == ([12, 12], [3, 3])
        assert (events.names[12], events.current[0]) == (odd[0], 12)


def test_the_short_form_of_trace_cmd() -> None:
    text = b"  a-10  [001]  5.000000001: sched_switch:  a:10 [120] S ==> swapper/1:0 [120]\n"
    events = read_text([text], "x")
    assert (events.one[0], events.two[0], events.three[0]) == (10, 0, Stop.SLEEP)
    assert events.ns[0] == 5_000_000_001


def test_the_latency_format_of_trace_cmd_has_flags() -> None:
    text = (
        b"  <idle>-0       2dNs3.     9.318123953: sched_waking:         comm=a pid=31 prio=120\n"
        b"my-app 1-10     12d.h2.     9.319293037: sched_waking:         comm=a pid=31 prio=120\n"
        b"rcu_pree-15      2d..2.     9.319424882: sched_switch:  prev_comm=rcu_preempt prev_pid=15"
        b" prev_prio=120 prev_state=I ==> next_comm=a next_pid=31 next_prio=120\n"
    )
    events = read_text([text], "x")
    assert events.current.tolist() == [0, 10, 15]
    assert events.cpu.tolist() == [2, 12, 2]
    assert events.context.tolist() == [Context.SOFTIRQ, Context.INTERRUPT, Context.TASK]


@pytest.mark.skipif(shutil.which("trace-cmd") is None, reason="trace-cmd is not installed")
@pytest.mark.parametrize("left", [5_000, 30_000])
def test_a_trace_dat_that_is_cut_off_is_told(tmp_path: Path, left: int) -> None:
    file = tmp_path / "trace.dat"
    file.write_bytes(gzip.decompress((TOOLS / "trace-cmd.dat.gz").read_bytes())[:left])
    with pytest.raises(UsageError, match=r"cut off|whole files"):
        read_trace(file)


@pytest.mark.skipif(shutil.which("trace-cmd") is None, reason="trace-cmd is not installed")
def test_a_trace_dat_is_read_with_its_flags(tmp_path: Path) -> None:
    """Recorded in a guest: 60 messages each way between two tasks."""
    file = tmp_path / "trace.dat"
    file.write_bytes(gzip.decompress((TOOLS / "trace-cmd.dat.gz").read_bytes()))
    events = read_trace(file)
    pipe = {task for task, name in events.names.items() if name == "sched-pipe"}
    woken = (events.kind == Kind.WAKING) & np.isin(events.one, list(pipe))
    assert np.count_nonzero(woken & np.isin(events.current, list(pipe))) == 119
    assert Context.SOFTIRQ in events.context[events.kind == Kind.WAKING].tolist()
    assert not events.notes


def test_the_task_that_perf_calls_ended_is_the_one_on_its_cpu() -> None:
    events = read(
        [
            switch(10, 0, IDLE, "R", A),
            switch(20, 1, IDLE, "R", B),
            waking(30, 0, (":-1", -1), B),
        ],
        perf_script,
    )
    assert events.current.tolist()[2] == A[1]


def test_pieces_may_end_anywhere() -> None:
    text = "".join(f"{ftrace(line)}\n" for line in TWO_TASKS).encode()
    whole = read_text([text], "x")
    for size in (1, 7, 100):
        pieces = [text[i : i + size] for i in range(0, len(text), size)]
        assert read_text(pieces, "x").ns.tolist() == whole.ns.tolist()


def test_a_file_cut_off_in_a_line_is_read_up_to_there() -> None:
    text = "".join(f"{ftrace(line)}\n" for line in TWO_TASKS).encode()
    events = read_text([text[:-30]], "x")
    assert len(events) == len(TWO_TASKS) - 1
    assert "1 lines are damaged" in events.notes[0]


def test_lost_events_are_told() -> None:
    text = f"{ftrace(TWO_TASKS[0])}\nCPU:0 [LOST 17 EVENTS]\n{ftrace(TWO_TASKS[1])}\n"
    assert read_text([text.encode()], "x").notes == ["17 events were lost while it was recorded."]
    perf = b"PERF_RECORD_LOST lost 5\n" + ftrace(TWO_TASKS[0]).encode()
    assert "5 events were lost" in read_text([perf], "x").notes[0]


def test_a_clock_that_goes_back_is_told_and_sorted() -> None:
    events = read([TWO_TASKS[1], TWO_TASKS[0], *TWO_TASKS[2:]])
    assert np.all(np.diff(events.ns) >= 0)
    assert "goes back 1 times, by 0.001 ms at most" in events.notes[0]


@pytest.mark.parametrize("wrong", [10_000_000_000_000, 0])
def test_one_wrong_time_is_left_out_and_told(wrong: int) -> None:
    second = 1_000_000_000
    lines = [line._replace(ns=line.ns + second) for line in TWO_TASKS]
    lines[3] = lines[3]._replace(ns=wrong)
    events = read(lines)
    assert events.ns.tolist() == [line.ns + second for line in TWO_TASKS[:3] + TWO_TASKS[4:]]
    assert events.notes == [
        "1 events have a time far from those of the lines before and after them, and are left out."
    ]


def test_a_clock_that_is_set_back_is_refused() -> None:
    later = [line._replace(ns=line.ns + 10**10) for line in TWO_TASKS]
    set_back = [line._replace(ns=line.ns + 5 * 10**9) for line in TWO_TASKS]
    with pytest.raises(
        UsageError, match=r"clock of CPU 0 goes back by 5\.000 s after 10\.000005 s"
    ):
        read([*later, *set_back])


def test_a_clock_of_the_day_is_read_and_one_that_jumps_is_told() -> None:
    day = 1_764_150_000 * 10**9
    lines = [switch(at * 1000, 0, IDLE, "R", A) for at in range(1, 8)]
    late = [line._replace(ns=line.ns + day) for line in lines]
    events = read(late)
    assert (len(events), int(events.ns[-1] - events.ns[0])) == (7, 6_000)
    events = read([*lines, *late[:3]])
    assert len(events) == 7
    assert any("3 events are more than a day from the others" in note for note in events.notes)


def test_clocks_of_two_cpus_a_little_apart_keep_the_files_order() -> None:
    events = read([waking(2_000, 0, A, B), switch(1_900, 1, IDLE, "R", B)])
    assert events.kind.tolist() == [Kind.WAKING, Kind.SWITCH]
    assert not events.notes


def test_buffers_of_cpus_one_after_another_are_sorted() -> None:
    late = [line._replace(ns=line.ns + 10**9) for line in TWO_TASKS]
    events = read([*late, *(line._replace(cpu=1) for line in TWO_TASKS)])
    assert np.all(np.diff(events.ns) >= 0)


@pytest.mark.parametrize("text", [b"", b"\n\n", b"hello\n" * 100, b"# tracer: nop\n"])
def test_what_is_no_trace_is_refused(text: bytes) -> None:
    with pytest.raises(UsageError, match="no line is an event"):
        read_text([text], "x")


def test_a_line_without_end_is_refused() -> None:
    with pytest.raises(UsageError, match="a line is longer"):
        read_text([b"x" * 4096] * 1000, "x")


def test_numbers_too_long_are_damage() -> None:
    line = ftrace(TWO_TASKS[2]).replace("pid=11", "pid=" + "9" * 30)
    assert "damaged" in read_text([f"{ftrace(TWO_TASKS[0])}\n{line}\n".encode()], "x").notes[0]


@pytest.mark.parametrize(("old", "new"), [("[000]", "[1000000]"), (" 0.000", " -0.000")])
def test_a_line_whose_beginning_is_damaged_is_counted(old: str, new: str) -> None:
    lines = [ftrace(line) for line in TWO_TASKS]
    lines[2] = lines[2].replace(old, new)
    events = read_text([b"# sched_switch is traced\n", "\n".join(lines).encode()], "x")
    assert len(events) == len(TWO_TASKS) - 1
    assert events.notes[0].startswith("1 lines are damaged, or have a CPU")


@settings(max_examples=200, deadline=None)
@given(st.data())
def test_no_damage_ends_in_anything_but_a_message(data: st.DataObject) -> None:
    text = "".join(f"{ftrace(line)}\n" for line in TWO_TASKS).encode()
    try:
        events = read_text([damaged(data, text, 8, 9)], "x")
    except UsageError:
        return
    assert len(events) <= text.count(b"\n") + 1


def test_perfs_reason_is_told_not_its_remarks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As of a file of another endianness that perf cannot read."""
    perf = tmp_path / "perf"
    perf.write_text(
        "#!/bin/sh\necho \"'trace' not valid for hardware events. Ignoring.\" >&2\n"
        "echo 'incompatible file format' >&2\nexit 1\n"
    )
    perf.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")
    (tmp_path / "x.data").write_bytes(b"2ELIFREP")
    with pytest.raises(UsageError, match="perf: incompatible file format"):
        read_trace(tmp_path / "x.data")
