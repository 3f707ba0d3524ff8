"""Tasks spread over cores, caches, nodes or packages."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.cpulist import format_cpulist
from schedlab.base.errors import UsageError
from schedlab.lab.checks.expect.expectation import OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task
from schedlab.machine.levels import Level


class Spread(OfTasks):
    """The runnable tasks of any two groups of CPUs differ by more than `difference` only shortly.

    Groups are cores, clusters, LLCs, nodes or packages.
    """

    kind: ClassVar = "spread"
    meaning: ClassVar = "runnable tasks of cores, LLCs, nodes or packages differ by at most N"

    over: Level
    difference: Annotated[int, Field(ge=1)] = 1
    longest: Time
    since: Time = 0

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        groups = given.groups(self.over)
        if len(groups) < 2:
            raise UsageError(f"{given.machine.name} has one {self.over}; none to spread over")
        return _Counts(self, groups)


class _Counts(TaskWatcher):
    def __init__(self, asked: Spread, groups: list[frozenset[int]]) -> None:
        super().__init__(asked.tasks)
        self._asked = asked
        self._groups = groups
        self._of = {cpu: number for number, group in enumerate(groups) for cpu in group}
        self._counts = [0] * len(groups)
        self._places: dict[int, int] = {}
        self._uneven: int | None = None
        self._which = ""

    def waits(self, task: Task, time: int) -> None:
        self._put(task, task.cpu, time)

    def begins(self, task: Task, cpu: int, time: int) -> None:
        self._put(task, cpu, time)

    def moved(self, task: Task, origin: int, cpu: int, time: int) -> None:
        if task.pid in self._places:
            self._put(task, cpu, time)

    def ran(self, task: Task, cpu: int, begin: int, end: int) -> None:
        if task.pid in self._places:
            self._counts[self._places.pop(task.pid)] -= 1
            self._look(end)

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        self._judge(time)

    def _put(self, task: Task, cpu: int, time: int) -> None:
        if not self.mine(task):
            return
        if task.pid in self._places:
            self._counts[self._places[task.pid]] -= 1
        self._places[task.pid] = self._of[cpu]
        self._counts[self._of[cpu]] += 1
        self._look(time)

    def _look(self, time: int) -> None:
        uneven = max(self._counts) - min(self._counts) > self._asked.difference
        if not uneven:
            self._judge(time)
            self._uneven = None
        elif self._uneven is None:
            self._uneven = time
            full = self._groups[self._counts.index(max(self._counts))]
            empty = self._groups[self._counts.index(min(self._counts))]
            self._which = (
                f"CPUs {format_cpulist(full)} have {max(self._counts)} tasks and"
                f" {format_cpulist(empty)} {min(self._counts)}"
            )

    def _judge(self, time: int) -> None:
        if self._uneven is None:
            return
        begin = max(self._uneven, self._asked.since)
        if time - begin > self._asked.longest:
            self.found(
                begin, f"{self._which} from {written(begin)}, uneven for {written(time - begin)}"
            )
