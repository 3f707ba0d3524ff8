"""CPUs that belong to some tasks alone."""

from typing import ClassVar

from schedlab.lab.checks.expect.expectation import Expectation, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Cpus, Pattern, Time, written
from schedlab.lab.checks.timeline import Task


class Isolation(Expectation):
    """Nobody runs on these CPUs but the kernel's threads, and tasks named `only`."""

    kind: ClassVar = "isolation"
    meaning: ClassVar = "some CPUs run only some tasks"

    cpus: Cpus
    only: Pattern | None = None
    since: Time = 0

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Intruders(self, given.cpus(self.cpus))


class _Intruders(TaskWatcher):
    def __init__(self, asked: Isolation, cpus: frozenset[int]) -> None:
        super().__init__(asked.only or "")
        self._cpus = cpus
        self._since = asked.since

    def begins(self, task: Task, cpu: int, time: int) -> None:
        if not self.mine(task) and cpu in self._cpus and time >= self._since and not task.outside:
            self.found(time, f"{task.name} runs on CPU {cpu} at {written(time)}")
