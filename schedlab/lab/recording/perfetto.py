"""Traces of Perfetto: the few fields of its protobuf that hold the scheduler's events.

Field numbers are those of Perfetto's protos/perfetto/trace (public and stable). Only ftrace's
events count; of those the scheduler's also in their compact form, which names the tasks switched to
alone.
"""

import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate

import numpy as np

from schedlab.base.errors import UsageError
from schedlab.lab.recording.columns import EVENT, MOST_EVENTS, Columns
from schedlab.lab.recording.events import CHANNELS, Context, Events, Kind, Stop

_PACKET, _BUNDLE, _COMPRESSED = 1, 1, 50
_CPU, _EVENT, _LOST, _COMPACT = 1, 2, 3, 4
_TIMESTAMP, _PID, _FLAGS, _GENERIC = 1, 2, 5, 327
_NEW_TASK = 235
_HARD, _SOFT = 0x08, 0x10
"""The kernel's TRACE_FLAG_HARDIRQ and TRACE_FLAG_SOFTIRQ."""
_LARGEST_NUMBER = 10**9
_MOST_CPUS = 10**6
_LARGEST_PACKETS = 1 << 30
"""bytes that one compressed packet may become."""

Value = int | memoryview
Message = Mapping[int, Value]


class _Broken(Exception):
    """Bytes that are not what Perfetto writes."""


@dataclass(frozen=True)
class _Shape:
    """The fields of one event that go to `one`, `two` and `three`, and those of tasks."""

    kind: Kind
    columns: tuple[int, ...] = ()
    tasks: tuple[tuple[int, int, int], ...] = ()
    """Fields of a name, of its number, and of its priority (0: none)."""
    state: int = 0


_SHAPES = {
    4: _Shape(Kind.SWITCH, (2, 6), ((1, 2, 3), (5, 6, 7)), state=4),
    20: _Shape(Kind.WAKING, (2,), ((1, 2, 0),)),
    114: _Shape(Kind.WAKEUP_NEW, (2,), ((1, 2, 0),)),
    491: _Shape(Kind.MIGRATE, (2, 4, 5), ((1, 2, 0),)),
    239: _Shape(Kind.FORK, (2, 4), ((3, 4, 0),)),
    238: _Shape(Kind.EXIT, (2,), ((1, 2, 0),)),
    36: _Shape(Kind.IRQ_ENTRY),
    37: _Shape(Kind.IRQ_EXIT),
    24: _Shape(Kind.SOFTIRQ_ENTRY, (1,)),
    25: _Shape(Kind.SOFTIRQ_EXIT, (1,)),
    559: _Shape(Kind.TIMER_ENTRY),
    560: _Shape(Kind.TIMER_EXIT),
    553: _Shape(Kind.TIMER_ENTRY),
    554: _Shape(Kind.TIMER_EXIT),
    11: _Shape(Kind.FREQUENCY, (1, 2)),
}
"""By the number of an event's field in FtraceEvent."""
_OURS = {
    b"message_send": Kind.SEND,
    b"message_receive": Kind.RECEIVE,
    b"message_done": Kind.MESSAGE_DONE,
}
"""Events of the simulator, which Perfetto calls generic."""


def read_perfetto(data: bytes, name: str) -> Events:
    """Read a trace of Perfetto.

    Raises:
        UsageError: it has no event of the scheduler, or more events than fit into memory.
    """
    reader = _Reader(name)
    reader.packets(memoryview(data))
    return reader.events()


