"""NUMA nodes, from /sys/devices/system/node."""

import re
from collections.abc import Sequence

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.system import System

NODE = "/sys/devices/system/node"
_MEMORY = re.compile(r"MemTotal:\s+(\d+) kB")


def read(system: System, online: Sequence[int]) -> dict[str, object]:
    """Return a machine's keys about nodes; none without NUMA, or without a CPU in a node."""
    numbers = parse_cpulist(system.read_or(f"{NODE}/online", ""))
    lists = [
        set(parse_cpulist(system.read_or(f"{NODE}/node{node}/cpulist", ""))) & set(online)
        for node in numbers
    ]
    if not any(lists):
        return {}
    topology: dict[str, object] = {"node": [format_cpulist(cpus) for cpus in lists]}
    distances = [
        [int(word) for word in system.read_or(f"{NODE}/node{node}/distance", "").split()]
        for node in numbers
    ]
    if all(distances):
        topology["distance"] = distances
    if numbers != tuple(range(len(numbers))):
        topology["node_numbers"] = numbers
    memory = [_memory_mib(system, node) for node in numbers]
    if None not in memory:
        topology["node_memory_mib"] = memory
    return topology


def _memory_mib(system: System, node: int) -> int | None:
    match = _MEMORY.search(system.read_or(f"{NODE}/node{node}/meminfo", ""))
    return round(int(match[1]) / 1024) if match else None
