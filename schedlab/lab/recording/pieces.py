"""Which task ran where and when: the pieces of time between the switches of each CPU."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from schedlab.lab.recording.events import Events, Kind, Numbers, Stop

_SHIFT = 34
"""A key of a task and a place in the trace is one number: task << _SHIFT | place."""
LAST_PLACE = (1 << _SHIFT) - 1
"""A place after all that a trace has."""


@dataclass
class Pieces:
    """Pieces of tasks' time on CPUs, sorted by task and then by time; the idle task has none."""

    task: Numbers
    """Numbers from 0; one for each life of a process number."""
    pid: Numbers
    cpu: Numbers
    begin: Numbers
    """Places in the trace."""
    end: Numbers
    """The place of the switch away; the trace's length where the trace ends before."""
    since: Numbers
    """ns"""
    until: Numbers
    stop: Numbers
    """Why it ended (Stop); -1 where the trace ends, or where a switch was lost."""
    lives: Lives
    lost: int
    """Switches whose task is not the one that was switched to before."""


def task_key(task: Numbers, place: Numbers) -> Numbers:
    """Return keys that sort by task and then by place."""
    return task << _SHIFT | place


@dataclass
class Spans:
    """Calls of tasks from their beginning to their end, sorted by task and then by beginning."""

    task: Numbers
    enter: Numbers
    """Places in the trace."""
    exit: Numbers

    def __len__(self) -> int:
        """Return the number of calls."""
        return len(self.task)

    def around(self, task: Numbers, place: Numbers) -> Numbers:
        """Return in which of the calls a task is at a place; -1: in none."""
        if not len(self):
            return np.full(len(place), -1)
        keys = task_key(self.task, self.enter)
        at = np.searchsorted(keys, task_key(task, place), "right") - 1
        there = np.maximum(at, 0)
        within = (at >= 0) & (self.task[there] == task) & (self.exit[there] >= place)
        return np.where(within, at, -1)


def find_spans(events: Events, lives: Lives, begins: Sequence[Kind], done: Kind) -> Spans:
    """Return the calls of which a trace shows the beginning and the end, by the kinds of these."""
    place = np.flatnonzero(np.isin(events.kind, np.array([*begins, done])))
    task = lives.task(events.current[place], place)
    place, task = place[task >= 0], task[task >= 0]
    order = np.argsort(task_key(task, place), kind="stable")
    place, task = place[order], task[order]
    begun = events.kind[place] != int(done)
    opens = np.flatnonzero(begun[:-1] & ~begun[1:] & (task[:-1] == task[1:]))
    return Spans(task[opens], place[opens], place[opens + 1])


def find_pieces(events: Events) -> Pieces:
    """Return the pieces of a trace."""
    switch = events.of(Kind.SWITCH)
    order = np.argsort(events.cpu[switch], kind="stable")
    at = switch[order]
    cpu = events.cpu[at]
    same = cpu[1:] == cpu[:-1]
    fits = same & (events.one[at][1:] == events.two[at][:-1])
    lost = int(np.count_nonzero(same & ~fits))
    last = np.append(~same, True) if len(at) else np.zeros(0, bool)
    first = np.insert(~same, 0, True) if len(at) else np.zeros(0, bool)
    following = np.append(at[1:], len(events)) if len(at) else at
    end_place = np.where(last, len(events), following)
    end_ns = events.ns[np.minimum(end_place, len(events) - 1)]
    stop = np.full(len(at), -1)
    stop[:-1][fits] = events.three[at][1:][fits]
    # Before the first switch of a CPU ran the task that it leaves.
    head = at[first]
    pid = np.concatenate([events.one[head], events.two[at]])
    begin = np.concatenate([np.zeros(len(head), np.int64), at])
    end = np.concatenate([head, end_place])
    since = np.concatenate([np.full(len(head), events.ns[0]), events.ns[at]])
    until = np.concatenate([events.ns[head], end_ns])
    why = np.concatenate([events.three[head], stop])
    where = np.concatenate([events.cpu[head], cpu])
    busy = pid != 0
    pid, begin, end, since, until, why, where = (
        column[busy] for column in (pid, begin, end, since, until, why, where)
    )
    lives = Lives(events, pid, begin)
    task = lives.task(pid, begin)
    order = np.argsort(task_key(task, begin), kind="stable")
    return Pieces(
        *(task[order], pid[order], where[order], begin[order], end[order]),
        *(since[order], until[order], why[order]),
        lives=lives,
        lost=lost,
    )


