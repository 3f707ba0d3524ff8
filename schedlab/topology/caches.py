"""Caches, from /sys/devices/system/cpu/cpu*/cache/index*."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedlab.cpulist import format_cpulist, parse_cpulist
from schedlab.machine import Cache
from schedlab.system import LocalSystem
from schedlab.topology.cpus import CPU, Groups, distinct, number, written
from schedlab.topology.sharing import sharing

_UNITS = {"K": 1, "M": 1024, "G": 1024 * 1024}
_SIZE = re.compile(r"(\d+)([KMG])")


@dataclass(frozen=True)
class _Kind:
    """What tells one kind of cache from another."""

    level: int
    type: str
    size_kib: int | None


Found = dict[int, dict[_Kind, tuple[int, ...]]]
"""For each CPU its caches, each with the CPUs that share it."""


def read(system: LocalSystem, cpus: Sequence[int]) -> Found:
    """Give the caches of each CPU; virtual machines often show none."""
    found: Found = {cpu: {} for cpu in cpus}
    for cpu in cpus:
        for folder in system.glob(f"{CPU}/cpu{cpu}/cache/index[0-9]*"):
            level = number(system, f"{folder}/level")
            shared = system.read_or(f"{folder}/shared_cpu_list", "")
            kind = system.read_or(f"{folder}/type", "Unified").lower()
            if level and shared and kind in ("data", "instruction", "unified"):
                size = _kib(system.read_or(f"{folder}/size", ""))
                found[cpu][_Kind(level, kind, size)] = parse_cpulist(shared)
    return found


def last_level(found: Found) -> Groups:
    """Give the CPUs that share a last-level cache; nothing where a CPU shows no cache."""
    if not all(found.values()):
        return ()
    return distinct(
        caches[max(caches, key=lambda kind: (kind.level, kind.type == "unified"))]
        for caches in found.values()
    )


def kinds(found: Found, levels: Mapping[str, Groups]) -> tuple[Cache, ...]:
    """Give each kind of cache once, with the level whose CPUs share it."""
    by_kind: dict[_Kind, dict[int, tuple[int, ...]]] = {}
    for cpu, caches in found.items():
        for kind, shared in caches.items():
            by_kind.setdefault(kind, {})[cpu] = shared
    return tuple(
        _cache(kind, of_cpu, levels, everywhere=len(of_cpu) == len(found))
        for kind, of_cpu in sorted(by_kind.items(), key=lambda item: _order(item[0]))
    )


def _cache(
    kind: _Kind,
    of_cpu: Mapping[int, tuple[int, ...]],
    levels: Mapping[str, Groups],
    everywhere: bool,
) -> Cache:
    instances = distinct(of_cpu.values())
    level = sharing(instances, levels)
    return Cache.model_validate(
        {
            "level": kind.level,
            "type": kind.type,
            "size_kib": kind.size_kib,
            "shared_by": level,
            "groups": () if level else written(instances),
            "cpus": None if everywhere else format_cpulist(of_cpu),
        }
    )


def _order(kind: _Kind) -> tuple[int, str, int]:
    return kind.level, kind.type, kind.size_kib or 0


def _kib(text: str) -> int | None:
    match = _SIZE.fullmatch(text)
    return int(match[1]) * _UNITS[match[2]] or None if match else None
