"""How long woken tasks wait for a CPU."""

from collections.abc import Mapping
from math import ceil
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.errors import UsageError
from schedlab.lab.checks.expect.expectation import OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task


class Latency(OfTasks):
    """From being woken to running takes at most so long: always, or so many percent of times."""

    kind: ClassVar = "latency"
    meaning: ClassVar = "a percentile of the time from wakeup to running is at most X"

    at_most: Time
    percentile: Annotated[float, Field(gt=0, le=100, strict=False)] = 100.0
    since: Time = 0

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Woken(self)


class _Woken(TaskWatcher):
    def __init__(self, asked: Latency) -> None:
        super().__init__(asked.tasks)
        self._asked = asked
        self._times: list[tuple[int, int, str]] = []

    def waited(self, task: Task, begin: int, end: int) -> None:
        if task.woken and begin >= self._asked.since and self.mine(task):
            self._times.append((end - begin, begin, task.name))

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        if not self._times:
            if not self.seen or self._asked.since >= time:
                return  # no such task, or no such time: both are reported for every kind
            raise UsageError(
                f"latency: no task called '{self.pattern}' is woken from"
                f" {written(self._asked.since)} on, so nothing could break it."
            )
        self._times.sort()
        rank = ceil(len(self._times) * self._asked.percentile / 100) - 1
        took, begin, name = self._times[rank]
        if took > self._asked.at_most:
            self.found(
                begin,
                f"{name}, woken at {written(begin)}, runs {written(took)} later: percentile"
                f" {self._asked.percentile:g} of {len(self._times)} wakeups",
            )
