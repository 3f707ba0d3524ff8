"""Traces as text: ftrace's own, `trace-cmd report`, and `perf script`, by one reader.

The lines of all three are: task, CPU, time, event, and the event's text. A piece of the file at a
time is split by one regular expression, its events kind by kind by another, and numbers are
converted by numpy.
"""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.base.errors import UsageError
from schedlab.lab.recording.events import CHANNELS, Context, Events, Kind, Numbers, Stop
from schedlab.lab.recording.setup import HEAD, Setup, read_setup

MOST_EVENTS = 60_000_000
"""About 4 GB of columns and what sorting them takes."""
_LONGEST_LINE = 1 << 20
_APART = 1_000_000
"""ns that clocks of CPUs may be apart: up to that the file's order says what came first."""
_LONGEST_NUMBER = 9

_LINE = re.compile(
    rb"^ *(?:\S+|[^\n]{1,64}?)(?:-| +)(\d{1,9})(?:/\d+)? +(?:\([ \d-]+\) +)?\[(\d{1,6})\] +"
    rb"(?:([dDbB.X][^ \n]{3,8}) +)?(\d{1,9})\.(\d{6,9}): +(?:\w+:)?(\w+): *([^\n]*)$",
    re.MULTILINE,
)
_LOST = re.compile(rb"LOST (?:lost )?(\d{1,18})")
"""`CPU:3 [LOST 17 EVENTS]` of ftrace and trace-cmd, `PERF_RECORD_LOST lost 17` of perf."""

_SWITCH = (
    rb"^prev_comm=(.*) prev_pid=(\d{1,9}) prev_prio=(-?\d{1,9}) prev_state=(\S+) ==>"
    rb" next_comm=(.*) next_pid=(\d{1,9}) next_prio=(-?\d{1,9}).*$"
)
_SWITCH_SHORT = rb"^(.*):(\d{1,9}) \[(-?\d{1,9})\] (\S+) ==> (.*):(\d{1,9}) \[(-?\d{1,9})\].*$"
_WOKEN = rb"^comm=(.*) pid=(\d{1,9}) prio=.*$"
_WOKEN_SHORT = rb"^(.*):(\d{1,9}) \[-?\d+\].*$"
_MOVED = rb"^comm=(.*) pid=(\d{1,9}) prio=-?\d+ orig_cpu=(\d{1,9}) dest_cpu=(\d{1,9}).*$"
_FORKED = rb"^comm=.* pid=(\d{1,9}) child_comm=(.*) child_pid=(\d{1,9}).*$"
_VECTOR = rb"^vec=(\d{1,9}).*$"
_SPEED = rb"^state=(\d{1,9}) cpu_id=(\d{1,9}).*$"
_MESSAGE = rb"^kind=(\w+) object=(\d{1,9}) bytes=(\d{1,9}).*$"
_MOVED_BYTES = rb"^bytes=(\d{1,9}).*$"
_ANY = rb"^()[^\n]*$"


@dataclass(frozen=True)
class _Shape:
    """How the text of one event is read: groups by their places."""

    kind: Kind
    patterns: tuple[re.Pattern[bytes], ...]
    numbers: tuple[int, ...] = ()
    """Groups that go to the columns `one`, `two`, `three`."""
    named: tuple[tuple[int, int], ...] = ()
    """Groups of a task's name and of its number."""
    priority: tuple[tuple[int, int], ...] = ()
    """Groups of a task's number and of its priority."""
    state: int | None = None
    channel: int | None = None
    """The group of the kind of a channel, which goes to the column `one`."""


def _shape(
    kind: Kind,
    *patterns: bytes,
    numbers: tuple[int, ...] = (),
    named: tuple[tuple[int, int], ...] = (),
    priority: tuple[tuple[int, int], ...] = (),
    state: int | None = None,
    channel: int | None = None,
) -> _Shape:
    compiled = tuple(re.compile(pattern, re.MULTILINE) for pattern in patterns)
    return _Shape(kind, compiled, numbers, named, priority, state, channel)


