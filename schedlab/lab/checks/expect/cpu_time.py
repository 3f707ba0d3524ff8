"""How much CPU time tasks get: bounds, and shares by weight."""

from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.errors import UsageError, nearest
from schedlab.lab.checks.expect.expectation import Bounded, OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task

Cpus = Annotated[float, Field(ge=0, strict=False, allow_inf_nan=False)]


class Bandwidth(OfTasks, Bounded):
    """Together the tasks use at most, or at least, so many CPUs: on the whole, or in each part."""

    kind: ClassVar = "bandwidth"
    meaning: ClassVar = "tasks together use at most, or at least, N CPUs, overall or every X"

    at_most: Cpus | None = None
    at_least: Annotated[float, Field(gt=0, strict=False, allow_inf_nan=False)] | None = None
    since: Time = 0
    every: Time | None = None

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Used(self)


class Fairness(OfTasks):
    """Each task's time is its share by weight, `within` a part of it: overall, or in each part.

    Weights are those of the tasks' policies and nice levels, or given by name.
    """

    kind: ClassVar = "fairness"
    meaning: ClassVar = "tasks get CPU time by their weights, within a part of their share"

    within: Annotated[float, Field(gt=0, strict=False, allow_inf_nan=False)]
    weights: dict[str, Annotated[float, Field(gt=0, strict=False)]] = Field(default={})
    since: Time = 0
    every: Time | None = None

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Shares(self, given)


class _ByWindow(TaskWatcher):
    """Sums up the time of tasks in windows of one length, of which the last is not whole.

    A window has parts, which end where the weights of tasks change.
    """

    def __init__(
        self, pattern: str, since: int, every: int | None, changes: Sequence[int] = ()
    ) -> None:
        super().__init__(pattern)
        self._since = since
        self._every = every
        self._changes = [each for each in changes if each > since]
        self._names: dict[int, str] = {}
        self._spent: dict[tuple[int, int], Counter[int]] = {}

    def waits(self, task: Task, time: int) -> None:
        """Learn of tasks that may never come to run."""
        if self.mine(task):
            self._names[task.pid] = task.name

    def ran(self, task: Task, cpu: int, begin: int, end: int) -> None:
        if not self.mine(task):
            return
        self._names[task.pid] = task.name
        begin = max(begin, self._since)
        while begin < end:
            window = (begin - self._since) // self._every if self._every else 0
            part = bisect_right(self._changes, begin)
            ends = [end, *self._changes[part : part + 1]]
            if self._every:
                ends.append(self._since + (window + 1) * self._every)
            until = min(ends)
            self._spent.setdefault((window, part), Counter())[task.pid] += until - begin
            begin = until

    def windows(self, end: int) -> Iterator[tuple[int, int, Sequence[tuple[int, Counter[int]]]]]:
        """Yield the beginning and length of each whole window, and its parts.

        A part is a moment in it, by which weights can be told, and the tasks' times.
        """
        if self._every and end - self._since < self._every:
            raise UsageError(
                f"every: the run is over before {written(self._every)} have passed, so nothing"
                " could break it."
            )
        length = self._every or end - self._since
        moments = [self._since, *self._changes]
        for number in range(max(end - self._since, 0) // length if length else 0):
            parts = [
                (moment, self._spent[number, part])
                for part, moment in enumerate(moments)
                if (number, part) in self._spent
            ]
            yield self._since + number * length, length, parts


class _Used(_ByWindow):
    def __init__(self, asked: Bandwidth) -> None:
        super().__init__(asked.tasks, asked.since, asked.every)
        self._asked = asked

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        for begin, length, parts in self.windows(time):
            used = sum(spent.total() for _, spent in parts) / length
            if self._asked.outside(used):
                self.found(
                    begin,
                    f"{self.pattern} use {used:.4g} CPUs from {written(begin)} for"
                    f" {written(length)}",
                )


class _Shares(_ByWindow):
    def __init__(self, asked: Fairness, given: Given) -> None:
        super().__init__(asked.tasks, asked.since, asked.every, given.weights_change)
        self._asked = asked
        self._given = given

    def _weight(self, name: str, time: int) -> float:
        for pattern, weight in self._asked.weights.items():
            if fnmatchcase(name, pattern):
                return weight
        return self._given.weight(name, time)

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        for pattern in self._asked.weights:
            if not any(fnmatchcase(name, pattern) for name in self._names.values()):
                raise UsageError(
                    f"weights: no task is called '{pattern}'."
                    f"{nearest(pattern, self._names.values())}"
                )
        if len(self._names) == 1:
            [name] = self._names.values()
            raise UsageError(f"tasks: {name} is the only one, so its share is all there is.")
        for begin, length, parts in self.windows(time):
            due, took = Counter[int](), Counter[int]()
            for moment, spent in parts:
                weights = {pid: self._weight(name, moment) for pid, name in self._names.items()}
                heavy = sum(weights.values())
                took += spent
                for pid, weight in weights.items():
                    due[pid] += round(spent.total() * weight / heavy)
            for pid, share in due.items():
                if abs(took[pid] - share) > self._asked.within * share:
                    self.found(
                        begin,
                        f"{self._names[pid]} has {written(took[pid])} from {written(begin)} for"
                        f" {written(length)}, and its share is {written(share)}",
                    )
