"""Traces written by hand: lines as ftrace, trace-cmd and perf script print them."""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np

from schedlab.lab.recording.counted import count_pieces
from schedlab.lab.recording.events import Events
from schedlab.lab.recording.pieces import find_pieces
from schedlab.lab.recording.text import read_text


class Line(NamedTuple):
    """One event; `context` is the letter of its flags about interrupts."""

    ns: int
    cpu: int
    task: str
    pid: int
    event: str
    text: str
    context: str = "."


def switch(ns: int, cpu: int, before: tuple[str, int], state: str, after: tuple[str, int]) -> Line:
    text = (
        f"prev_comm={before[0]} prev_pid={before[1]} prev_prio=120 prev_state={state} ==>"
        f" next_comm={after[0]} next_pid={after[1]} next_prio=120"
    )
    return Line(ns, cpu, *before, "sched_switch", text)


def waking(
    ns: int, cpu: int, by: tuple[str, int], whom: tuple[str, int], context: str = "."
) -> Line:
    text = f"comm={whom[0]} pid={whom[1]} prio=120 target_cpu=000"
    return Line(ns, cpu, *by, "sched_waking", text, context)


def fork(ns: int, cpu: int, by: tuple[str, int], child: tuple[str, int]) -> Line:
    text = f"comm={by[0]} pid={by[1]} child_comm={child[0]} child_pid={child[1]}"
    return Line(ns, cpu, *by, "sched_process_fork", text)


IDLE, A, B = ("swapper/0", 0), ("my app-1", 10), ("b [x]", 11)
TWO_TASKS = [
    switch(1_000, 0, IDLE, "R", A),
    fork(1_500, 0, A, B),
    waking(2_000, 0, A, B),
    waking(2_500, 0, A, B, "h"),
    switch(3_000, 0, A, "D", B),
    switch(4_000, 0, B, "R+", A),
    switch(5_000, 0, A, "X", IDLE),
]
"""A task starts another one, wakes it, and both run until it ends."""


def ftrace(line: Line) -> str:
    seconds, ns = divmod(line.ns, 10**9)
    return (
        f"{line.task:>16}-{line.pid:<7} [{line.cpu:03}] d.{line.context}. {seconds:5}.{ns:09}:"
        f" {line.event}: {line.text}"
    )


def perf_script(line: Line) -> str:
    seconds, ns = divmod(line.ns, 10**9)
    return (
        f"{line.task:>16} {line.pid:7} [{line.cpu:03}] {seconds:5}.{ns:09}:"
        f" {'sched:' + line.event:>30}: {line.text}"
    )


def ring(line: Line) -> str:
    """As ftrace's recorder writes it: without the running task's name, the text in a column."""
    seconds, ns = divmod(line.ns, 10**9)
    return (
        f"{'<...>':>16} {line.pid:5} [{line.cpu:03}] d.{line.context}1. {seconds}.{ns:09}:"
        f" sched:{line.event + ':':21} {line.text}"
    )


def trace_cmd(line: Line) -> str:
    seconds, ns = divmod(line.ns, 10**9)
    return (
        f"{line.task:>16}-{line.pid:<5} [{line.cpu:03}] d.{line.context}1. {seconds:5}.{ns:09}:"
        f" {line.event + ':':22} {line.text}"
    )


def read(lines: Iterable[Line], form: Callable[[Line], str] = ftrace) -> Events:
    text = "".join(f"{form(line)}\n" for line in lines)
    return read_text([text.encode()], "trace.txt")


def futex(ns: int, cpu: int, task: tuple[str, int], what: str, word: int, value: int) -> Line:
    """A call of futex(): to "wait" while the word has the value, or to "wake" so many."""
    op = {"wait": 0x80, "wake": 0x81}[what]
    text = f"uaddr: 0x7f00{word:08x}, op: 0x{op:08x}, val: 0x{value:08x}, utime: 0x00000000"
    return Line(ns, cpu, *task, "sys_enter_futex", text)


def futex_done(ns: int, cpu: int, task: tuple[str, int], result: int = 0) -> Line:
    return Line(ns, cpu, *task, "sys_exit_futex", f"0x{result & 0xFFFFFFFFFFFFFFFF:x}")


def yields(ns: int, until: int, cpu: int, task: tuple[str, int]) -> list[Line]:
    return [
        Line(ns, cpu, *task, "sys_enter_sched_yield", ""),
        Line(until, cpu, *task, "sys_exit_sched_yield", "0x0"),
    ]


def syscall(
    ns: int, until: int, cpu: int, task: tuple[str, int], name: str, arguments: str, result: int = 0
) -> list[Line]:
    """A system call from its beginning to its end, with arguments as in "fd=3 flags=0"."""
    told = ", ".join(
        f"{key}: 0x{int(value):08x}"
        for key, _, value in (word.partition("=") for word in arguments.split())
    )
    ended = f"0x{result & 0xFFFFFFFFFFFFFFFF:x}"
    return [
        Line(ns, cpu, *task, f"sys_enter_{name}", told),
        Line(until, cpu, *task, f"sys_exit_{name}", ended),
    ]


def check_clock_of_tasks(events: Events) -> None:
    """See that perf's `task-clock` is counted of nearly all pieces, and is as long as they are."""
    pieces = find_pieces(events)
    clock = count_pieces(events, pieces)["task-clock"]
    known = clock >= 0
    assert np.count_nonzero(known) > 0.9 * len(clock) > 0
    long = pieces.until - pieces.since
    assert abs(clock[known].sum() / long[known].sum() - 1) < 0.1
