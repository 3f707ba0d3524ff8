"""What a counter says of the scheduler: a topic, and the event in a user's words.

Meanings stand where their counters are declared: in the module of a group, in
`schedlab/counters/simulated.py` for the simulator's own, in a benchmark for what it counts.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import cached_property

CLIENT = "client/"
"""How the counters begin that were counted on the machine a benchmark's load came from."""
CLIENT_OTHERS = f"{CLIENT}others:cpu-share"
"""The share (0..1) of its CPUs that other work took during a run."""


class Topic(StrEnum):
    """What the scheduler does, in the order of reports."""

    WAKEUP = "wakeup placement"
    FORK = "fork placement"
    NEWIDLE = "newidle balance"
    PERIODIC = "periodic and nohz balance"
    BALANCE = "load balance"
    PREEMPTION = "preemption"
    WAITING = "waiting"
    IDLE = "idle"
    FREQUENCY = "frequency and energy"
    NUMA = "NUMA balancing"
    INTERRUPTS = "interrupts and timers"
    CONTENTION = "locks and shared lines"
    CPU_TIME = "CPU time"
    CORE = "core scheduling"
    CLIENT = "the client's machine"
    BENCHMARK = "the benchmark's own"
    BOOKKEEPING = "bookkeeping"
    OTHER = "other events"


BALANCES = {
    "busy": (Topic.PERIODIC, "periodic balance of a busy CPU"),
    "idle": (Topic.PERIODIC, "periodic or nohz balance of an idle CPU"),
    "newidle": (Topic.NEWIDLE, "newidle balance"),
}
"""The load balances of a CPU, as a host and the simulator name them in counters."""

_CONSEQUENCES = frozenset(
    {
        *(Topic.WAITING, Topic.IDLE, Topic.INTERRUPTS, Topic.CONTENTION, Topic.CPU_TIME),
        *(Topic.BOOKKEEPING, Topic.OTHER),
    }
)
"""Topics whose counters follow from where and when tasks were put."""


@dataclass(frozen=True)
class Meaning:
    """What the counters say whose names fit a pattern."""

    pattern: str
    """A counter's name; a `*` in it stands for a part that differs, such as a domain's name."""
    topic: Topic
    words: str
    """The event, in a user's words; `{}` stands for the part that differs."""
    same_as: str = ""
    """The counter that counts the same thing, such as the entry of what this is the exit of."""
    is_effort: bool = False
    """What is counted takes time and places nothing: less of it makes no result worse."""
    decides: bool | None = None
    """Whether the scheduler decides what is counted; if not given, its topic says so."""

    @property
    def is_consequence(self) -> bool:
        """Whether what is counted follows from what the scheduler decided elsewhere."""
        return self.topic in _CONSEQUENCES if self.decides is None else not self.decides

    @cached_property
    def _regex(self) -> re.Pattern[str]:
        return re.compile("(.+)".join(map(re.escape, self.pattern.split("*"))))

    def of(self, counter: str) -> "Meaning | None":
        """Return what a counter says by this pattern; None where its name does not fit."""
        found = self._regex.fullmatch(counter)
        if not found:
            return None
        words = self.words.format(*found.groups())
        return replace(self, pattern=counter, words=words)


def find_meaning(counter: str, meanings: Iterable[Meaning]) -> Meaning:
    """Return what a counter says by the first pattern it fits; one that fits none says its name."""
    found = (meaning.of(counter) for meaning in meanings)
    return next(filter(None, found), Meaning(counter, Topic.OTHER, counter))
