"""Interrupts that a trace shows, and in which context something happened."""

import numpy as np

from schedlab.lab.recording.events import Context, Events, Kind, Numbers
from schedlab.lab.recording.pieces import Pieces, task_key

TIMER_VECTORS = 1, 8
"""Softirqs of timers: TIMER and HRTIMER."""


class Interrupts:
    """Interrupts of each CPU that the trace shows by their entries and exits."""

    _ENTRIES = (Kind.IRQ_ENTRY, Kind.SOFTIRQ_ENTRY, Kind.TIMER_ENTRY)
    _EXITS = (Kind.IRQ_EXIT, Kind.SOFTIRQ_EXIT, Kind.TIMER_EXIT)

    def __init__(self, events: Events) -> None:
        self._events = events
        kinds = np.array([*self._ENTRIES, *self._EXITS])
        place = np.flatnonzero(np.isin(events.kind, kinds))
        self.known = len(place) > 0
        keys = task_key(events.cpu[place], place)
        order = np.argsort(keys, kind="stable")
        self._keys, self._place = keys[order], place[order]
        self._enters = np.isin(events.kind[self._place], np.array(self._ENTRIES))

    def at(self, places: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Return context, softirq vector (-1: not known), and whether it is a timer's interrupt."""
        context = self._events.context[places].astype(np.int64)
        vector = np.full(len(places), -1)
        if not self.known:
            return context, vector, context == Context.INTERRUPT
        keys = task_key(self._events.cpu[places], places)
        at = np.searchsorted(self._keys, keys, "left") - 1
        last = self._place[np.maximum(at, 0)]
        same = (at >= 0) & (self._events.cpu[last] == self._events.cpu[places])
        within = same & self._enters[np.maximum(at, 0)]
        kind = self._events.kind[last]
        soft = within & (kind == Kind.SOFTIRQ_ENTRY)
        by_kind = np.where(soft, int(Context.SOFTIRQ), int(Context.INTERRUPT))
        unknown = context == Context.UNKNOWN
        context = np.where(unknown, np.where(within, by_kind, int(Context.TASK)), context)
        vector = np.where(soft, self._events.one[last], vector)
        timer = within & (kind == Kind.TIMER_ENTRY)
        return context, vector, timer

    def time_in(self, pieces: Pieces) -> Numbers:
        """Return how long of each piece interrupts took; the innermost entry to its exit."""
        if not self.known:
            return np.zeros(len(pieces.task), np.int64)
        cpu = self._events.cpu[self._place]
        pair = self._enters[:-1] & ~self._enters[1:] & (cpu[:-1] == cpu[1:])
        opens = np.flatnonzero(pair)
        long = self._events.ns[self._place[opens + 1]] - self._events.ns[self._place[opens]]
        total = np.concatenate([[0], np.cumsum(long)])
        keys = self._keys[opens]
        low = np.searchsorted(keys, task_key(pieces.cpu, pieces.begin), "left")
        high = np.searchsorted(keys, task_key(pieces.cpu, pieces.end), "left")
        return np.asarray(total[high] - total[low], np.int64)