class _Reader:
    def __init__(self, name: str) -> None:
        self._name = name
        self._columns = Columns()
        self._rows: list[tuple[int, ...]] = []
        self._births: list[tuple[int, ...]] = []
        self._running: dict[int, int] = {}
        self._broken = self._gaps = 0
        self._cut = False

    def packets(self, data: memoryview, inside: bool = False) -> None:
        """Read all packets; a broken one is counted and left out."""
        found = _fields(data)
        while True:
            try:
                number, value = next(found)
            except StopIteration:
                return
            except _Broken:
                self._cut = True
                return
            if number != _PACKET or isinstance(value, int):
                continue
            try:
                self._packet(value, inside)
            except _Broken:
                self._broken += 1

    def events(self) -> Events:
        """Return what was found."""
        if not any(row[-2] == Kind.FORK for row in self._rows):
            self._rows += self._births
        columns = self._columns
        if not self._rows:
            raise UsageError(
                f"{self._name}: looks like a trace of Perfetto, but has no event of the"
                " scheduler. Record ftrace's sched/sched_switch, sched/sched_waking."
            )
        if self._cut:
            columns.notes.append("The file ends within a packet: what came before is used.")
        if self._broken:
            columns.notes.append(f"{self._broken:,} packets are damaged and left out.")
        if self._gaps:
            columns.notes.append(
                f"Events were lost in {self._gaps:,} pieces of CPUs' buffers: unknown how many."
            )
        rows = np.array([(*row, 0) for row in self._rows], EVENT)
        columns.pieces.append(rows[np.argsort(rows["ns"], kind="stable")])
        return columns.sorted()

    def _packet(self, data: memoryview, inside: bool) -> None:
        for number, value in _fields(data):
            if isinstance(value, int):
                continue
            if number == _BUNDLE:
                self._bundle(value)
            elif number == _COMPRESSED and not inside:
                self.packets(_inflated(value), inside=True)
        if len(self._rows) > MOST_EVENTS:
            raise UsageError(
                f"{self._name}: has more than {MOST_EVENTS:,} events of the scheduler."
                " Record a shorter time."
            )

    def _bundle(self, data: memoryview) -> None:
        parts = list(_fields(data))
        cpu = next((v for n, v in parts if n == _CPU and isinstance(v, int)), 0)
        if cpu >= _MOST_CPUS:
            raise _Broken
        for number, value in parts:
            if number == _LOST and value:
                self._gaps += 1
            elif number == _COMPACT and not isinstance(value, int):
                self._compact(cpu, value)
            elif number == _EVENT and not isinstance(value, int):
                self._event(cpu, value)

    def _event(self, cpu: int, data: memoryview) -> None:
        event = dict(_fields(data))
        ns, current = _moment(event), _number(event, _PID)
        context = _context(event[_FLAGS]) if _FLAGS in event else Context.UNKNOWN
        for number, body in event.items():
            if isinstance(body, int):
                continue
            if number in _SHAPES:
                self._known(cpu, ns, current, context, _SHAPES[number], dict(_fields(body)))
            elif number == _NEW_TASK:
                born = dict(_fields(body))
                child = _number(born, 1)
                self._name_task(child, born.get(2))
                row = (ns, cpu, current, current, child, 0, int(Kind.FORK), int(context))
                self._births.append(row)
            elif number == _GENERIC:
                self._ours(cpu, ns, current, context, body)

    def _known(
        self, cpu: int, ns: int, current: int, context: int, shape: _Shape, body: Message
    ) -> None:
        numbers = [_number(body, column) for column in shape.columns]
        numbers += [0] * (3 - len(numbers))
        if shape.state:
            numbers[2] = _stop(_signed(body.get(shape.state, 0)))
        if shape.kind == Kind.SWITCH:
            self._running[cpu] = numbers[1]
        for name, task, priority in shape.tasks:
            pid = _number(body, task)
            self._name_task(pid, body.get(name))
            if priority:
                self._columns.priorities[pid] = _number(body, priority, -_LARGEST_NUMBER)
        self._rows.append((ns, cpu, current, *numbers, int(shape.kind), int(context)))

    def _ours(self, cpu: int, ns: int, current: int, context: int, body: memoryview) -> None:
        name, found = b"", {}
        for number, value in _fields(body):
            if isinstance(value, int):
                continue
            if number == 1:
                name = bytes(value)
            elif number == 2:
                of = dict(_fields(value))
                key = of.get(1, b"")
                found[b"" if isinstance(key, int) else bytes(key)] = of
        if name not in _OURS:
            return
        size = _number(found.get(b"bytes", {}), 4)
        if _OURS[name] == Kind.MESSAGE_DONE:
            numbers = (size, 0, 0)
        else:
            text = found.get(b"kind", {}).get(3, b"")
            word = "" if isinstance(text, int) else bytes(text).decode(errors="replace")
            channel = CHANNELS.index(word) if word in CHANNELS else 0
            numbers = (channel, _number(found.get(b"object", {}), 4), size)
        self._rows.append((ns, cpu, current, *numbers, int(_OURS[name]), int(context)))

    def _compact(self, cpu: int, data: memoryview) -> None:
        texts: list[str] = []
        packed: dict[int, list[int]] = {}
        for number, value in _fields(data):
            if number == 5 and not isinstance(value, int):
                texts.append(bytes(value).decode(errors="replace"))
            elif isinstance(value, int):
                packed.setdefault(number, []).append(value)
            else:
                packed.setdefault(number, []).extend(_packed(value))

        def columns(*numbers: int) -> Iterator[tuple[int, ...]]:
            found = [packed.get(number, []) for number in numbers]
            if len({len(column) for column in found}) > 1:
                raise _Broken
            found[0] = list(accumulate(found[0]))
            return zip(*found, strict=True)

        def name_task(task: int, comm: int) -> None:
            if comm >= len(texts):
                raise _Broken
            self._columns.names[task] = texts[comm]

        rows: list[tuple[int, Callable[[], None]]] = []
        flags = packed.get(12) or [0] * len(packed.get(7, []))
        known = bool(packed.get(12))
        switches = list(columns(1, 2, 3, 4, 6))
        wakings = list(columns(7, 8, 11))
        if len(flags) != len(wakings):
            raise _Broken
        for ns, state, task, priority, comm in switches:
            after = _checked(task)
            self._columns.priorities[after] = _checked(_signed(priority), -_LARGEST_NUMBER)
            name_task(after, comm)
            rows.append((_checked_ns(ns), self._switcher(cpu, ns, after, _stop(state))))
        for (ns, task, comm), flag in zip(wakings, flags, strict=True):
            woken = _checked(task)
            name_task(woken, comm)
            context = _context(flag) if known else Context.UNKNOWN
            rows.append((_checked_ns(ns), self._waker(cpu, ns, woken, context)))
        for _, take in sorted(rows, key=lambda row: row[0]):
            take()

    def _switcher(self, cpu: int, ns: int, after: int, stop: int) -> Callable[[], None]:
        def take() -> None:
            before = self._running.get(cpu, 0)
            self._running[cpu] = after
            kind = int(Kind.SWITCH)
            self._rows.append((ns, cpu, before, before, after, stop, kind, int(Context.TASK)))

        return take

    def _waker(self, cpu: int, ns: int, woken: int, context: int) -> Callable[[], None]:
        def take() -> None:
            current = self._running.get(cpu, 0)
            self._rows.append((ns, cpu, current, woken, 0, 0, int(Kind.WAKING), int(context)))

        return take

    def _name_task(self, task: int, name: Value | None) -> None:
        if name is not None and not isinstance(name, int):
            self._columns.names[task] = bytes(name).decode(errors="replace")


