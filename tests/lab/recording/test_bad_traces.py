"""Traces that are cut off, damaged, too long or lack what matters: a message, or what is honest."""

import gzip
import os
import shutil
import sys
from pathlib import Path

import pytest

from schedlab.base.errors import UsageError
from schedlab.lab.recording import columns, reading
from schedlab.lab.recording.choice import Choice
from schedlab.lab.recording.inference import infer
from schedlab.lab.recording.reading import read_trace
from schedlab.lab.recording.text import read_text
from tests.helpers.foreign_perf import write_perf_data
from tests.helpers.traces import (
    TWO_TASKS,
    Line,
    fork,
    ftrace,
    futex,
    perf_script,
    switch,
    waking,
)

IDLE, A, B = ("swapper/0", 0), ("a", 10), ("b", 11)
TEXT = "".join(f"{ftrace(line)}\n" for line in TWO_TASKS)
MANY = "".join(
    f"{ftrace(line._replace(ns=line.ns + 10_000 * turn))}\n"
    for turn in range(2000)
    for line in (
        switch(0, 0, IDLE, "R", A),
        waking(1_000 + turn % 7, 0, A, B),
        switch(5_000 + turn % 13, 0, A, "S", IDLE),
    )
)


def test_a_packed_file_that_is_cut_off_is_used_up_to_there(tmp_path: Path) -> None:
    path = tmp_path / "x.gz"
    whole = gzip.compress(MANY.encode())
    path.write_bytes(whole[: len(whole) // 2])
    events = read_trace(path)
    assert 1000 < len(events) < 6000
    assert "The file is damaged or cut off: what came before is used." in events.notes
    path.write_bytes(whole[:15])
    with pytest.raises(UsageError, match="is incomplete"):
        read_trace(path)


@pytest.fixture
def no_perf_reads_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A perf that prints a little of a file, and then perf's own words for one it cannot read."""
    tools = tmp_path / "bin"
    tools.mkdir()
    first = perf_script(TWO_TASKS[0])
    (tools / "perf").write_text(
        f"#!/bin/sh\necho '{first}'\n"
        "echo 'incompatible file format (rerun with -v to learn more)' >&2\nexit 255\n"
    )
    (tools / "perf").chmod(0o755)
    monkeypatch.setenv("PATH", f"{tools}{os.pathsep}{os.environ['PATH']}")


@pytest.mark.usefixtures("no_perf_reads_it")
@pytest.mark.parametrize("magic", [b"PERFILE2", b"2ELIFREP"])
def test_a_perf_data_that_is_cut_off_or_of_other_endianness(tmp_path: Path, magic: bytes) -> None:
    path = tmp_path / "perf.data"
    path.write_bytes(magic + bytes(100))
    with pytest.raises(UsageError, match=r"incompatible file format.*\n  (It reads|The file is)"):
        read_trace(path)


def test_ten_gigabytes_are_refused_before_they_are_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "x.txt"
    path.write_text(MANY)
    monkeypatch.setattr(reading, "LARGEST", len(MANY) - 1)
    with pytest.raises(UsageError, match="is longer than"):
        read_trace(path)
    monkeypatch.undo()
    monkeypatch.setattr("schedlab.lab.recording.text.MOST_EVENTS", 100)
    with pytest.raises(UsageError, match="more than 100 events of the scheduler"):
        read_trace(path)
    assert columns.MOST_EVENTS * 40 < 3 << 30


def test_a_sparse_file_of_eleven_gigabytes_is_no_trace(tmp_path: Path) -> None:
    path = tmp_path / "x.data"
    with path.open("wb") as file:
        file.truncate(11 << 30)
    with pytest.raises(UsageError, match="is neither text"):
        read_trace(path)


def test_tasks_that_exist_before_and_after(tmp_path: Path) -> None:
    """A ran before the trace began and runs as it ends; B is woken and never comes to run."""
    lines = [waking(1_000, 0, A, B), switch(2_000, 0, A, "S", IDLE), switch(9_000, 0, IDLE, "R", A)]
    more = Line(12_000, 0, *A, "sched_waking", "comm=b pid=11 prio=120 target_cpu=000")
    path = tmp_path / "x.txt"
    path.write_text("".join(f"{ftrace(line)}\n" for line in [*lines, more]))
    made = infer(read_trace(path), Choice(), "x")
    assert [task.key for task in made.tasks] == ["a-10"]
    assert made.tasks[0].words == "1000 s0 3000"


def test_no_sched_waking_no_flags_and_lost_events_are_all_told(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    lines = [switch(0, 0, IDLE, "R", A), switch(5_000, 0, B, "S", IDLE)]
    text = "".join(f"{perf_script(line)}\n" for line in lines)
    path.write_text(
        f"{text}CPU:0 [LOST 17 EVENTS]\na 10 [000] 1.000000001: sched:sched_switch: pre\n"
    )
    notes = " ".join(infer(read_trace(path), Choice(), "x").recorded["notes"])
    for word in ("17 events were lost", "1 lines are damaged", "sched_waking is not recorded",
                 "1 switches were lost", "Neither flags nor interrupts",
                 "sched_process_fork is not recorded"):  # fmt: skip
        assert word in notes, word


@pytest.mark.skipif(not shutil.which("perf"), reason="perf reads perf.data")
@pytest.mark.parametrize("order", ["<", ">"])
def test_a_perf_data_of_either_byte_order_is_read(order: str, tmp_path: Path) -> None:
    moves = [(1_000_000_000, 0, 10), (1_000_005_000, 10, 11), (1_000_009_000, 11, 0)]
    write_perf_data(tmp_path / "perf.data", order, moves)
    made = infer(read_trace(tmp_path / "perf.data"), Choice(), "x")
    assert {task.key: task.words for task in made.tasks} == {"t10-10": "5000", "t11-11": "4000"}


@pytest.mark.skipif(not shutil.which("perf"), reason="perf reads perf.data")
def test_a_damaged_file_of_the_other_byte_order_says_what_to_do(tmp_path: Path) -> None:
    both = [b"PERFILE2", b"2ELIFREP"]
    own, other = both if sys.byteorder == "little" else both[::-1]
    for magic, said in ((own, "record or copy one again"), (other, "of the other byte order")):
        (tmp_path / "x.data").write_bytes(magic + bytes(5000))
        with pytest.raises(UsageError, match=said):
            read_trace(tmp_path / "x.data")
    order = b"\1" if sys.byteorder == "little" else b"\0"
    (tmp_path / "x.dat").write_bytes(b"\x17\x08\x44tracing6\0" + order + bytes(5000))
    if shutil.which("trace-cmd"):
        with pytest.raises(UsageError, match="of the other byte order"):
            read_trace(tmp_path / "x.dat")


def test_a_line_of_zeros_among_good_ones_does_not_refuse_the_file(tmp_path: Path) -> None:
    path = tmp_path / "x.txt"
    first, newline, rest = TEXT.encode().partition(b"\n")
    path.write_bytes(first + newline + bytes(200) + newline + rest)
    assert len(read_trace(path)) == len(TWO_TASKS)


SLEEPS, WAITS = switch(3_000, 0, A, "S", IDLE), futex(3_000, 0, A, "wait", 1, 2)


@pytest.mark.parametrize(
    ("line", "good", "bad"),
    [
        *((line, "[000]", "[8192]") for line in (SLEEPS, WAITS)),
        *((line, "-10 ", "-2147483648 ") for line in (SLEEPS, WAITS)),
        *((line, "    0.0000", "   -1.0000") for line in (SLEEPS, WAITS)),
        (fork(3_000, 0, A, B), "child_pid=11", "child_pid=4294967307"),
    ],
)
def test_lines_out_of_range_among_good_ones_are_counted(line: Line, good: str, bad: str) -> None:
    text = ftrace(line).replace(good, bad)
    first, *rest = map(ftrace, TWO_TASKS)
    events = read_text(["\n".join([first, text, *rest]).encode()], "x")
    assert text != ftrace(line) and len(events) == len(TWO_TASKS)
    assert [note.partition(", or")[0] for note in events.notes] == ["1 lines are damaged"]


@pytest.mark.parametrize(
    ("good", "bad"),
    [("[000]", "[1000000]"), ("-10 ", "-2147483648 "), ("    0.0000", "   -1.0000")],
)
def test_events_of_which_none_can_be_read_are_called_damaged(
    good: str, bad: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.txt"
    path.write_text(ftrace(switch(1_000, 0, A, "S", IDLE)).replace(good, bad, 1) + "\n")
    with pytest.raises(UsageError, match="are damaged, or have a CPU"):
        read_trace(path)
