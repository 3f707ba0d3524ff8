"""What all kinds of expectations have in common."""

from fnmatch import fnmatchcase
from typing import ClassVar

from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Data, Pattern
from schedlab.lab.checks.timeline import Task, Watcher


class Expectation(Data):
    """Something that must hold in every run of a check."""

    kind: ClassVar[str]
    """What `that` names it."""
    meaning: ClassVar[str]
    """One line for people."""

    @property
    def events(self) -> tuple[str, ...]:
        """The tracepoints it needs beside the usual ones."""
        return ()

    def watch(self, given: Given) -> Watcher:
        """Return what watches a run for it.

        Raises:
            UsageError: it makes no sense on the machine or with the scenario.
        """
        raise NotImplementedError


class OfTasks(Expectation):
    """An expectation about the tasks of some names."""

    tasks: Pattern = "*"


class TaskWatcher(Watcher):
    """Watches the tasks whose names match; the kernel's threads are none of them."""

    def __init__(self, pattern: str) -> None:
        """Take the pattern."""
        super().__init__()
        self.pattern = pattern
        self.seen: set[str] = set()
        self.others: set[str] = set()
        self._known: dict[tuple[int, str], bool] = {}

    def mine(self, task: Task) -> bool:
        """Return whether a task is one of those that are watched."""
        key = task.pid, task.name
        if key not in self._known:
            matches = not task.kernels and fnmatchcase(task.name, self.pattern)
            self._known[key] = matches
            if not task.kernels:
                (self.seen if matches else self.others).add(task.name)
        return self._known[key]

    def begins(self, task: Task, cpu: int, time: int) -> None:
        """Learn the names of the tasks that ran."""
        self.mine(task)