class Lives:
    """The lives of process numbers, which may be used again: each life begins with a fork."""

    def __init__(self, events: Events, pid: Numbers, place: Numbers) -> None:
        """Number the lives that ran, by their process numbers and places, from 0."""
        born = events.of(Kind.FORK)
        self._forks = np.sort(task_key(events.two[born], born))
        self._lives = np.unique(self.keys(pid, place))

    @property
    def pid(self) -> Numbers:
        """Return the process number of each task."""
        return self._lives >> _SHIFT

    @property
    def key(self) -> Numbers:
        """Return the key of each task, as keys() has it."""
        return self._lives

    def known(self, events: Events) -> list[tuple[str, int]]:
        """Return the name and the priority of each task."""
        return [events.known(*self.number_of(key)) for key in self._lives.tolist()]

    @staticmethod
    def number_of(key: int) -> tuple[int, int]:
        """Return the process number of a key, and how many of that number there were before."""
        return key >> _SHIFT, key & ((1 << _SHIFT) - 1)

    def task(self, pid: Numbers, place: Numbers) -> Numbers:
        """Return whose life it is at a place of the trace; -1 where that one never ran."""
        keys = self.keys(pid, place)
        if not len(self._lives):
            return np.full(len(keys), -1)
        at = np.minimum(np.searchsorted(self._lives, keys), len(self._lives) - 1)
        return np.where(self._lives[at] == keys, at, -1)

    def keys(self, pid: Numbers, place: Numbers) -> Numbers:
        """Return keys of whose life it is at places: one for each life, also of who never ran."""
        before = np.searchsorted(self._forks, task_key(pid, place), "right")
        earlier = np.searchsorted(self._forks, task_key(pid, np.zeros_like(pid)), "left")
        return task_key(pid, before - earlier)

    def first(self, pid: int) -> int:
        """Return the key of the life with which the trace begins."""
        return pid << _SHIFT

    def last(self, pid: int) -> int:
        """Return the key of the life with which the trace ends."""
        return int(self.keys(np.array(pid), np.array(LAST_PLACE)))


@dataclass
class Blocks:
    """What tasks did between two waits, preempted pieces merged; sorted as their pieces are."""

    task: Numbers
    begin: Numbers
    """Place of the first switch to the task."""
    last: Numbers
    """Place where its last piece began."""
    end: Numbers
    """Place of the switch away."""
    since: Numbers
    until: Numbers
    work: Numbers
    """ns on CPUs."""
    before: Numbers
    """ns that the task had worked before."""
    stop: Numbers


def waits(stop: Numbers) -> NDArray[np.bool_]:
    """Return which of the stops are waits, or the end of the task."""
    return stop > int(Stop.PREEMPTED)


def merge_pieces(pieces: Pieces, spent: Numbers) -> Blocks:
    """Return the blocks that pieces make; `spent` is the work of each."""
    n = len(pieces.task)
    new_task = np.ones(n, bool)
    new_task[1:] = pieces.task[1:] != pieces.task[:-1]
    first = new_task.copy()
    first[1:] |= waits(pieces.stop[:-1])
    at = np.flatnonzero(first)
    over = np.append(at[1:], n) - 1 if n else at
    total = np.concatenate([[0], np.cumsum(spent)])
    task_start = at[np.flatnonzero(new_task[at])] if n else at
    of_task = np.cumsum(new_task[at]) - 1
    return Blocks(
        *(pieces.task[at], pieces.begin[at], pieces.begin[over], pieces.end[over]),
        *(pieces.since[at], pieces.until[over], total[over + 1] - total[at]),
        *(total[at] - total[task_start[of_task]] if n else total[:0], pieces.stop[over]),
    )
