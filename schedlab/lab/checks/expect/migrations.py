"""How often tasks go from CPU to CPU."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.lab.checks.expect.expectation import Bounded, OfTasks, TaskWatcher
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time, written
from schedlab.lab.checks.timeline import Task

Count = Annotated[int, Field(ge=0)]


class Migrations(OfTasks, Bounded):
    """Each task migrates at most, or at least, so many times."""

    kind: ClassVar = "migrations"
    meaning: ClassVar = "each task migrates at most, or at least, N times"

    at_most: Count | None = None
    at_least: Count | None = None
    since: Time = 0

    def watch(self, given: Given) -> TaskWatcher:
        """Return the watcher."""
        return _Moves(self)


class _Moves(TaskWatcher):
    def __init__(self, asked: Migrations) -> None:
        super().__init__(asked.tasks)
        self._asked = asked
        self._tasks: dict[int, Task] = {}
        self._moves: dict[int, list[tuple[int, int, int]]] = {}

    def begins(self, task: Task, cpu: int, time: int) -> None:
        if self.mine(task):
            self._tasks[task.pid] = task

    def moved(self, task: Task, origin: int, cpu: int, time: int) -> None:
        if time >= self._asked.since and self.mine(task):
            self._moves.setdefault(task.pid, []).append((time, origin, cpu))

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        most, least = self._asked.at_most, self._asked.at_least
        for pid, task in self._tasks.items():
            moves = self._moves.get(pid, [])
            if most is not None and len(moves) > most:
                when, origin, cpu = moves[most]
                self.found(
                    when,
                    f"{task.name} migrates {len(moves)} times; number {most + 1} is from CPU"
                    f" {origin} to {cpu} at {written(when)}",
                )
            if least is not None and len(moves) < least:
                self.found(time, f"{task.name} migrates {len(moves)} times")
