"""No task waits for a CPU for long."""

from typing import ClassVar

from schedlab.lab.checks.expect.expectation import OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task


class NoStall(OfTasks):
    """No task waits for a CPU for longer than `longest`, woken, preempted or throttled."""

    kind: ClassVar = "no-stall"
    meaning: ClassVar = "no task waits for a CPU longer than X"

    longest: Time

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Waiting(self)


class _Waiting(TaskWatcher):
    def __init__(self, asked: NoStall) -> None:
        super().__init__(asked.tasks)
        self._longest = asked.longest

    def waited(self, task: Task, begin: int, end: int) -> None:
        if end - begin > self._longest and self.mine(task):
            self.found(
                begin,
                f"{task.name} waits on CPU {task.waits_on(end)} from {written(begin)} for"
                f" {written(end - begin)}",
            )
