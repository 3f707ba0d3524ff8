"""What the kernel counted beside every run, all of it system-wide.

System-wide, because a task's own counts miss migrations done by idle and softirq balancing. There
is one module for each source; every module of this package is loaded.
"""

import importlib
import pkgutil

from schedlab.counters.group import REGISTRY, CounterGroup, EventGroup, SnapshotGroup


def all_groups() -> dict[str, CounterGroup]:
    """Return every group by its name, in the order of tables."""
    return {group.name: group for _, group in sorted(REGISTRY.items())}


def snapshot_groups() -> dict[str, SnapshotGroup]:
    """Return the groups that are read before and after a run."""
    return {name: each for name, each in all_groups().items() if isinstance(each, SnapshotGroup)}


def event_groups() -> dict[str, EventGroup]:
    """Return the groups that perf counts."""
    return {name: each for name, each in all_groups().items() if isinstance(each, EventGroup)}


for _module in pkgutil.iter_modules(__path__):
    importlib.import_module(f"{__name__}.{_module.name}")
