"""Which pipe or socket each descriptor of a host's tasks is, at each moment of a trace.

A trace shows descriptors as numbers. What they are comes from a look at each process before and
after the trace, and from the calls that make, copy and close descriptors. Calls that write two new
descriptors into the program's memory (pipe(), socketpair()) take the lowest free numbers.
"""

from collections import deque
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import IntEnum

import numpy as np

from schedlab.lab.recording.events import CHANNELS, Call, Events, Kind, Numbers, TcpState
from schedlab.lab.recording.pieces import Lives, Spans, find_spans, task_key
from schedlab.lab.recording.setup import Descriptor, Setup

_CLOSE_ON_EXEC = 0x80000
"""O_CLOEXEC and SOCK_CLOEXEC."""
_PACKETS = 0x4000
"""O_DIRECT of a pipe."""
_SHARED = 0x400
"""CLONE_FILES"""
_UNIX = 1
"""AF_UNIX"""
_MOST = 1 << 20
"""Descriptors of a process, from 0, that are looked at."""


class Side(IntEnum):
    """What can be done with one end."""

    BOTH = 0
    READS = 1
    WRITES = 2


@dataclass(eq=False)
class File:
    """What a descriptor stands for: an end of a pipe or connection, or something else."""

    kind: str = ""
    """Of CHANNELS; empty: none of them, or not known."""
    name: tuple[int, ...] = ()
    """The same for both ends; none: not known."""
    first: bool = True
    """Which of two sockets."""
    side: Side = Side.BOTH
    inode: int = 0
    port: int = 0
    """Where it listens."""
    number: int = 0
    """Of those that were met, from 1."""


@dataclass
class _Table:
    """The descriptors of a process."""

    number: int
    process: int
    files: dict[int, tuple[File, bool]] = field(default_factory=dict)
    """And whether exec() closes it."""
    users: int = 0
    """Tasks that have it."""

    def lowest_free(self) -> int:
        fd = 0
        while fd in self.files:
            fd += 1
        return fd


@dataclass
class DescriptorCalls(Spans):
    """Calls of which the trace shows the beginning and the end."""

    what: Numbers
    two: Numbers
    three: Numbers
    result: Numbers

    def chosen(self, which: Numbers) -> "DescriptorCalls":
        """Return those of them."""
        spans = self.task[which], self.enter[which], self.exit[which]
        numbers = self.what[which], self.two[which], self.three[which], self.result[which]
        return DescriptorCalls(*spans, *numbers)


def find_descriptor_calls(events: Events, lives: Lives) -> DescriptorCalls:
    """Return the calls that have to do with descriptors."""
    calls = find_spans(events, lives, [Kind.CALL], Kind.CALL_DONE)
    enter = calls.enter
    return DescriptorCalls(
        *(calls.task, enter, calls.exit),
        *(events.one[enter], events.two[enter], events.three[enter], events.two[calls.exit]),
    )


def descriptor_notes(setup: Setup | None) -> Iterator[str]:
    """Yield what is missing of a trace that has calls on descriptors."""
    looks = (setup.descriptors_before, setup.descriptors_after) if setup else ()
    seen = [each for look in looks for own in look.values() for each in own.values()]
    sockets = any(each.inode and not each.is_pipe for each in seen)
    if not seen:
        yield (
            "The trace does not say which pipe or socket each descriptor was as it began, as"
            " `schedlab record` does: only those made later are known."
        )
    elif setup and sockets and not setup.peers and not setup.ports:
        yield (
            "ss (iproute2) or nsenter was missing where it was recorded: of sockets the other ends"
            " are not known."
        )


@dataclass
class Moved:
    """Calls that moved bytes over pipes and connections."""

    calls: DescriptorCalls
    channel: Numbers
    """From 1; one for each direction."""
    kind: Numbers
    """Index into CHANNELS."""


