"""Holds of locks that nobody waited for, where a call shows them: a yield within each.

Taking a free lock and giving it back takes no call. But if tasks yield once each time they hold a
lock, then a yield between two holds of a task, with no other lock taken between them, is within a
hold of that lock too; and a hold of which only the end is seen began before its yield.
"""

from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np

from schedlab.lab.recording.events import Numbers
from schedlab.lab.recording.futexes import FutexCalls, Hold
from schedlab.lab.recording.pieces import Spans, task_key

_ALWAYS = 0.9
"""Of a lock's holds that calls show, the part that has one yield."""


class Yielding:
    """The yields of a trace, and the locks that tasks hold while they yield."""

    def __init__(self, yields: Spans, holds: Sequence[Hold], calls: FutexCalls) -> None:
        self._yields, self._calls = yields, calls
        self._keys = task_key(yields.task, yields.enter)
        whole = [hold for hold in holds if hold.first >= 0 and hold.release >= 0]
        task, lock, last, release = (
            np.array([getattr(hold, name) for hold in whole], np.int64)
            for name in ("task", "lock", "last", "release")
        )
        begins, ends = (
            self._before(task, calls.exit[last]),
            self._before(task, calls.enter[release]),
        )
        once = ends - begins == 1
        self.locks = {
            each for each in np.unique(lock).tolist() if np.mean(once[lock == each]) >= _ALWAYS
        }

    def _before(self, task: Numbers, place: Numbers) -> Numbers:
        """Return the number of the first yield that is not before a place."""
        found: Numbers = np.searchsorted(self._keys, task_key(task, place), "left")
        return found

    def last_before(self, hold: Hold) -> int:
        """Return the place where the yield before the end of a hold began; -1: there is none."""
        end = self._calls.enter[hold.release : hold.release + 1]
        at = int(self._before(np.array([hold.task]), end)[0]) - 1
        there = at >= 0 and int(self._yields.task[at]) == hold.task
        return int(self._yields.enter[at]) if there else -1

    def unseen(self, holds: Sequence[tuple[int, Hold]]) -> Iterator[tuple[int, int]]:
        """Yield the number of the yield and the lock of each hold that no call shows.

        The holds that calls show are given with the place where each began.
        """
        own = sorted((hold.task, start, hold.lock, hold.release) for start, hold in holds)
        for before, after in pairwise(own):
            task, _, lock, release = before
            if (task, lock) != (after[0], after[2]) or lock not in self.locks or release < 0:
                continue
            ends = np.array([self._calls.exit[release], after[1]])
            low, high = self._before(np.array([task, task]), ends).tolist()
            yield from ((number, lock) for number in range(low, high))
