"""Wakes by one call: of several tasks, or of one that waits for that call and no other.

A task that wakes others one after another by calls of its own may lose its CPU after each of them.
Within one call it does not: all are woken before the first of them can take the CPU. That is so of
a poll()ed pipe, a broadcast, an event that all wait for.

A task that waits for one task at one futex and for another task at another one, as the middle of a
pipeline does for an item and for room, waits for the one or the other. A wake by the other one,
which comes first in a replay, must not end its wait.
"""

from collections import Counter
from collections.abc import Collection

import numpy as np

from schedlab.lab.recording.causes import CAUSES, TASK
from schedlab.lab.recording.events import Numbers
from schedlab.lab.recording.futexes import FutexCalls
from schedlab.lab.recording.pieces import Spans
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked

ONE_CALL = 1_000.0
"""ns of work between two wakes up to which they are of one call, where it is not known what a call
costs: entering the kernel and waking a task takes longer."""

_OTHERS = 0.05
"""Of the waits at a futex of two tasks, the part that another one may be seen to end, as where
lines of a trace were lost."""


def addressed_tasks(work: Worked, waits: Waits, calls: FutexCalls) -> set[int]:
    """Return the tasks that wait for several tasks, for each of them at a futex of both alone."""
    own = np.flatnonzero(waits.waker >= 0)
    word = calls.word_around(waits.task[own], waits.place[own])
    own, word = own[word >= 0], word[word >= 0]
    pairs: dict[int, Counter[tuple[int, int]]] = {}
    by = work.pieces.task[waits.waker[own]]
    columns = (word, waits.task[own], by)
    for each, *pair in zip(*(column.tolist() for column in columns), strict=True):
        pairs.setdefault(each, Counter())[pair[0], pair[1]] += 1
    wakers: dict[int, set[int]] = {}
    shared: set[int] = set()
    for every in pairs.values():
        (task, waker), count = every.most_common(1)[0]
        if count < (1 - _OTHERS) * every.total():
            shared.update(task for task, _ in every)
        else:
            wakers.setdefault(task, set()).add(waker)
    return {task for task, every in wakers.items() if len(every) > 1} - shared


def find_gates(
    work: Worked, waits: Waits, calls: Spans, cost: float, addressed: Collection[int]
) -> Numbers:
    """Return for each wait the number, from 1, of the gate that ended it; 0: none.

    Args:
        work: the trace.
        waits: all waits; those that tasks end one by one have the cause TASK.
        calls: of futex(), whose beginnings and ends the trace shows.
        cost: ns of a call that wakes one task; of two wakes by two calls one such call is between.
        addressed: tasks of which each wait is for a wake of its own.
    """
    gate = np.zeros(len(waits.task), np.int64)
    own = np.flatnonzero((waits.cause == list(CAUSES).index(TASK)) & ~waits.joins)
    own = own[np.argsort(waits.waking[own], kind="stable")]
    own = own[np.argsort(waits.waker[own], kind="stable")]
    piece = waits.waker[own]
    worked = work.offset(piece, waits.waking[own])
    call = calls.around(work.pieces.task[piece], waits.waking[own])
    together = (piece[1:] == piece[:-1]) & (call[1:] == call[:-1])
    together &= (call[1:] >= 0) | (np.diff(worked) <= cost)
    starts = np.insert(~together, 0, True)[: len(own)]
    number = np.cumsum(starts) - 1
    several = np.bincount(number, minlength=1)[number] > 1 if len(own) else starts
    several |= np.isin(waits.task[own], np.array(sorted(addressed), np.int64))
    _, order = np.unique(number[several], return_inverse=True)
    gate[own[several]] = order.reshape(-1) + 1
    return gate
