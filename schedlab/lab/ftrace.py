"""Reading a trace in ftrace's text form, event by event, as the simulator writes it.

Traces of others, a million events at a time: recording/text.py.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

_LINE = re.compile(r"\s*(.*-\d+)\s+\[(\d+)\]\s+\S+\s+(\d+)\.(\d{1,9}):\s+(\w+):\s?(.*)\n?")
_FIELD = re.compile(r"(\w+)=(.*?)(?=\s\w+=| ==> | \[|\s*$)")


@dataclass(frozen=True)
class Event:
    """One event: when, where, which, and its text."""

    time: int
    """Nanoseconds since the scenario began."""
    cpu: int
    task: str
    """What ran on the CPU, as `comm-pid`."""
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
            task, cpu, seconds, fraction, name, text = match.groups()
            time = int(seconds) * 1_000_000_000 + int(fraction.ljust(9, "0"))
            yield Event(time, int(cpu), task, name, text)
