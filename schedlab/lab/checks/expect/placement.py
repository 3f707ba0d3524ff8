"""Where tasks run."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.cpulist import format_cpulist
from schedlab.base.errors import UsageError
from schedlab.lab.checks.expect.expectation import OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Cpus, Time, written
from schedlab.lab.checks.timeline import Task


class Placement(OfTasks):
    """Each task runs on these CPUs, from `after` its first moment on, for a `share` of its time."""

    kind: ClassVar = "placement"
    meaning: ClassVar = "tasks run on some CPUs, from X after they began on"

    cpus: Cpus
    after: Time = 0
    share: Annotated[float, Field(gt=0, le=1, strict=False)] = 1.0

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Places(self, given.cpus(self.cpus))


class _Places(TaskWatcher):
    def __init__(self, asked: Placement, cpus: frozenset[int]) -> None:
        super().__init__(asked.tasks)
        self._asked = asked
        self._cpus = cpus
        self._waiting: dict[int, tuple[Task, int]] = {}
        """Tasks that have not run yet, and since when."""
        self._first: dict[int, int] = {}
        self._spent: dict[int, tuple[Task, int, int, int]] = {}

    def waits(self, task: Task, time: int) -> None:
        if self.mine(task) and task.pid not in self._first:
            self._waiting.setdefault(task.pid, (task, time))

    def ran(self, task: Task, cpu: int, begin: int, end: int) -> None:
        if not self.mine(task):
            return
        self._waiting.pop(task.pid, None)
        counts_from = self._first.setdefault(task.pid, begin) + self._asked.after
        begin = max(begin, counts_from)
        if begin >= end:
            return
        _, there, elsewhere, first = self._spent.get(task.pid, (task, 0, 0, 0))
        if cpu in self._cpus:
            there += end - begin
        else:
            elsewhere += end - begin
            first = first or begin
        self._spent[task.pid] = task, there, elsewhere, first

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        first = min(self._first.values(), default=0)
        if self._first and first + self._asked.after >= time:
            raise UsageError(
                f"after: the run is over {written(time - first)} after the first of the tasks"
                f" begins, so nothing from {written(self._asked.after)} on could break it."
            )
        for task, since in self._waiting.values():
            if time - since > self._asked.after:
                self.found(since, f"{task.name} waits from {written(since)} on and never runs")
        for task, there, elsewhere, first in self._spent.values():
            if there < (there + elsewhere) * self._asked.share:
                self.found(
                    first,
                    f"{task.name} runs on CPUs {format_cpulist(self._cpus)} for {written(there)}"
                    f" and elsewhere for {written(elsewhere)}",
                )
