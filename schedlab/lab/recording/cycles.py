"""Holds of locks that no call shows, of tasks that take a lock again and again after equal work.

Taking a free lock and giving it back takes no call. But where the work from release to release of
one task is mostly a multiple of one amount, it has taken the lock after each of these, and has held
it as long as in the middle of its holds that are seen.
"""

from collections.abc import Collection, Iterator, Sequence
from itertools import groupby, pairwise

import numpy as np

from schedlab.lab.recording.events import Numbers
from schedlab.lab.recording.futexes import FutexCalls, Hold
from schedlab.lab.recording.services import Row
from schedlab.lab.recording.worked import Worked
from schedlab.lab.recording.workload import LOCK, UNLOCK

_FEWEST = 12
"""Times that a task has let go of a lock, from two cycles after it did before."""
_CLEAR = 10
"""Cycles, up to which their number is looked at for whether it is a whole one."""
_NEAR = 0.15
"""Of a cycle: how near to a whole number; by chance, three in ten are."""
_MOSTLY = 0.8
"""How many of them have to be."""
_SHARE = 0.4
"""Of a lock's holds that are seen, the part that such tasks have."""
_CANDIDATES, _PARTS = 5, 6
"""Of the shortest times that may be one cycle, or up to so many."""


class Cycles:
    """The locks that tasks take in cycles, and their holds that no call shows."""

    def __init__(
        self,
        work: Worked,
        calls: FutexCalls,
        worked: tuple[Numbers, Numbers],
        holds: Sequence[tuple[int, Hold]],
        tasks: Collection[int],
    ) -> None:
        """Find them.

        Args:
            work: the trace.
            calls: of futexes.
            worked: what their tasks had worked before, and after each call.
            holds: those that calls show, each with the place where it began.
            tasks: which of them may hold a lock where no call shows it.
        """
        self._work, self._calls = work, calls
        self._begun, self._ended = worked
        self.rows: list[Row] = []
        seen: dict[int, int] = {}
        found: dict[int, int] = {}
        released = sorted(
            ((hold.lock, hold.task, start, hold) for start, hold in holds if hold.release >= 0),
            key=lambda each: each[:3],
        )
        for (lock, task), group in groupby(released, key=lambda each: each[:2]):
            own = [(start, hold) for *_, start, hold in group]
            seen[lock] = seen.get(lock, 0) + len(own)
            cycle, long = self._cycle(own) if task in tasks else (0, 0)
            if cycle:
                found[lock] = found.get(lock, 0) + len(own)
                self.rows += self._between(own, cycle, long)
        self.locks = {lock for lock, number in found.items() if number >= _SHARE * seen[lock]}
        self.rows = [row for row in self.rows if row[4] in self.locks]

    def _cycle(self, own: Sequence[tuple[int, Hold]]) -> tuple[float, int]:
        """Return a task's work from one hold to the next, and within one; 0 if it differs."""
        begun, ended = self._begun, self._ended
        waited = [hold for _, hold in own if hold.first >= 0]
        if len(own) <= _FEWEST or not waited:
            return 0, 0
        long = int(np.median([begun[hold.release] - ended[hold.last] for hold in waited]))
        apart = np.diff([int(begun[hold.release]) for _, hold in own])
        gaps = sorted(
            int(begun[after.first] - ended[before.release])
            for (_, before), (_, after) in pairwise(own)
            if after.first >= 0
        )
        whole = [long + gap for gap in gaps[:_CANDIDATES]] + [int(apart.min())]
        candidates = {each / part for each in whole for part in range(1, _PARTS + 1)}
        for each in sorted(candidates, reverse=True):
            if each <= long:
                break
            cycles = apart / each
            number = np.round(cycles)
            clear = (number >= 1) & (number <= _CLEAR)
            near = np.abs(cycles - number) <= _NEAR
            enough = np.count_nonzero(clear & (number > 1)) >= _FEWEST
            if enough and np.mean(near[clear]) >= _MOSTLY and np.mean(clear) >= 1 / 2:
                return float(apart[clear].sum() / number[clear].sum()), long
        return 0, 0

    def _between(self, own: Sequence[tuple[int, Hold]], cycle: float, long: int) -> Iterator[Row]:
        """Yield where the lock is taken and given back between two holds that are seen."""
        work, begun = self._work, self._begun
        for (_, before), (start, after) in pairwise(own):
            task, lock = before.task, before.lock
            since, until = int(begun[before.release]), int(begun[after.release])
            number = round((until - since) / cycle)
            place = int(self._calls.exit[before.release])
            for at in range(1, number):
                end = since + (until - since) * at // number
                first, last = (work.place_of(task, offset) for offset in (end - long, end))
                first, last = (min(max(each, place), start - 1) for each in (first, last))
                if start <= place or work.began_block(task, last) > end - long:
                    continue
                yield task, first, end - long, LOCK, lock
                yield task, last, end, UNLOCK, lock
                place = last
