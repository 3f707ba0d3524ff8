"""The levels of a topology, from SMT siblings outwards, and groups of CPUs at them."""

from collections.abc import Mapping, Sequence
from typing import Literal, get_args

Groups = tuple[tuple[int, ...], ...]

Level = Literal["core", "cluster", "llc", "package", "node"]
LEVELS: tuple[Level, ...] = get_args(Level)
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
