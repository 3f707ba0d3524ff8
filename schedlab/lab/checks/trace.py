"""Reading a trace in ftrace's text form, event by event."""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

_LINE = re.compile(r"\s*(.*)-(\d+)\s+\[(\d+)\] \S+ +(\d+)\.(\d{9}): (\w+): (.*)\n?")
_FIELD = re.compile(r"(\w+)=(\S*)")

USUAL = (
    "sched_switch",
    "sched_wakeup",
    "sched_wakeup_new",
    "sched_migrate_task",
)
"""What a timeline is made of."""


@dataclass(frozen=True)
class Event:
    """One event: when, where, which, and its text."""

    time: int
    """Nanoseconds since the scenario began."""
    cpu: int
    name: str
    text: str

    @cached_property
    def fields(self) -> Mapping[str, str]:
        """Return the values of the event by name."""
        return dict(_FIELD.findall(self.text))


def events(lines: Iterable[str]) -> Iterator[Event]:
    """Yield the events of a trace; lines of other kinds are passed over."""
    for line in lines:
        if match := _LINE.match(line):
            _, _, cpu, seconds, nanoseconds, name, text = match.groups()
            time = int(seconds) * 1_000_000_000 + int(nanoseconds)
            yield Event(time, int(cpu), name, text)
