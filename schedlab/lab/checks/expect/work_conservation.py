"""No task waits while a CPU that it may use is idle."""

from typing import ClassVar

from schedlab.lab.checks.expect.expectation import OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task


class WorkConservation(OfTasks):
    """No task waits for a CPU for longer than `waits` while one is idle for longer than `idle`."""

    kind: ClassVar = "work-conservation"
    meaning: ClassVar = "no task waits longer than X while a CPU it may use is idle longer than Y"

    waits: Time
    idle: Time | None = None
    since: Time = 0
    """Of the scenario: what happens earlier does not count."""

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Waiting(self, given)


class _Waiting(TaskWatcher):
    def __init__(self, asked: WorkConservation, given: Given) -> None:
        super().__init__(asked.tasks)
        self._asked = asked
        self._given = given
        self._least_idle = asked.waits if asked.idle is None else asked.idle
        self._waiting: dict[int, Task] = {}
        self._idle: dict[int, int] = dict.fromkeys(range(given.machine.nr_cpus), 0)

    def idles(self, cpu: int, time: int) -> None:
        self._idle[cpu] = time

    def idled(self, cpu: int, begin: int, end: int) -> None:
        self._idle.pop(cpu, None)
        if end - begin > self._least_idle:
            for task in self._waiting.values():
                self._weigh(task, task.since, cpu, begin, end)

    def waits(self, task: Task, time: int) -> None:
        if self.mine(task) and not self._given.bounded(task.name):
            self._waiting[task.pid] = task

    def waited(self, task: Task, begin: int, end: int) -> None:
        if self._waiting.pop(task.pid, None) and end - begin > self._asked.waits:
            for cpu, since in self._idle.items():
                self._weigh(task, begin, cpu, since, end)

    def _weigh(self, task: Task, since: int, cpu: int, idle_since: int, end: int) -> None:
        """Judge a wait and an idle time that lasted together until one of the two ended."""
        since, idle_since = max(since, self._asked.since), max(idle_since, self._asked.since)
        first = max(since + self._asked.waits, idle_since + self._least_idle)
        if end <= first:
            return
        both = max(since, idle_since)
        allowed = self._given.allowed_later(task.name, cpu, both, end)
        if allowed is not None and allowed > both:
            first = max(first, allowed + max(self._asked.waits, self._least_idle))
        if allowed is not None and end > first and cpu in self._given.allowed(task.name, first):
            self.found(
                first,
                f"{task.name} waits since {written(since)} on CPU {task.cpu}, and CPU {cpu} is idle"
                f" since {written(idle_since)}, until {written(end)}",
            )
