"""What the kernel counted beside every run, all of it system-wide.

System-wide, because a task's own counts miss migrations done by idle and softirq balancing. There
is one module for each source; all are loaded when the first group is asked for.
"""

import importlib
import pkgutil
from functools import cache

from schedlab.counters.group import REGISTRY, CounterGroup, EventGroup, SnapshotGroup


def all_groups() -> dict[str, CounterGroup]:
    """Return every group by its name, in the order of tables."""
    _load()
    return {group.name: group for _, group in sorted(REGISTRY.items())}


@cache
def _load() -> None:
    for module in pkgutil.iter_modules(__path__):
        importlib.import_module(f"{__name__}.{module.name}")


def snapshot_groups() -> dict[str, SnapshotGroup]:
    """Return the groups that are read before and after a run."""
    return {name: each for name, each in all_groups().items() if isinstance(each, SnapshotGroup)}


def event_groups() -> dict[str, EventGroup]:
    """Return the groups that perf counts."""
    return {name: each for name, each in all_groups().items() if isinstance(each, EventGroup)}
