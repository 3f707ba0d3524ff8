"""Which level of the topology a set of groups is."""

from collections.abc import Mapping, Sequence

from schedlab.machine.cpus import Groups

_ORDER = ("cpu", "core", "cluster", "llc", "package", "node", "machine")


def sharing(instances: Sequence[tuple[int, ...]], levels: Mapping[str, Groups]) -> str | None:
    """Return the smallest level whose groups include all of these, or None where none does."""
    for level in _ORDER:
        if level in levels and set(instances) <= set(levels[level]):
            return level
    return None


def all_levels(cpus: Sequence[int], levels: Mapping[str, Groups]) -> dict[str, Groups]:
    """Add the smallest and the largest level to those a host has."""
    return {"cpu": tuple((cpu,) for cpu in cpus), **levels, "machine": (tuple(cpus),)}
