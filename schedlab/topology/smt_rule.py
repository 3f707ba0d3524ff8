"""Cores by rule: `core = { threads = 2, stride = 128 }` for cores 0,128 then 1,129 and so on.

Thread k of a core is its first CPU plus k strides. The model always holds the lists.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from schedlab.cpulist import format_cpulist, parse_cpulist
from schedlab.errors import nearest

_KEYS = ("threads", "stride")
_MOST_THREADS = 8
_SHORT_LIST = re.compile(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*")


def expanded(machine: Mapping[str, Any]) -> Mapping[str, Any]:
    """Replace a rule in a machine's table by lists; a table without one is given back as it is.

    Raises:
        ValueError: the rule does not fit the CPUs.
    """
    topology, cpus = machine.get("topology"), machine.get("cpus")
    if not isinstance(topology, Mapping) or not isinstance(topology.get("core"), Mapping):
        return machine
    threads, stride = _checked(topology["core"])
    if not isinstance(cpus, str) or not _SHORT_LIST.fullmatch(cpus):
        # What is wrong with `cpus` is told where it is checked itself.
        return {**machine, "topology": {**topology, "core": ()}}
    numbers = parse_cpulist(cpus)
    lists = _lists(numbers, threads, stride)
    if lists is None:
        raise ValueError(
            f"topology.core: {threads} threads with a stride of {stride} do not divide"
            f" CPUs {format_cpulist(numbers)}"
        )
    return {**machine, "topology": {**topology, "core": lists}}


def folded(machine: dict[str, Any]) -> dict[str, Any]:
    """Replace lists in a machine's table by the rule that gives them, if one does."""
    written = tuple(machine.get("topology", {}).get("core", ()))
    if not written:
        return machine
    first = parse_cpulist(written[0])
    threads, stride = len(first), first[1] - first[0] if len(first) > 1 else 1
    if _lists(parse_cpulist(machine["cpus"]), threads, stride) != written:
        return machine
    rule = {"threads": threads, "stride": stride}
    return {**machine, "topology": {**machine["topology"], "core": rule}}


def _lists(cpus: Sequence[int], threads: int, stride: int) -> tuple[str, ...] | None:
    """Give the cores, or None where the rule does not use every CPU once."""
    left = dict.fromkeys(cpus)
    lists = []
    while left:
        first = next(iter(left))
        core = [first + thread * stride for thread in range(threads)]
        if not left.keys() >= set(core):
            return None
        for cpu in core:
            del left[cpu]
        lists.append(format_cpulist(core))
    return tuple(lists)


def _checked(rule: Mapping[str, Any]) -> tuple[int, int]:
    for key in rule:
        if key not in _KEYS:
            raise ValueError(f"topology.core.{key}: unknown key.{nearest(key, _KEYS)}")
    for key in _KEYS:
        if key not in rule:
            raise ValueError(f"topology.core.{key}: is missing")
        if type(rule[key]) is not int or rule[key] < 1:
            raise ValueError(f"topology.core.{key}: must be a whole number above 0")
    if rule["threads"] > _MOST_THREADS:
        raise ValueError(f"topology.core.threads: a core has at most {_MOST_THREADS}")
    return rule["threads"], rule["stride"]
