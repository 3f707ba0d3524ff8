"""Traces as text: ftrace's own, `trace-cmd report`, and `perf script`, by one reader.

The lines of all three are: task, CPU, time, event, and the event's text. tools/trace-text/ makes
events of them, whole lines of a piece of the file at a time.
"""

import ctypes
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.base.errors import UsageError
from schedlab.kernels.native import trace_text
from schedlab.lab.recording.events import Events, Numbers
from schedlab.lab.recording.setup import HEAD, Setup, read_setup

MOST_EVENTS = 60_000_000
"""About 4 GB of columns and what sorting them takes."""
_LONGEST_LINE = 1 << 20
_APART = 1_000_000
"""ns that clocks of CPUs may be apart: up to that the file's order says what came first."""
_LOST = re.compile(rb"LOST (?:lost )?(\d{1,18})")
"""`CPU:3 [LOST 17 EVENTS]` of ftrace and trace-cmd, `PERF_RECORD_LOST lost 17` of perf."""
_NO_PRIORITY = -(1 << 31)
_SHOWN = 80

_EVENT = np.dtype(
    [
        *(("ns", "<i8"), ("cpu", "<i4"), ("current", "<i4")),
        *(("one", "<i4"), ("two", "<i4"), ("three", "<i4")),
        *(("kind", "i1"), ("context", "i1"), ("unused", "<i2")),
    ]
)
_NAMED = np.dtype([("task", "<i4"), ("priority", "<i4"), ("name", "<u4"), ("length", "<u4")])
"""Both as tools/trace-text/trace-text.h has them."""


class _Found(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("events", "named", "damaged", "first_damaged", "first_damaged_length")
    )


@dataclass
class _Columns:
    """What has been read, a piece of the file at a time."""

    pieces: list[NDArray[np.void]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    priorities: dict[int, int] = field(default_factory=dict)
    count: int = 0
    damaged: int = 0
    lost: int = 0
    first_damaged: str = ""


class _Reader:
    """tools/trace-text/ as a library."""

    def __init__(self, name: str) -> None:
        self._library = ctypes.CDLL(str(trace_text()))
        self._library.trace_text_open.restype = ctypes.c_void_p
        self._state = ctypes.c_void_p(self._library.trace_text_open())
        if not self._state:
            raise UsageError(f"{name}: there is no memory to read it.")

    def close(self) -> None:
        self._library.trace_text_close(self._state)

    def take(self, piece: bytes, columns: _Columns) -> None:
        """Add the events of whole lines to the columns."""
        if b"LOST" in piece:
            columns.lost += sum(map(int, _LOST.findall(piece)))
        lines = piece.count(b"\n") + 1
        events, named, found = np.empty(lines, _EVENT), np.empty(2 * lines, _NAMED), _Found()
        self._library.trace_text_read(
            *(self._state, piece, ctypes.c_size_t(len(piece))),
            *(ctypes.c_void_p(events.ctypes.data), ctypes.c_void_p(named.ctypes.data)),
            ctypes.byref(found),
        )
        if found.events:
            columns.pieces.append(events[: found.events].copy())
            columns.count += found.events
        for task, priority, at, length in named[: found.named].tolist():
            columns.names[task] = piece[at : at + length].decode(errors="replace")
            if priority != _NO_PRIORITY:
                columns.priorities[task] = priority
        if found.damaged and not columns.damaged:
            at, length = found.first_damaged, min(found.first_damaged_length, _SHOWN)
            columns.first_damaged = piece[at : at + length].decode(errors="replace")
        columns.damaged += found.damaged


def read_text(pieces: Iterable[bytes], name: str) -> Events:
    """Read a trace from the pieces of its file.

    Raises:
        UsageError: it has no event of the scheduler, or more events than fit into memory.
    """
    columns = _Columns()
    setup = None
    with closing(_Reader(name)) as reader:
        for piece in _whole_lines(pieces, name):
            if piece.startswith(HEAD.encode()):
                setup = _setup(piece, name)
            reader.take(piece, columns)
            if columns.count > MOST_EVENTS:
                raise UsageError(
                    f"{name}: has more than {MOST_EVENTS:,} events of the scheduler."
                    " Record a shorter time, or cut the file."
                )
    if not columns.count:
        raise UsageError(
            f"{name}: no line is an event of the scheduler (sched_switch, sched_waking ...)."
            " ftrace's text, `trace-cmd report` and `perf script` are read."
        )
    return replace(_sorted(columns), setup=setup)


def _setup(piece: bytes, name: str) -> Setup:
    line = piece.partition(b"\n")[0].removeprefix(HEAD.encode())
    try:
        found = read_setup(json.loads(line))
    except (ValueError, RecursionError):
        found = None
    if not found:
        raise UsageError(f"{name}: its first line is not as `schedlab record` writes it.")
    return found


def _whole_lines(pieces: Iterable[bytes], name: str) -> Iterator[bytes]:
    rest = b""
    for piece in pieces:
        whole, newline, begun = piece.rpartition(b"\n")
        if not newline:
            rest += piece
            if len(rest) > _LONGEST_LINE:
                raise UsageError(f"{name}: a line is longer than {_LONGEST_LINE:,} bytes.")
            continue
        yield rest + whole
        rest = begun
    if rest:
        yield rest


def _sorted(columns: _Columns) -> Events:
    every = np.concatenate(columns.pieces)
    columns.pieces.clear()
    ns, cpu, current, one, two, three = (
        every[name].astype(np.int64) for name in ("ns", "cpu", "current", "one", "two", "three")
    )
    kind, context = every["kind"].copy(), every["context"].copy()
    del every
    notes = []
    if columns.lost:
        notes.append(f"{columns.lost:,} events were lost while it was recorded.")
    if columns.damaged:
        notes.append(
            f"{columns.damaged:,} lines are damaged and left out;"
            f" the first: {columns.first_damaged}"
        )
    back = _goes_back(ns, cpu)
    if back:
        notes.append(f"The clock of a CPU goes back {back:,} times; its events were sorted.")
    if back or np.any(np.maximum.accumulate(ns) - ns > _APART):
        order = np.argsort(ns, kind="stable")
        columns_in_order = (c[order] for c in (ns, cpu, kind, context, current, one, two, three))
        ns, cpu, kind, context, current, one, two, three = columns_in_order
    return Events(
        *(ns, cpu, kind, context, current, one, two, three),
        names=columns.names,
        priorities=columns.priorities,
        notes=notes,
    )


def _goes_back(ns: Numbers, cpu: Numbers) -> int:
    order = np.argsort(cpu, kind="stable")
    same = np.diff(cpu[order]) == 0
    return int(np.count_nonzero((np.diff(ns[order]) < 0) & same))
