"""Decisions and other events: how often a tracepoint is passed, and with what values."""

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.errors import UsageError, nearest
from schedlab.lab.checks.expect.expectation import Bounded
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time
from schedlab.lab.checks.timeline import Task, Watcher
from schedlab.lab.ftrace import Event

Number = Annotated[float, Field(strict=False)]

_NAMES = {"comm", "prev_comm", "next_comm"}
"""Fields that name a task of the run."""
_DECIMAL = re.compile(r"-?\d+")
_HEXADECIMAL = re.compile(r"0x[0-9a-f]+")


class Decision(Bounded):
    """Events of a tracepoint `where` some fields have some values: how many, and within bounds.

    Without `field` the number of events is bounded, with it the field's value in each of them.
    """

    kind: ClassVar = "decision"
    meaning: ClassVar = "events of a tracepoint, by their fields: how many, or within what bounds"

    event: str
    where: dict[str, str | int | list[str | int]] = Field(default={})
    cpu: Annotated[int, Field(ge=0)] | None = None
    field: str | None = None
    at_most: Number | None = None
    at_least: Number | None = None
    since: Time = 0
    until: Time | None = None

    @property
    def events(self) -> tuple[str, ...]:
        """The tracepoint."""
        return (self.event,)

    def watch(self, given: Given) -> Watcher:
        """Return the watcher."""
        if self.cpu is not None:
            given.cpus(str(self.cpu))
        if self.until is not None and self.until <= self.since:
            raise UsageError("until: is not after since, so nothing could break it")
        for key, values in self._where():
            for value in values:
                if re.fullmatch(r"(\w+_)?cpu", key) and isinstance(number := _number(value), int):
                    given.cpus(str(max(number, 0)))
        return _Counted(self, given)

    def _where(self) -> Iterator[tuple[str, list[str | int]]]:
        """Yield the fields that are asked for, with the values that each may have."""
        for key, value in self.where.items():
            yield key, value if isinstance(value, list) else [value]


class _Counted(Watcher):
    def __init__(self, asked: Decision, given: Given) -> None:
        super().__init__()
        self._asked = asked
        self._given = given
        self._name = asked.event.rpartition(":")[2]
        self._times: list[int] = []
        self._names: set[str] = set()
        self._where = {key: {_number(each) for each in values} for key, values in asked._where()}

    def waits(self, task: Task, time: int) -> None:
        """Learn the names of all tasks."""
        self._names.add(task.name)

    def begins(self, task: Task, cpu: int, time: int) -> None:
        self._names.add(task.name)

    def event(self, event: Event) -> None:
        asked = self._asked
        if event.name != self._name or event.time < asked.since:
            return
        if asked.until is not None and event.time > asked.until:
            return
        if asked.cpu is not None and event.cpu != asked.cpu:
            return
        fields = event.fields
        self._check_fields(fields)
        if any(_number(fields[key]) not in wanted for key, wanted in self._where.items()):
            return
        self._times.append(event.time)
        if asked.field is None:
            return
        value = _number(fields[asked.field])
        if not isinstance(value, int):
            raise UsageError(f"{asked.event}: {asked.field}={value} is not a whole number")
        if asked.outside(value):
            self.found(event.time, f"{event.name} on CPU {event.cpu}: {event.text.strip()}")

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        self._check_event(result)
        if self._asked.field is not None:
            if not self._times:
                raise UsageError(
                    f"field: {self._described()} never happens in the run, so nothing could break"
                    " it."
                )
        elif self._asked.outside(len(self._times)):
            first = self._times[0] if self._times else time
            self.found(first, f"{len(self._times)} times {self._described()}")

    def _check_event(self, result: Mapping[str, Any]) -> None:
        """Refuse what can be in no trace: it would hold whatever happens."""
        known = {each.rpartition(":")[2] for each in result.get("tracepoints", ())}
        if self._name not in known:
            raise UsageError(
                f"event: the kernel has no tracepoint '{self._name}'.{nearest(self._name, known)}"
            )
        assert self._given.build
        fields = self._given.build.events.get(self._name)
        if fields is None:
            raise UsageError(
                f"event: {self._asked.event} is counted, but no trace shows it; bound its number"
                ' by that = "figure".'
            )
        self._check_fields(fields)
        for key in self._where.keys() & _NAMES:
            for name in self._where[key] - self._names:
                if not str(name).startswith("swapper/"):
                    raise UsageError(
                        f"where: no task is called '{name}'.{nearest(str(name), self._names)}"
                    )

    def _check_fields(self, fields: Collection[str]) -> None:
        for key in (*self._where, *([self._asked.field] if self._asked.field else [])):
            if key not in fields:
                raise UsageError(
                    f"{self._asked.event} has no field '{key}'.{nearest(key, fields)}"
                    f" It has: {', '.join(fields) or 'none'}."
                )

    def _described(self) -> str:
        values = ", ".join(
            f"{key} {'/'.join(sorted(map(str, v)))}" for key, v in self._where.items()
        )
        return f"{self._name}{f' with {values}' if values else ''}"


def _number(value: str | int) -> str | int:
    """Return a field's value as a number if it is one: 001 as 1, 0x10 as 16."""
    text = str(value)
    if _DECIMAL.fullmatch(text):
        return int(text)
    return int(text, 16) if _HEXADECIMAL.fullmatch(text) else text
