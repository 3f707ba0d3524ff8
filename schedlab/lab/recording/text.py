"""Traces as text: ftrace's own, `trace-cmd report`, and `perf script`, by one reader.

The lines of all three are: task, CPU, time, event, and the event's text. tools/trace-text/ makes
events of them, whole lines of a piece of the file at a time.
"""

import ctypes
import json
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import replace

import numpy as np

from schedlab.base.errors import UsageError
from schedlab.kernels.native import trace_text
from schedlab.lab.recording.columns import EVENT, MOST_EVENTS, Columns
from schedlab.lab.recording.events import Events
from schedlab.lab.recording.setup import HEAD, Setup, read_setup

_LONGEST_LINE = 1 << 20
_LOST = re.compile(rb"LOST (?:lost )?(\d{1,18})")
"""`CPU:3 [LOST 17 EVENTS]` of ftrace and trace-cmd, `PERF_RECORD_LOST lost 17` of perf."""
_NAMES_EVENT = re.compile(rb"sched_(?:switch|waking|wakeup_new): ")
_NO_PRIORITY = -(1 << 31)
_SHOWN = 80

_NAMED = np.dtype(
    [("task", "<i4"), ("priority", "<i4"), ("begins", "<u4"), ("name", "<u4"), ("length", "<u4")]
)
"""As tools/trace-text/trace-text.h has it."""


class _Found(ctypes.Structure):
    _fields_ = tuple(
        (name, ctypes.c_uint64)
        for name in ("events", "named", "damaged", "first_damaged", "first_damaged_length")
    )


class _Reader:
    """tools/trace-text/ as a library."""

    def __init__(self, name: str) -> None:
        self._library = ctypes.CDLL(str(trace_text()))
        self._library.trace_text_open.restype = ctypes.c_void_p
        self._state = ctypes.c_void_p(self._library.trace_text_open())
        if not self._state:
            raise UsageError(f"{name}: there is not enough memory to read it.")

    def close(self) -> None:
        self._library.trace_text_close(self._state)

    def take(self, piece: bytes, columns: Columns) -> None:
        """Add the events of whole lines to the columns."""
        if b"LOST" in piece:
            columns.lost += sum(map(int, _LOST.findall(piece)))
        lines = piece.count(b"\n") + 1
        events, named, found = np.empty(lines, EVENT), np.empty(2 * lines, _NAMED), _Found()
        self._library.trace_text_read(
            *(self._state, piece, ctypes.c_size_t(len(piece))),
            *(ctypes.c_void_p(events.ctypes.data), ctypes.c_void_p(named.ctypes.data)),
            ctypes.byref(found),
        )
        if found.events:
            columns.pieces.append(events[: found.events].copy())
            columns.count += found.events
        for task, priority, begins, at, length in named[: found.named].tolist():
            if begins:
                columns.begin_task(task)
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
    columns = Columns()
    setup = None
    unread = b""
    with closing(_Reader(name)) as reader:
        for piece in _whole_lines(pieces, name):
            if (at := _place_of_setup(piece)) >= 0:
                setup = _setup(piece[at:], name)
            reader.take(piece, columns)
            if not columns.count and not unread and (found := _NAMES_EVENT.search(piece)):
                begin = piece.rfind(b"\n", 0, found.start()) + 1
                unread = piece[begin : begin + _SHOWN].partition(b"\n")[0].strip()
            if columns.count > MOST_EVENTS:
                raise UsageError(
                    f"{name}: has more than {MOST_EVENTS:,} events of the scheduler."
                    " Record a shorter time, or cut the file."
                )
    if not columns.count and unread:
        raise UsageError(
            f"{name}: all lines with events of the scheduler are damaged, or have a CPU, a task or"
            f" a time that cannot be; the first: {unread.decode(errors='replace')}"
        )
    if not columns.count:
        raise UsageError(
            f"{name}: no line is an event of the scheduler (sched_switch, sched_waking ...)."
            " ftrace's text, `trace-cmd report` and `perf script` are read."
        )
    return replace(columns.sorted(), setup=setup)


def _place_of_setup(piece: bytes) -> int:
    """Return where the line of what was set begins: a host's first, a simulator's last one."""
    if piece.startswith(HEAD.encode()):
        return 0
    before = piece.rfind(b"\n" + HEAD.encode())
    return before + 1 if before >= 0 else -1


def _setup(piece: bytes, name: str) -> Setup:
    line = piece.partition(b"\n")[0].removeprefix(HEAD.encode())
    try:
        found = read_setup(json.loads(line))
    except (ValueError, RecursionError):
        found = None
    if not found:
        raise UsageError(
            f"{name}: its line of what was set is not as `schedlab record` writes it; it may be"
            " cut off there."
        )
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
