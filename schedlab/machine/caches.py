"""Caches, from /sys/devices/system/cpu/cpu*/cache/index*."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.system import System
from schedlab.machine.cpus import CPU, Groups, distinct, number, written
from schedlab.machine.levels import sharing
from schedlab.machine.model import CacheKind

_MOST_LEVELS = 4


@dataclass(frozen=True)
class _Kind:
    """What tells one kind of cache from another."""

    level: int
    type: str
    size: str | None


Found = dict[int, dict[_Kind, tuple[int, ...]]]
"""For each CPU its caches, each with the CPUs that share it."""


def read(system: System, cpus: Sequence[int]) -> Found:
    """Return the caches of each CPU; virtual machines often show none."""
    found: Found = {cpu: {} for cpu in cpus}
    for cpu in cpus:
        for folder in system.glob(f"{CPU}/cpu{cpu}/cache/index[0-9]*"):
            level = number(system, f"{folder}/level")
            shared = system.read_or(f"{folder}/shared_cpu_list", "")
            kind = system.read_or(f"{folder}/type", "Unified").lower()
            if (
                level
                and level <= _MOST_LEVELS
                and shared
                and kind in ("data", "instruction", "unified")
            ):
                size = _size(system.read_or(f"{folder}/size", ""))
                found[cpu][_Kind(level, kind, size)] = parse_cpulist(shared)
    return found


def last_level(found: Found) -> Groups:
    """Return the CPUs that share a last-level cache; nothing where a CPU shows no cache."""
    if not all(found.values()):
        return ()
    return distinct(
        caches[max(caches, key=lambda kind: (kind.level, kind.type == "unified"))]
        for caches in found.values()
    )


def kinds(found: Found, levels: Mapping[str, Groups]) -> dict[str, list[CacheKind]]:
    """Return each kind of cache once, by name, with the level whose CPUs share it."""
    by_kind: dict[_Kind, dict[int, tuple[int, ...]]] = {}
    for cpu, caches in found.items():
        for kind, shared in caches.items():
            by_kind.setdefault(kind, {})[cpu] = shared
    named: dict[str, list[CacheKind]] = {}
    for kind, of_cpu in sorted(by_kind.items(), key=lambda item: _order(item[0])):
        everywhere = len(of_cpu) == len(found)
        named.setdefault(_name(kind), []).append(_cache(kind, of_cpu, levels, everywhere))
    return named


def _cache(
    kind: _Kind,
    of_cpu: Mapping[int, tuple[int, ...]],
    levels: Mapping[str, Groups],
    everywhere: bool,
) -> CacheKind:
    instances = distinct(of_cpu.values())
    level = sharing(instances, levels)
    return CacheKind.model_validate(
        {
            "size": kind.size,
            "shared_by": level,
            "groups": () if level else written(instances),
            "cpus": None if everywhere else format_cpulist(of_cpu),
        }
    )


def _order(kind: _Kind) -> tuple[int, str, str]:
    return kind.level, kind.type, kind.size or ""


def _name(kind: _Kind) -> str:
    """Return the usual name of a cache: l1d, l1i, l2, l3."""
    letter = kind.type[0] if kind.level == 1 and kind.type != "unified" else ""
    return f"l{kind.level}{letter}"


def _size(text: str) -> str | None:
    """Write `32768K` as `32MiB`."""
    if not text.endswith("K") or not text[:-1].isdecimal() or not int(text[:-1]):
        return None
    kib = int(text[:-1])
    return f"{kib // 1024}MiB" if kib % 1024 == 0 else f"{kib}KiB"
