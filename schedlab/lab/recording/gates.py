"""Wakes of several tasks by one call: a poll()ed pipe, a broadcast, an event that all wait for.

A task that wakes others one after another by calls of its own may lose its CPU after each of them.
Within one call it does not: all are woken before the first of them can take the CPU.
"""

import numpy as np

from schedlab.lab.recording.causes import CAUSES, TASK
from schedlab.lab.recording.events import Numbers
from schedlab.lab.recording.pieces import Spans
from schedlab.lab.recording.waits import Waits
from schedlab.lab.recording.worked import Worked

ONE_CALL = 1_000.0
"""ns of work between two wakes up to which they are of one call, where it is not known what a call
costs: entering the kernel and waking a task takes longer."""


def find_gates(work: Worked, waits: Waits, calls: Spans, cost: float) -> Numbers:
    """Return for each wait the number, from 1, of the gate that ended it; 0: none.

    Args:
        work: the trace.
        waits: all waits; those that tasks end one by one have the cause TASK.
        calls: of futex(), whose beginnings and ends the trace shows.
        cost: ns of a call that wakes one task; of two wakes by two calls one such call is between.
    """
    gate = np.zeros(len(waits.task), np.int64)
    own = np.flatnonzero(waits.cause == list(CAUSES).index(TASK))
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
    _, order = np.unique(number[several], return_inverse=True)
    gate[own[several]] = order.reshape(-1) + 1
    return gate