def find_moved(events: Events, lives: Lives) -> Moved:
    """Return the calls that read or wrote a pipe or connection of which something is known."""
    calls = find_descriptor_calls(events, lives)
    tables = _Tables(events, lives, calls)
    moves = np.isin(calls.what, np.array([Call.READ, Call.WRITE])) & (calls.result > 0)
    moved = calls.chosen(np.flatnonzero(moves))
    file = tables.find(moved.task, moved.two, moved.enter)
    channel, kind = np.zeros(len(file), np.int64), np.zeros(len(file), np.int64)
    known: dict[tuple[str, tuple[int, ...], bool], int] = {}
    for side, what in ((Side.READS, Call.READ), (Side.WRITES, Call.WRITE)):
        of_file, kinds = tables.channels(side, known)
        own = moved.what == int(what)
        channel[own], kind[own] = of_file[file[own]], kinds[file[own]]
    there = np.flatnonzero(channel)
    return Moved(moved.chosen(there), channel[there], kind[there])


class _Tables:
    """The descriptors of all processes, and how they changed."""

    def __init__(self, events: Events, lives: Lives, calls: DescriptorCalls) -> None:
        self._events, self._lives = events, lives
        self._setup = events.setup or Setup("", "", {})
        self._files = [File()]
        self._of_inode: dict[int, File] = {}
        self._of_task: dict[int, _Table] = {}
        self._of_process: dict[int, _Table] = {}
        self._tables: list[_Table] = []
        self._changes: list[tuple[int, int, int, int]] = []
        """Table, descriptor, place, number of the file."""
        self._made: dict[int, int] = {}
        """Of new tasks, by their numbers, the flags of clone()."""
        self._in_call: dict[int, File] = {}
        """Of tasks that connect or listen, the socket."""
        self._queues: dict[int, deque[tuple[int, int]]] = {}
        """Of each port, the connections that have not been accepted."""
        self._pids = lives.pid.tolist()
        self._replay(calls)
        self._look_after()

    def find(self, task: Numbers, fd: Numbers, place: Numbers) -> Numbers:
        """Return the number of the file that is meant; 0: not known."""
        number = [self._table(each).number for each in range(len(self._pids))]
        asked = np.array(number, np.int64)[task] * _MOST + np.clip(fd, 0, _MOST - 1)
        rows = np.array(self._changes, np.int64).reshape(-1, 4)
        both, of_change = np.unique(rows[:, 0] * _MOST + rows[:, 1], return_inverse=True)
        keys = task_key(of_change.reshape(-1), rows[:, 2])
        order = np.argsort(keys, kind="stable")
        keys, file = keys[order], rows[order, 3]
        if not len(keys):
            return np.zeros(len(task), np.int64)
        name = np.minimum(np.searchsorted(both, asked), len(both) - 1)
        at = np.searchsorted(keys, task_key(name, place), "right") - 1
        there = np.maximum(at, 0)
        same = (at >= 0) & (both[name] == asked) & (of_change.reshape(-1)[order][there] == name)
        return np.where(same, file[there], 0)

    def channels(
        self, side: Side, known: dict[tuple[str, tuple[int, ...], bool], int]
    ) -> tuple[Numbers, Numbers]:
        """Return for each file the channel that it reads or writes, 0 for none, and the kind.

        Args:
            side: READS or WRITES.
            known: the numbers given so far, by kind, name and direction.
        """
        found = np.zeros(len(self._files), np.int64)
        kinds = np.zeros(len(self._files), np.int64)
        for at, file in enumerate(self._files):
            if not file.name or file.side not in (Side.BOTH, side):
                continue
            pipe = file.kind in ("pipe", "packets")
            onward = pipe or file.first == (side == Side.WRITES)
            key = file.kind, file.name, onward
            found[at] = known.setdefault(key, len(known) + 1)
            kinds[at] = CHANNELS.index(file.kind)
        return found, kinds

    # ------------------------------------------------------------------ tables

    def _table(self, task: int) -> _Table:
        if task not in self._of_task:
            own = self._setup.tasks.get(self._pids[task])
            process = own.process if own else self._pids[task]
            if process not in self._of_process:
                self._of_process[process] = self._first(process)
            self._own(task, self._of_process[process])
        return self._of_task[task]

    def _own(self, task: int, table: _Table) -> _Table:
        table.users += 1
        self._of_task[task] = table
        return table

    def _new(self, process: int, files: Mapping[int, tuple[File, bool]], place: int) -> _Table:
        table = _Table(len(self._tables), process)
        self._tables.append(table)
        for fd, (file, closes) in files.items():
            self._set(table, fd, file, closes, place)
        return table

    def _first(self, process: int) -> _Table:
        """Return the table of a process that was there before the trace began."""
        before = self._setup.descriptors_before.get(process)
        after = self._setup.descriptors_after.get(process, {})
        if process in self._setup.roots and before is None:
            return self._new(process, self._inherited(), 0)
        known = after if before is None else before
        table = self._new(process, {fd: self._seen(each) for fd, each in known.items()}, 0)
        for fd in after.keys() - known.keys():
            # It came in a way, or at a time, that the trace does not show.
            self._note(table, fd, self._seen(after[fd])[0], 0)
        return table

    def _inherited(self) -> dict[int, tuple[File, bool]]:
        return {fd: (self._met(File()), False) for fd in self._setup.inherited}

    def _seen(self, each: Descriptor) -> tuple[File, bool]:
        inode = each.inode
        if not inode:
            return self._files[0], each.closes
        if inode not in self._of_inode:
            kind = "pipe" if each.is_pipe else ""
            name = (inode,) if each.is_pipe else ()
            self._of_inode[inode] = self._met(File(kind, name, inode=inode))
            if not each.is_pipe:
                self._name_socket(self._of_inode[inode])
        return self._of_inode[inode], each.closes

    def _met(self, file: File) -> File:
        file.number = len(self._files)
        self._files.append(file)
        return file

    def _name_socket(self, file: File) -> None:
        """Find the two ends of a connection by what is known of the socket's inode."""
        peer = self._setup.peers.get(file.inode)
        ports = self._setup.ports.get(file.inode)
        if peer:
            file.kind, file.first = "unix", file.inode < peer
            file.name = (min(file.inode, peer), max(file.inode, peer))
        elif ports and not ports[1]:
            file.port = ports[0]
        elif ports:
            self._name_tcp(file, *ports)

    def _name_tcp(self, file: File, own: int, peer: int) -> None:
        if own != peer:
            file.kind, file.first = "tcp", own < peer
            file.name = (min(own, peer), max(own, peer))

    def _set(self, table: _Table, fd: int, file: File, closes: bool, place: int) -> None:
        table.files[fd] = file, closes
        self._note(table, fd, file, place)

    def _drop(self, table: _Table, fd: int, place: int) -> None:
        if table.files.pop(fd, None):
            self._note(table, fd, self._files[0], place)

    def _note(self, table: _Table, fd: int, file: File, place: int) -> None:
        if 0 <= fd < _MOST:
            self._changes.append((table.number, fd, place, file.number))

    def _look_after(self) -> None:
        """Name the sockets that are still open as the trace ends, and were not named before."""
        for process, table in self._of_process.items():
            after = self._setup.descriptors_after.get(process, {})
            for fd, (file, _) in table.files.items():
                seen = after.get(fd)
                if seen and seen.inode and not seen.is_pipe and not file.name and file.number:
                    file.inode = seen.inode
                    self._name_socket(file)

    # ------------------------------------------------------------------ what changes them

    def _replay(self, calls: DescriptorCalls) -> None:
        """Go through all that changes a table, in the order of the trace."""
        for place, what, number in sorted(self._steps(calls)):
            if what == Kind.CALL:
                begins = calls.enter[number] == place
                self._call(calls, number, place, begins)
            elif what == Kind.FORK:
                self._fork(number)
            elif what == Kind.NEW_TASK:
                self._made[int(self._events.one[number])] = int(self._events.two[number])
            elif what == Kind.EXEC:
                self._exec(number)
            else:
                self._tcp(number)

    def _steps(self, calls: DescriptorCalls) -> Iterator[tuple[int, int, int]]:
        """Yield place, kind, and the number of the call or again the place."""
        moves = np.isin(calls.what, np.array([Call.READ, Call.WRITE]))
        for number in np.flatnonzero(~moves).tolist():
            yield int(calls.enter[number]), int(Kind.CALL), number
            yield int(calls.exit[number]), int(Kind.CALL), number
        for kind in (Kind.FORK, Kind.NEW_TASK, Kind.EXEC, Kind.TCP_STATE):
            yield from ((place, int(kind), place) for place in self._events.of(kind).tolist())

    def _call(self, calls: DescriptorCalls, number: int, place: int, begins: bool) -> None:
        task, what = int(calls.task[number]), int(calls.what[number])
        two, three = int(calls.two[number]), int(calls.three[number])
        result = int(calls.result[number])
        table = self._table(task)
        closes = bool(three & _CLOSE_ON_EXEC)
        if begins:
            if what == Call.CLOSE:
                self._drop(table, two, place)
            elif what == Call.CLOSE_RANGE:
                for fd in [fd for fd in table.files if two <= fd <= max(three, two)]:
                    self._drop(table, fd, place)
            elif what in (Call.CONNECT, Call.LISTEN):
                self._in_call[task] = self._at(table, two, place)
            return
        if what in (Call.CONNECT, Call.LISTEN):
            self._in_call.pop(task, None)
        elif result < 0:
            return
        elif what == Call.SET_FLAGS:
            if two in table.files:
                table.files[two] = table.files[two][0], closes
        elif what == Call.DUP:
            self._set(table, result, self._at(table, two, place), closes, place)
        elif what == Call.PIPE:
            self._pipe(table, three, place)
        elif what == Call.PAIR:
            self._pair(table, two, three, place)
        elif what == Call.ACCEPT:
            self._accept(table, two, result, closes, place)
        elif what == Call.OPEN:
            self._set(table, result, self._met(File()), closes, place)

    def _at(self, table: _Table, fd: int, place: int) -> File:
        """Return what a descriptor is, from now on the same where it was not known."""
        if fd not in table.files:
            self._set(table, fd, self._met(File()), False, place)
        return table.files[fd][0]

    def _pipe(self, table: _Table, flags: int, place: int) -> None:
        kind = "packets" if flags & _PACKETS else "pipe"
        for side in (Side.READS, Side.WRITES):
            file = self._met(File(kind, (-place,), side=side))
            self._set(table, table.lowest_free(), file, bool(flags & _CLOSE_ON_EXEC), place)

    def _pair(self, table: _Table, family: int, kind: int, place: int) -> None:
        for first in (True, False):
            file = self._met(File("unix", (-place,), first=first) if family == _UNIX else File())
            self._set(table, table.lowest_free(), file, bool(kind & _CLOSE_ON_EXEC), place)

    def _accept(self, table: _Table, fd: int, new: int, closes: bool, place: int) -> None:
        file = self._met(File())
        queue = self._queues.get(self._at(table, fd, place).port)
        if queue:
            self._name_tcp(file, *queue.popleft())
        self._set(table, new, file, closes, place)

    def _tcp(self, place: int) -> None:
        """Name what connects or listens; keep what has been connected to for accept()."""
        own, peer = int(self._events.one[place]), int(self._events.two[place])
        state = int(self._events.three[place])
        if state == TcpState.ACCEPTED:
            self._queues.setdefault(own, deque()).append((own, peer))
            return
        by = self._lives.task(self._events.current[place : place + 1], np.array([place]))
        file = self._in_call.get(int(by[0]))
        if file and state == TcpState.LISTENS:
            file.port = own
        elif file:
            self._name_tcp(file, own, peer)

    def _fork(self, place: int) -> None:
        at = np.array([place])
        pids = self._events.one[place : place + 1], self._events.two[place : place + 1]
        parent, child = (int(self._lives.task(pid, at)[0]) for pid in pids)
        if parent < 0 or child < 0:
            return
        table = self._table(parent)
        if self._shares(int(pids[0][0]), int(pids[1][0])):
            self._own(child, table)
        else:
            self._own(child, self._new(int(pids[1][0]), table.files, place))
            self._of_process[int(pids[1][0])] = self._of_task[child]

    def _shares(self, parent: int, child: int) -> bool:
        """Return whether a new task has the descriptors of the one that made it."""
        if child in self._made:
            return bool(self._made.pop(child) & _SHARED)
        tasks = self._setup.tasks
        both = parent in tasks and child in tasks
        return both and tasks[parent].process == tasks[child].process

    def _exec(self, place: int) -> None:
        pid = self._events.one[place : place + 1]
        task = int(self._lives.task(pid, np.array([place]))[0])
        if task < 0:
            return
        table = self._table(task)
        if table.users > 1:
            table.users -= 1
            table = self._own(task, self._new(int(pid[0]), table.files, place))
        if int(pid[0]) in self._setup.roots and self._setup.inherited:
            kept = set(self._setup.inherited)
        else:
            kept = {fd for fd, (_, closes) in table.files.items() if not closes}
        for fd in [fd for fd in table.files if fd not in kept]:
            self._drop(table, fd, place)
