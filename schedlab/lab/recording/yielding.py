"""Holds of locks that nobody waited for, where a call shows them: a yield within each.

Taking a free lock and giving it back takes no call. But if a task yields once each time it is seen
to hold a lock, its other yields are within holds too: of the lock that it was seen to hold last, or
next. And a hold of which only the end is seen began before its yield.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from operator import itemgetter

import numpy as np

from schedlab.lab.recording.events import Numbers
from schedlab.lab.recording.futexes import FutexCalls, Hold
from schedlab.lab.recording.pieces import LAST_PLACE, Spans, task_key

_ALWAYS = 0.9
"""Of a lock's holds that calls show, the part that has one yield."""


_NEVER = np.array([LAST_PLACE])


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

        The holds that calls show are given with the place where each began. A yield between holds
        of two locks belongs to the nearer one, by the number of yields, unless another task held it
        at that time: then to the other one, or to none.
        """
        held = _Held((start, self._over(hold), hold.lock, hold.task) for start, hold in holds)
        for _, number, *locks in sorted(self._candidates(holds)):
            task = int(self._yields.task[number])
            since, until = int(self._yields.enter[number]), int(self._yields.exit[number])
            for lock in dict.fromkeys(locks):
                if held.take(since, until, lock, task):
                    yield number, lock
                    break

    def _over(self, hold: Hold) -> int:
        return int(self._calls.enter[hold.release]) if hold.release >= 0 else LAST_PLACE

    def _candidates(self, holds: Sequence[tuple[int, Hold]]) -> Iterator[tuple[int, int, int, int]]:
        """Yield how far a yield is from a hold that is seen, its number, and two locks."""
        own = sorted(
            (hold.task, start, hold.lock, hold.release)
            for start, hold in holds
            if hold.lock in self.locks
        )
        for task, of_task in groupby(own, key=itemgetter(0)):
            every = list(of_task)
            first, last = self._before(np.array([task, task + 1]), np.zeros(2, np.int64)).tolist()
            begun, lock = first, -1
            for _, start, after, release in every:
                until = int(self._before(np.array([task]), np.array([start]))[0])
                for number in range(begun, until):
                    behind, ahead = number - begun, until - 1 - number
                    if lock < 0 or ahead < behind:
                        yield ahead, number, after, after if lock < 0 else lock
                    else:
                        yield behind, number, lock, after
                over = self._calls.exit[release : release + 1] if release >= 0 else _NEVER
                begun, lock = int(self._before(np.array([task]), over)[0]), after
            yield from ((number - begun, number, lock, lock) for number in range(begun, last))


class _Held:
    """When locks were held: of one lock, at most by one task at a time."""

    def __init__(self, holds: Iterable[tuple[int, int, int, int]]) -> None:
        self._of: dict[int, list[tuple[int, int, int]]] = {}
        for since, until, lock, task in holds:
            self._of.setdefault(lock, []).append((since, until, task))
        for every in self._of.values():
            every.sort()

    def take(self, since: int, until: int, lock: int, task: int) -> bool:
        """Add a hold, if no other task held the lock at that time; return whether it did."""
        every = self._of.setdefault(lock, [])
        at = bisect_left(every, (since, until, task))
        before = at and every[at - 1][1] > since and every[at - 1][2] != task
        after = at < len(every) and every[at][0] < until and every[at][2] != task
        if before or after:
            return False
        every.insert(at, (since, until, task))
        return True