def _fields(data: memoryview) -> Iterator[tuple[int, Value]]:
    """Yield the fields of a message: numbers, and what has a length as it is."""
    at, end = 0, len(data)
    while at < end:
        key, at = _varint(data, at)
        wire = key & 7
        if wire == 0:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if wire == 2:
            size, at = _varint(data, at)
        elif wire in (1, 5):
            size = 8 if wire == 1 else 4
        else:
            raise _Broken
        if size > end - at:
            raise _Broken
        if wire == 2:
            yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    for place in range(at, min(at + 10, len(data))):
        byte = data[place]
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, place + 1
        shift += 7
    raise _Broken


def _packed(data: memoryview) -> Sequence[int]:
    found, at = [], 0
    while at < len(data):
        value, at = _varint(data, at)
        found.append(value)
    return found


def _inflated(data: memoryview) -> memoryview:
    try:
        engine = zlib.decompressobj()
        whole = engine.decompress(data, _LARGEST_PACKETS)
    except zlib.error:
        raise _Broken from None
    if engine.unconsumed_tail:
        raise _Broken
    return memoryview(whole)


def _signed(value: Value) -> int:
    if not isinstance(value, int):
        raise _Broken
    return value - (1 << 64) if value >= 1 << 63 else value


def _number(body: Message, field: int, least: int = 0) -> int:
    return _checked(_signed(body.get(field, 0)), least)


def _checked(value: int, least: int = 0) -> int:
    if not least <= value < _LARGEST_NUMBER:
        raise _Broken
    return value


def _moment(event: Message) -> int:
    return _checked_ns(_signed(event.get(_TIMESTAMP, 0)))


def _checked_ns(ns: int) -> int:
    if not 0 <= ns < 1 << 62:
        raise _Broken
    return ns


def _context(flags: Value) -> int:
    if not isinstance(flags, int):
        raise _Broken
    if flags & _HARD:
        return Context.INTERRUPT
    return Context.SOFTIRQ if flags & _SOFT else Context.TASK


def _stop(state: int) -> int:
    """Return why a task stopped, from the kernel's bits: R is none, S, D, T, t, X, Z, P, I."""
    if not state & 0xFF:
        return Stop.PREEMPTED
    if state & 0x30:
        return Stop.DEAD
    if state & 0x02:
        return Stop.UNINTERRUPTIBLE
    return Stop.SLEEP if state & 0x81 else Stop.OTHER
