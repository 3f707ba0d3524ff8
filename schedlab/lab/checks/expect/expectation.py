"""What all kinds of expectations have in common."""

from fnmatch import fnmatchcase
from typing import ClassVar, Self

from pydantic import model_validator

from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import CheckData, Pattern
from schedlab.lab.checks.timeline import Task, Watcher


class Expectation(CheckData):
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


class Bounded(Expectation):
    """An expectation with bounds: at least one of them, or nothing could break it."""

    at_most: float | None = None
    at_least: float | None = None

    @model_validator(mode="after")
    def _can_hold_and_break(self) -> Self:
        if self.at_most is None and self.at_least is None:
            raise ValueError("has neither at_most nor at_least, so nothing could break it")
        if None not in (self.at_most, self.at_least) and self.outside(self.at_least or 0.0):
            raise ValueError("at_least is above at_most, so nothing could meet it")
        return self

    def outside(self, value: float) -> bool:
        """Return whether a value breaks it."""
        too_much = self.at_most is not None and value > self.at_most
        return too_much or (self.at_least is not None and value < self.at_least)


class OfTasks(Expectation):
    """An expectation about the tasks of some names."""

    tasks: Pattern = "*"


class TaskWatcher(Watcher):
    """Watches the scenario's tasks whose names match."""

    def __init__(self, pattern: str) -> None:
        super().__init__()
        self.pattern = pattern
        self.seen: set[str] = set()
        self.others: set[str] = set()
        self._known: dict[tuple[int, str], bool] = {}

    def mine(self, task: Task) -> bool:
        """Return whether a task is one of those that are watched."""
        key = task.pid, task.name
        if key not in self._known:
            matches = not task.outside and fnmatchcase(task.name, self.pattern)
            self._known[key] = matches
            if not task.outside:
                (self.seen if matches else self.others).add(task.name)
        return self._known[key]

    def begins(self, task: Task, cpu: int, time: int) -> None:
        """Receive the names of the tasks that ran."""
        self.mine(task)
