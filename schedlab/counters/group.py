"""What a group of counters is: read before and after a run, or wrapped around its command."""

from collections.abc import Mapping
from typing import Protocol

from schedlab.base.errors import SchedlabError
from schedlab.system import System

Counts = dict[str, float]


class Unavailable(SchedlabError):
    """This host does not let us read these counters; the message says why."""


class SnapshotGroup(Protocol):
    """Counters that only grow, read from files before and after a run."""

    name: str
    summary: str

    def read(self, system: System) -> Counts:
        """Return the counters as they stand.

        Raises:
            Unavailable: this host has none of them.
        """


def difference(before: Mapping[str, float], after: Mapping[str, float]) -> Counts:
    """Return what was counted between two readings; CPUs that came or went do not matter."""
    return {name: after[name] - value for name, value in before.items() if name in after}