_WAKING = _shape(Kind.WAKING, _WOKEN, _WOKEN_SHORT, numbers=(1,), named=((0, 1),))
_SHAPES = {
    b"sched_switch": _shape(
        *(Kind.SWITCH, _SWITCH, _SWITCH_SHORT),
        numbers=(1, 5),
        named=((0, 1), (4, 5)),
        priority=((1, 2), (5, 6)),
        state=3,
    ),
    b"sched_waking": _WAKING,
    b"sched_wakeup_new": _shape(
        Kind.WAKEUP_NEW, _WOKEN, _WOKEN_SHORT, numbers=(1,), named=((0, 1),)
    ),
    b"sched_migrate_task": _shape(Kind.MIGRATE, _MOVED, numbers=(1, 2, 3), named=((0, 1),)),
    b"sched_process_fork": _shape(Kind.FORK, _FORKED, numbers=(0, 2), named=((1, 2),)),
    b"sched_process_exit": _shape(Kind.EXIT, _WOKEN, numbers=(1,), named=((0, 1),)),
    b"irq_handler_entry": _shape(Kind.IRQ_ENTRY, _ANY),
    b"irq_handler_exit": _shape(Kind.IRQ_EXIT, _ANY),
    b"softirq_entry": _shape(Kind.SOFTIRQ_ENTRY, _VECTOR, numbers=(0,)),
    b"softirq_exit": _shape(Kind.SOFTIRQ_EXIT, _VECTOR, numbers=(0,)),
    b"local_timer_entry": _shape(Kind.TIMER_ENTRY, _ANY),
    b"local_timer_exit": _shape(Kind.TIMER_EXIT, _ANY),
    b"hrtimer_expire_entry": _shape(Kind.TIMER_ENTRY, _ANY),
    b"hrtimer_expire_exit": _shape(Kind.TIMER_EXIT, _ANY),
    b"cpu_frequency": _shape(Kind.FREQUENCY, _SPEED, numbers=(0, 1)),
    b"message_send": _shape(Kind.SEND, _MESSAGE, numbers=(2, 1, 2), channel=0),
    b"message_receive": _shape(Kind.RECEIVE, _MESSAGE, numbers=(2, 1, 2), channel=0),
    b"message_done": _shape(Kind.MESSAGE_DONE, _MOVED_BYTES, numbers=(0,)),
}
_STOPS = {b"R": Stop.PREEMPTED, b"S": Stop.SLEEP, b"D": Stop.UNINTERRUPTIBLE, b"I": Stop.SLEEP}
_STOPS |= {b"X": Stop.DEAD, b"Z": Stop.DEAD, b"x": Stop.DEAD}


@dataclass
class _Columns:
    """What has been read, a piece of the file at a time."""

    pieces: list[tuple[NDArray[np.int64], ...]] = field(default_factory=list)
    names: dict[int, str] = field(default_factory=dict)
    priorities: dict[int, int] = field(default_factory=dict)
    count: int = 0
    damaged: int = 0
    lost: int = 0
    first_damaged: str = ""


def read_text(pieces: Iterable[bytes], name: str) -> Events:
    """Read a trace from the pieces of its file.

    Raises:
        UsageError: it has no event of the scheduler, or more events than fit into memory.
    """
    columns = _Columns()
    setup = None
    for piece in _whole_lines(pieces, name):
        if piece.startswith(HEAD.encode()):
            setup = _setup(piece, name)
        _take(piece, columns)
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


def _take(piece: bytes, columns: _Columns) -> None:
    if b"LOST" in piece:
        columns.lost += sum(map(int, _LOST.findall(piece)))
    rows = _LINE.findall(piece)
    by_event: dict[bytes, list[int]] = {}
    for at, row in enumerate(rows):
        by_event.setdefault(row[5], []).append(at)
    if not rows:
        return
    task, cpu, flags, seconds, fraction, _, texts = zip(*rows, strict=True)
    found = []
    for event, places in by_event.items():
        if event in _SHAPES:
            found.append(_read(_SHAPES[event], places, texts, columns))
    if not found:
        return
    kinds, where, one, two, three = (np.concatenate(part) for part in zip(*found, strict=True))
    order = np.argsort(where, kind="stable")
    where = where[order]
    nanoseconds = _whole(seconds)[where] * 1_000_000_000 + _fraction(fraction)[where]
    known = {word: _context(word) for word in set(flags)}
    context = np.fromiter((known[word] for word in flags), np.int64, len(flags))[where]
    own = (nanoseconds, _whole(cpu)[where], kinds[order], context, _whole(task)[where])
    columns.pieces.append((*own, one[order], two[order], three[order]))
    columns.count += len(where)


