"""How much CPU time tasks get: bounds, and shares by weight."""

from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.errors import UsageError, nearest
from schedlab.lab.checks.expect.expectation import Bounded, OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task

Cpus = Annotated[float, Field(ge=0, strict=False)]


class Bandwidth(OfTasks, Bounded):
    """Together the tasks use at most, or at least, so many CPUs: on the whole, or in each part."""

    kind: ClassVar = "bandwidth"
    meaning: ClassVar = "tasks together use at most, or at least, N CPUs, overall or every X"

    at_most: Cpus | None = None
    at_least: Annotated[float, Field(gt=0, strict=False)] | None = None
    since: Time = 0
    every: Time | None = None

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Used(self)


class Fairness(OfTasks):
    """Each task's time is its share by weight, `within` a part of it: overall, or in each part.

    Weights are those of the tasks' nice levels, or given by name.
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
    """Sums up the time of tasks in windows of one length, of which the last is not whole."""

    def __init__(self, pattern: str, since: int, every: int | None) -> None:
        super().__init__(pattern)
        self._since = since
        self._every = every
        self._names: dict[int, str] = {}
        self._spent: dict[int, dict[int, int]] = {}

    def waits(self, task: Task, time: int) -> None:
        """Name the tasks that may never come to run."""
        if self.mine(task):
            self._names[task.pid] = task.name

    def ran(self, task: Task, cpu: int, begin: int, end: int) -> None:
        if not self.mine(task):
            return
        self._names[task.pid] = task.name
        begin = max(begin, self._since)
        while begin < end:
            window = (begin - self._since) // self._every if self._every else 0
            until = min(end, self._since + (window + 1) * self._every) if self._every else end
            spent = self._spent.setdefault(window, {})
            spent[task.pid] = spent.get(task.pid, 0) + until - begin
            begin = until

    def windows(self, end: int) -> Iterator[tuple[int, int, Mapping[int, int]]]:
        """Yield the beginning, the length and the tasks' times of each whole window."""
        if self._every and end - self._since < self._every:
            raise UsageError(
                f"every: the run is over before {written(self._every)} have passed, so nothing"
                " could break it."
            )
        length = self._every or end - self._since
        for number in range(max(end - self._since, 0) // length if length else 0):
            begin = self._since + number * length
            yield begin, length, self._spent.get(number, {})


class _Used(_ByWindow):
    def __init__(self, asked: Bandwidth) -> None:
        super().__init__(asked.tasks, asked.since, asked.every)
        self._asked = asked

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        for begin, length, spent in self.windows(time):
            used = sum(spent.values()) / length
            if self._asked.outside(used):
                self.found(
                    begin,
                    f"{self.pattern} use {used:.4g} CPUs from {written(begin)} for"
                    f" {written(length)}",
                )


class _Shares(_ByWindow):
    def __init__(self, asked: Fairness, given: Given) -> None:
        super().__init__(asked.tasks, asked.since, asked.every)
        self._asked = asked
        self._given = given

    def _weight(self, name: str) -> float:
        for pattern, weight in self._asked.weights.items():
            if fnmatchcase(name, pattern):
                return weight
        return self._given.weight(name)

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        for pattern in self._asked.weights:
            if not any(fnmatchcase(name, pattern) for name in self._names.values()):
                raise UsageError(
                    f"weights: no task is called '{pattern}'."
                    f"{nearest(pattern, self._names.values())}"
                )
        weights = {pid: self._weight(name) for pid, name in self._names.items()}
        for begin, length, spent in self.windows(time):
            had, heavy = sum(spent.values()), sum(weights.values())
            for pid, weight in weights.items():
                due = had * weight / heavy
                took = spent.get(pid, 0)
                if abs(took - due) > self._asked.within * due:
                    self.found(
                        begin,
                        f"{self._names[pid]} has {written(took)} from {written(begin)} for"
                        f" {written(length)}, and its share is {written(due)}",
                    )
