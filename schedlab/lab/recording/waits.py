"""The waits of tasks, and what each was for."""

from bisect import bisect_left
from dataclasses import dataclass

import numpy as np

from schedlab.lab.recording.causes import ANSWER, CAUSES, OUTSIDE, TASK, TIMER, UNSEEN
from schedlab.lab.recording.events import Context, Flags, Kind, Numbers, Stop
from schedlab.lab.recording.interrupts import TIMER_VECTORS
from schedlab.lab.recording.pieces import LAST_PLACE, task_key
from schedlab.lab.recording.worked import Worked

_VECTOR_NET_RX = 3


@dataclass
class Waits:
    """Waits of the chosen tasks, each between two blocks, or before the first."""

    task: Numbers
    place: Numbers
    """Where the task stopped; 0 for a wait that was under way as the trace begins."""
    offset: Numbers
    """ns of work it had done."""
    began: Numbers
    ended: Numbers
    """ns of the wake, or of the switch back where none was seen."""
    disk: Numbers
    waking: Numbers
    """The place of the wake; -1: not seen."""
    cause: Numbers
    """Index into CAUSES."""
    waker: Numbers
    """The piece of the waking task; -1: none."""
    soft: Flags
    """The wake was in a softirq, as that of the network, which may run in any task."""

    joins: Flags
    """It was for the end of the only child that the task had."""

    def next_place(self) -> Numbers:
        """Return where the task of each waits the next time, or a place after all of them."""
        found = np.append(self.place[1:], LAST_PLACE)
        found[:-1][self.task[1:] != self.task[:-1]] = LAST_PLACE
        return found[: len(self.task)]


def find_waits(work: Worked) -> Waits:
    """Return the waits of the chosen tasks, each with its cause and waker."""
    b = work.blocks
    first = np.ones(len(b.task), bool)
    first[1:] = b.task[1:] != b.task[:-1]
    started = np.isin(b.task, work.children)
    chosen = np.flatnonzero(work.taken[b.task] & (~first | (~started & (b.begin > 0))))
    before = np.maximum(chosen - 1, 0)
    head = first[chosen]
    low = np.where(head, 0, b.last[before])
    wakings = work.events.of(Kind.WAKING)
    target = work.pieces.lives.task(work.events.one[wakings], wakings)
    keys = task_key(target, wakings)
    order = np.argsort(keys, kind="stable")
    keys, wakings = keys[order], wakings[order]
    at = np.searchsorted(keys, task_key(b.task[chosen], b.begin[chosen]), "left") - 1
    at = np.where(len(keys), at, -1)
    last = keys[np.maximum(at, 0)] if len(keys) else np.full(len(at), -1)
    seen = (at >= 0) & (last >= task_key(b.task[chosen], low))
    # A task that was there before and neither ran nor woke at first was preempted.
    keep = ~head | seen
    chosen, before, at = (a[keep] for a in (chosen, before, at))
    head, seen = head[keep], seen[keep]
    waking = np.where(seen, wakings[np.maximum(at, 0)], -1) if len(keys) else at
    stop = np.where(head, int(Stop.SLEEP), b.stop[before])
    waits = Waits(
        task=b.task[chosen],
        place=np.where(head, 0, b.end[before]),
        offset=np.where(head, 0, b.before[before] + b.work[before]),
        began=np.where(head, work.events.ns[0], b.until[before]),
        ended=np.where(seen, work.events.ns[np.maximum(waking, 0)], b.since[chosen]),
        disk=(stop == int(Stop.UNINTERRUPTIBLE)).astype(np.int64),
        waking=waking,
        cause=np.zeros(len(chosen), np.int64),
        waker=np.full(len(chosen), -1),
        soft=np.zeros(len(chosen), bool),
        joins=np.zeros(len(chosen), bool),
    )
    _judge(work, waits)
    return waits


def _judge(work: Worked, waits: Waits) -> None:
    """Fill in each wait's cause and waker."""
    seen = np.flatnonzero(waits.waking >= 0)
    places = waits.waking[seen]
    context, vector, timer = work.inside.at(places)
    piece = work.running(places)
    taken = (piece >= 0) & work.taken[work.pieces.task[np.maximum(piece, 0)]]
    other = taken & (work.pieces.task[np.maximum(piece, 0)] != waits.task[seen])
    soft_timer = np.isin(vector, np.array(TIMER_VECTORS))
    by_timer = ((context == Context.INTERRUPT) & timer) | (
        (context == Context.SOFTIRQ) & soft_timer
    )
    by_softirq = (context == Context.SOFTIRQ) & ((vector == _VECTOR_NET_RX) | (vector < 0))
    unknown = context == Context.UNKNOWN
    by_task = ((context == Context.TASK) | unknown | by_softirq) & other
    disk = waits.disk[seen] == 1
    order = list(CAUSES)
    cause = np.full(len(waits.task), order.index(UNSEEN))
    cause[seen] = np.select(
        [by_task, by_timer | (unknown & (piece < 0)), disk],
        [order.index(TASK), order.index(TIMER), order.index(ANSWER)],
        order.index(OUTSIDE),
    )
    waits.cause[:] = cause
    waits.waker[seen] = np.where(by_task, piece, -1)
    waits.soft[seen] = by_softirq
    _find_joins(work, waits)


def _find_joins(work: Worked, waits: Waits) -> None:
    """Mark the waits that the end of an only child ended; of several, it may be any of them."""
    exits = work.events.of(Kind.EXIT)
    life = work.pieces.lives.task(work.events.one[exits], exits)
    over = dict(zip(life.tolist(), exits.tolist(), strict=True))
    of_fork = work.running(work.forks)
    parent = np.where(of_fork >= 0, work.pieces.task[np.maximum(of_fork, 0)], -1)
    forked: dict[int, list[int]] = {}
    ends: dict[int, list[int]] = {}
    starter: dict[int, int] = {}
    for task, child, place in zip(
        parent.tolist(), work.children.tolist(), work.forks.tolist(), strict=True
    ):
        if task >= 0 and child >= 0:
            starter[child] = task
            forked.setdefault(task, []).append(place)
            ends.setdefault(task, []).append(over.get(child, LAST_PLACE))
    for every in ends.values():
        every.sort()
    ended = np.flatnonzero((waits.waker >= 0) & (waits.waking >= 0))
    by = work.pieces.task[waits.waker[ended]]
    columns = (ended, waits.task[ended], by, waits.place[ended], waits.waking[ended])
    for wait, task, child, stopped, waking in zip(*(c.tolist() for c in columns), strict=True):
        if starter.get(child, -1) == task and stopped < over.get(child, LAST_PLACE) < waking:
            alive = bisect_left(forked[task], stopped) - bisect_left(ends[task], stopped)
            waits.joins[wait] = alive == 1
