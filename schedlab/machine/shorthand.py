"""What a machine file may say in short: CPUs as a count, cores as a rule, a level as another.

`topology.cpus = 4` stands for `cpus = "0-3"`. `core = { threads = 2, stride = 128 }` stands for
cores 0,128 then 1,129 and so on: thread k of a core is its first CPU plus k strides. `llc = "core"`
says that every core has a last-level cache of its own. The model always holds the lists.
"""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from schedlab.base.cpulist import MOST_CPUS, format_cpulist, parse_cpulist
from schedlab.base.errors import nearest
from schedlab.machine.levels import LEVELS

_KEYS = ("threads", "stride")
_MOST_THREADS = 8
_SHORT_LIST = re.compile(r"\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?)*")


def expanded(machine: Mapping[str, Any]) -> Mapping[str, Any]:
    """Write out what a machine's table says in short; a table that does not is given back as is.

    Raises:
        ValueError: the short form does not fit.
    """
    topology = machine.get("topology")
    if isinstance(topology, Mapping) and "cpus" in topology:
        machine = _with_cpus_listed(machine, topology)
    topology = machine.get("topology")
    if isinstance(topology, Mapping) and isinstance(topology.get("core"), Mapping):
        machine = _with_cores_listed(machine, topology)
    topology = machine.get("topology")
    if isinstance(topology, Mapping):
        machine = {**machine, "topology": _with_levels_listed(topology)}
    return machine


def _with_cpus_listed(machine: Mapping[str, Any], topology: Mapping[str, Any]) -> dict[str, Any]:
    count = topology["cpus"]
    if "cpus" in machine:
        raise ValueError("topology.cpus: `cpus` names the CPUs already; leave one of them out")
    if type(count) is not int or not 1 <= count <= MOST_CPUS:
        raise ValueError(f"topology.cpus: must be a whole number from 1 to {MOST_CPUS}")
    rest = {key: value for key, value in topology.items() if key != "cpus"}
    return {**machine, "cpus": format_cpulist(range(count)), "topology": rest}


def _with_cores_listed(machine: Mapping[str, Any], topology: Mapping[str, Any]) -> dict[str, Any]:
    cpus = machine.get("cpus")
    threads, stride = _checked(topology["core"])
    if not isinstance(cpus, str) or not _SHORT_LIST.fullmatch(cpus):
        # What is wrong with `cpus` is reported where it is checked itself.
        return {**machine, "topology": {**topology, "core": ()}}
    numbers = parse_cpulist(cpus)
    lists = _lists(numbers, threads, stride)
    if lists is None:
        raise ValueError(
            f"topology.core: {threads} threads with a stride of {stride} do not divide"
            f" CPUs {format_cpulist(numbers)}"
        )
    return {**machine, "topology": {**topology, "core": lists}}


def _with_levels_listed(topology: Mapping[str, Any]) -> dict[str, Any]:
    listed = dict(topology)
    for level in LEVELS:
        other = topology.get(level)
        if isinstance(other, str):
            if other not in LEVELS or not isinstance(topology.get(other), list | tuple):
                raise ValueError(
                    f"topology.{level}: '{other}' is not a level that this file lists; give CPU"
                    " lists, or the name of the level that has the same groups"
                )
            listed[level] = topology[other]
    return listed


def folded(machine: dict[str, Any]) -> dict[str, Any]:
    """Replace lists of cores in a machine's table by the rule that gives them, if one does."""
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
    """Return the cores, or None where the rule does not use every CPU once."""
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
