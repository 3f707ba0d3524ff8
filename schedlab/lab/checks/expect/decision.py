"""Decisions and other events: how often a tracepoint is passed, and with what values."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar

from pydantic import Field

from schedlab.base.errors import UsageError, nearest
from schedlab.lab.checks.expect.expectation import Bounded
from schedlab.lab.checks.given import Given
from schedlab.lab.checks.text import Time
from schedlab.lab.checks.timeline import Watcher
from schedlab.lab.ftrace import Event

Count = Annotated[int, Field(ge=0)]
Number = Annotated[float, Field(strict=False)]


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
        return _Counted(self)


class _Counted(Watcher):
    def __init__(self, asked: Decision) -> None:
        super().__init__()
        self._asked = asked
        self._name = asked.event.rpartition(":")[2]
        self._times: list[int] = []
        self._where = {
            key: {str(v) for v in (value if isinstance(value, list) else [value])}
            for key, value in asked.where.items()
        }

    def event(self, event: Event) -> None:
        asked = self._asked
        if event.name != self._name or event.time < asked.since:
            return
        if asked.until is not None and event.time > asked.until:
            return
        if asked.cpu is not None and event.cpu != asked.cpu:
            return
        fields = event.fields
        for key in (*self._where, *([asked.field] if asked.field else [])):
            if key not in fields:
                raise UsageError(
                    f"{asked.event} has no field '{key}'.{nearest(key, fields)}"
                    f" It has: {', '.join(fields)}."
                )
        if any(fields[key] not in wanted for key, wanted in self._where.items()):
            return
        if asked.field is None:
            self._times.append(event.time)
            return
        try:
            value = float(int(fields[asked.field], 0))
        except ValueError:
            raise UsageError(
                f"{asked.event}: {asked.field}={fields[asked.field]} is not a whole number"
            ) from None
        if asked.outside(value):
            self.found(event.time, f"{event.name} on CPU {event.cpu}: {event.text.strip()}")

    def ended(self, time: int, result: Mapping[str, Any]) -> None:
        if self._asked.field is None and self._asked.outside(len(self._times)):
            first = self._times[0] if self._times else time
            self.found(first, f"{len(self._times)} times {self._described()}")

    def _described(self) -> str:
        values = ", ".join(f"{key} {'/'.join(sorted(v))}" for key, v in self._where.items())
        return f"{self._name}{f' with {values}' if values else ''}"