def _read(
    shape: _Shape, places: list[int], texts: Sequence[bytes], columns: _Columns
) -> tuple[NDArray[np.int64], ...]:
    """Return kind, place and numbers of the events of one kind; count those it cannot read."""
    rows, kept = _matched(shape, [texts[at] for at in places], columns)
    where = np.array(places, np.int64)[kept] if len(kept) != len(places) else np.array(places)
    numbers = [np.zeros(len(where), np.int64) for _ in range(3)]
    if rows:
        groups = list(zip(*rows, strict=True)) if isinstance(rows[0], tuple) else [rows]
        for column, group in enumerate(shape.numbers):
            numbers[column] = _whole(groups[group])
        for named, number in shape.named:
            for task, comm in set(zip(groups[number], groups[named], strict=True)):
                columns.names[int(task)] = comm.decode(errors="replace")
        for number, level in shape.priority:
            for task, priority in set(zip(groups[number], groups[level], strict=True)):
                columns.priorities[int(task)] = int(priority)
        if shape.state is not None:
            words = groups[shape.state]
            known = {word: _stop(word) for word in set(words)}
            numbers[2] = np.fromiter((known[word] for word in words), np.int64, len(words))
        if shape.channel is not None:
            kinds = [kind.encode() for kind in CHANNELS]
            words = groups[shape.channel]
            known = {word: kinds.index(word) if word in kinds else 0 for word in set(words)}
            numbers[0] = np.fromiter((known[word] for word in words), np.int64, len(words))
    return (np.full(len(where), int(shape.kind)), where, *numbers)


def _matched(
    shape: _Shape, texts: list[bytes], columns: _Columns
) -> tuple[list[tuple[bytes, ...]], Sequence[int]]:
    """Return the groups of all texts, and which texts they are of."""
    for pattern in shape.patterns:
        rows = pattern.findall(b"\n".join(texts))
        if len(rows) == len(texts):
            return rows, range(len(texts))
    rows, kept = [], []
    for at, text in enumerate(texts):
        found = next((m for pattern in shape.patterns if (m := pattern.match(text))), None)
        if found:
            groups = found.groups()
            rows.append(groups if len(groups) > 1 else groups[0])
            kept.append(at)
        else:
            columns.damaged += 1
            columns.first_damaged = columns.first_damaged or text[:80].decode(errors="replace")
    return rows, kept


def _whole(words: Sequence[bytes]) -> Numbers:
    return np.asarray(np.array(words, dtype=f"S{_LONGEST_NUMBER}").astype(np.int64), np.int64)


def _fraction(words: Sequence[bytes]) -> Numbers:
    """Return nanoseconds, of six to nine digits."""
    widths = set(map(len, words))
    if len(widths) == 1:
        scaled: Numbers = _whole(words) * 10 ** (9 - widths.pop())
        return scaled
    return _whole([word.ljust(9, b"0") for word in words])


def _context(flags: bytes) -> int:
    """Return the context of a line's flags; the third letter is about interrupts."""
    if len(flags) < 4:
        return Context.UNKNOWN
    letter = flags[2:3]
    if letter in b"hHzZ":
        return Context.INTERRUPT
    return Context.SOFTIRQ if letter == b"s" else Context.TASK


def _stop(state: bytes) -> int:
    return _STOPS.get(state[:1], Stop.OTHER)


def _sorted(columns: _Columns) -> Events:
    ns, cpu, kind, context, current, one, two, three = (
        np.concatenate(part) for part in zip(*columns.pieces, strict=True)
    )
    columns.pieces.clear()
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
        *(ns, cpu, kind.astype(np.int8), context.astype(np.int8), current, one, two, three),
        names=columns.names,
        priorities=columns.priorities,
        notes=notes,
    )


def _goes_back(ns: Numbers, cpu: Numbers) -> int:
    order = np.argsort(cpu, kind="stable")
    same = np.diff(cpu[order]) == 0
    return int(np.count_nonzero((np.diff(ns[order]) < 0) & same))
