"""NUMA nodes, from /sys/devices/system/node."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from schedlab.cpulist import format_cpulist, parse_cpulist
from schedlab.machine import Numa
from schedlab.system import LocalSystem

NODE = "/sys/devices/system/node"
_MEMORY = re.compile(r"MemTotal:\s+(\d+) kB")


@dataclass(frozen=True)
class Nodes:
    """The CPUs of each node, and what lies between the nodes."""

    cpus: tuple[str, ...] = ()
    numa: Numa = field(default_factory=Numa)


def read(system: LocalSystem, online: Sequence[int]) -> Nodes:
    """Give the nodes; none where the kernel has no NUMA, or its nodes hold no CPU."""
    numbers = parse_cpulist(system.read_or(f"{NODE}/online", ""))
    lists = [
        set(parse_cpulist(system.read_or(f"{NODE}/node{node}/cpulist", ""))) & set(online)
        for node in numbers
    ]
    if not any(lists):
        return Nodes()
    distances = [
        [int(word) for word in system.read_or(f"{NODE}/node{node}/distance", "").split()]
        for node in numbers
    ]
    memory = [_memory_mib(system, node) for node in numbers]
    return Nodes(
        cpus=tuple(format_cpulist(cpus) for cpus in lists),
        numa=Numa.model_validate(
            {
                "distances": distances if all(distances) else (),
                "numbers": () if numbers == tuple(range(len(numbers))) else numbers,
                "memory_mib": () if None in memory else memory,
            }
        ),
    )


def _memory_mib(system: LocalSystem, node: int) -> int | None:
    match = _MEMORY.search(system.read_or(f"{NODE}/node{node}/meminfo", ""))
    return round(int(match[1]) / 1024) if match else None
