"""What a group of counters is, and the registry of all groups.

A group is a class in a module of this package, under the decorator `counter_group`: read before
and after a run, or events that perf counts around its command.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, TypeVar

from schedlab.base.errors import SchedlabError
from schedlab.base.system import System
from schedlab.counters.meaning import Meaning

Counts = dict[str, float]


class Unavailable(SchedlabError):
    """This host does not let us read these counters; the message says why."""


class CounterGroup(ABC):
    """Counters that are asked for, and there or not there, together."""

    name: ClassVar[str]
    summary: ClassVar[str]
    by_default: ClassVar[bool] = True
    """Whether it is among all groups, or has to be named."""
    simulated: ClassVar[tuple[str, ...]] = ()
    """What the simulator counts in place of it: beginnings of names."""
    meanings: ClassVar[tuple[Meaning, ...]]
    """What its counters say."""


class SnapshotGroup(CounterGroup):
    """Counters that only grow, read from files before and after a run."""

    subsystem: ClassVar[str]
    """What its counters' names have before a colon; no tracepoint is of a subsystem so called."""

    @abstractmethod
    def read(self, system: System) -> Counts:
        """Return the counters as they stand; Unavailable if this host has none of them."""

    def ranges(self, system: System) -> Counts:
        """Return the range of each counter that wraps around to 0, in its unit."""
        return {}


class EventGroup(CounterGroup):
    """Events that perf counts on all CPUs around a run's command."""

    events: ClassVar[tuple[str, ...]]


REGISTRY: dict[int, CounterGroup] = {}
"""The groups by their places in tables, and in the order in which they are read."""

Group = TypeVar("Group", bound=CounterGroup)


def counter_group(rank: int) -> Callable[[type[Group]], type[Group]]:
    """Register a group of counters in its place among the others."""

    def register(group: type[Group]) -> type[Group]:
        if rank in REGISTRY or group.name in {other.name for other in REGISTRY.values()}:
            raise ValueError(f"{group.__qualname__}: another group has its name or its place")
        REGISTRY[rank] = group()
        return group

    return register


def difference(
    before: Mapping[str, float], after: Mapping[str, float], ranges: Mapping[str, float]
) -> Counts:
    """Return what was counted between two readings; CPUs that came or went do not matter.

    A counter that has a range and is less than before has begun anew, once.
    """
    counted = {name: after[name] - value for name, value in before.items() if name in after}
    begun_anew = (name for name, amount in counted.items() if amount < 0 and name in ranges)
    return counted | {name: counted[name] + ranges[name] for name in begun_anew}
