"""A described machine: its CPUs, how they are grouped, how fast and how deep they sleep, as TOML.

Groups are CPU lists as the kernel writes them, one string a group. Everything a host does not
tell is left out of its file; docs/machines.md describes every key.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    StrictInt,
    model_validator,
)

from schedlab.cpulist import format_cpulist, parse_cpulist
from schedlab.data import data_folder
from schedlab.errors import UsageError, nearest
from schedlab.topology import toml
from schedlab.validation import load_toml

Level = Literal["core", "cluster", "llc", "package", "node"]
LEVELS: tuple[Level, ...] = ("core", "cluster", "llc", "package", "node")
Sharing = Literal["cpu", "core", "cluster", "llc", "package", "node", "machine"]
Groups = tuple[tuple[int, ...], ...]

MOST_CPUS = 8192
"""The kernel's own limit (NR_CPUS on x86 and arm64 with MAXSMP)."""


def _cpulist(text: str) -> str:
    beyond = [number for number in re.findall(r"\d+", text) if int(number) >= MOST_CPUS]
    if beyond:
        raise ValueError(f"CPU {beyond[0]} is beyond the {MOST_CPUS} a kernel can have")
    parse_cpulist(text)
    return text


CpuList = Annotated[str, AfterValidator(_cpulist)]
"""`0-3,8`; empty only for a NUMA node that has memory and no CPU."""


class _Table(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Topology(_Table):
    """Which CPUs stand together at each level, from SMT siblings up to NUMA nodes."""

    core: tuple[CpuList, ...] = ()
    cluster: tuple[CpuList, ...] = ()
    llc: tuple[CpuList, ...] = ()
    package: tuple[CpuList, ...] = ()
    node: tuple[CpuList, ...] = ()


class Numa(_Table):
    """How far the NUMA nodes are from each other, in the order of `topology.node`."""

    distances: tuple[tuple[Annotated[StrictInt, Field(ge=1, le=255)], ...], ...] = ()
    numbers: tuple[Annotated[StrictInt, Field(ge=0)], ...] = ()
    """The kernel's node numbers, where they are not 0, 1, 2, ..."""
    memory_mib: tuple[Annotated[StrictInt, Field(ge=0)], ...] = ()


class Cache(_Table):
    """One kind of cache: which CPUs have it, and who shares one instance."""

    level: Annotated[StrictInt, Field(ge=1, le=9)]
    type: Literal["data", "instruction", "unified"]
    size_kib: Annotated[StrictInt, Field(gt=0)] | None = None
    shared_by: Sharing | None = None
    groups: tuple[CpuList, ...] = ()
    """The CPUs of each instance, where they are those of no level."""
    cpus: CpuList | None = None
    """The CPUs that have this kind of cache, where not all have."""


class Capacity(_Table):
    """What the scheduler takes these CPUs to be able to compute; the biggest CPU has 1024."""

    cpus: CpuList
    value: Annotated[StrictInt, Field(gt=0, le=1024)]


class IdleState(_Table):
    """One state a CPU can idle in, as cpuidle shows it."""

    name: str
    desc: str = ""
    exit_us: Annotated[StrictInt, Field(ge=0)]
    residency_us: Annotated[StrictInt, Field(ge=0)]
    power_mw: Annotated[StrictInt, Field(gt=0)] | None = None


class Idle(_Table):
    """The idle states of some CPUs, the shallowest first."""

    cpus: CpuList
    states: tuple[IdleState, ...] = Field(min_length=1)


class Frequency(_Table):
    """The frequencies some CPUs can run at."""

    cpus: CpuList
    shared_by: Sharing | None = None
    """Who changes frequency together; left out when all of `cpus` do."""
    min_khz: Annotated[StrictInt, Field(gt=0)] | None = None
    max_khz: Annotated[StrictInt, Field(gt=0)] | None = None
    opps_khz: tuple[Annotated[StrictInt, Field(gt=0)], ...] = ()


class Machine(_Table):
    """A machine a benchmark is sized for, a report speaks of and the simulator runs."""

    name: Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]*$")]
    title: str = ""
    arch: str
    processor: str = ""
    memory_gib: Annotated[StrictInt, Field(gt=0)]
    cpus: CpuList
    topology: Topology = Topology()
    numa: Numa = Numa()
    cache: tuple[Cache, ...] = ()
    capacity: tuple[Capacity, ...] = ()
    idle: tuple[Idle, ...] = ()
    frequency: tuple[Frequency, ...] = ()

    @model_validator(mode="after")
    def _fits_together(self) -> "Machine":
        for problem in _problems(self):
            raise ValueError(problem)
        return self

    @property
    def nr_cpus(self) -> int:
        """Count the CPUs."""
        return len(parse_cpulist(self.cpus))

    def groups(self, level: Level) -> Groups:
        """Give the groups of a level that have CPUs, with what the kernel assumes when untold.

        That is: a CPU is a core and a cluster, a package has one LLC, and the machine is one
        package and one node.
        """
        written: tuple[str, ...] = getattr(self.topology, level)
        if written:
            return tuple(parse_cpulist(text) for text in written if text)
        if level == "llc":
            return self.groups("package")
        cpus = parse_cpulist(self.cpus)
        return tuple((cpu,) for cpu in cpus) if level in ("core", "cluster") else (cpus,)

    def sizes(self) -> dict[str, int]:
        """Give the names a size expression may use, e.g. `cpus/2`."""
        return {
            "cpus": self.nr_cpus,
            "cores": len(self.groups("core")),
            "llcs": len(self.groups("llc")),
            "packages": len(self.groups("package")),
            "nodes": len(self.groups("node")),
            "memory_gib": self.memory_gib,
        }

    def to_toml(self, sources: Mapping[str, str] | None = None, header: str = "") -> str:
        """Write the machine's file; `sources` says by key path where a figure comes from."""
        return toml.write(self.model_dump(exclude_defaults=True), sources or {}, header)


def load_machine(path: Path) -> Machine:
    """Read a machine's file; UsageError with the key path where it does not fit."""
    return load_toml(path, Machine)


def find_machine(which: str) -> Machine:
    """Give a machine that comes with schedlab, by name, or one from a file.

    Raises:
        UsageError: there is none, or its file does not fit.
    """
    if which.endswith(".toml") or "/" in which:
        return load_machine(Path(which))
    known = known_machines()
    if which not in known:
        listed = f"There are: {', '.join(known)}" if known else "None comes with this schedlab"
        raise UsageError(
            f"no machine is called '{which}'.{nearest(which, known)}"
            f"\n  {listed}; or give a file, PATH.toml."
        )
    return load_machine(data_folder("machines") / f"{which}.toml")


def known_machines() -> list[str]:
    """Give the names of the machines that come with schedlab."""
    return sorted(path.stem for path in data_folder("machines").glob("*.toml"))


def _problems(machine: Machine) -> Iterator[str]:
    cpus = frozenset(parse_cpulist(machine.cpus))
    if not cpus:
        yield "cpus: names no CPU"
    yield from _level_problems(machine, cpus)
    yield from _nesting_problems(machine.topology)
    yield from _numa_problems(machine)
    yield from _per_cpu_problems(machine, cpus)
    yield from _cache_problems(machine, cpus)


def _level_problems(machine: Machine, cpus: frozenset[int]) -> Iterator[str]:
    """Every level that is written down holds every CPU exactly once."""
    for level in LEVELS:
        groups: tuple[str, ...] = getattr(machine.topology, level)
        if groups:
            key = f"topology.{level}"
            yield from _partition_problems(key, level, groups, cpus, empty=level == "node")
            yield from _missing_cpus(key, groups, cpus)


def _partition_problems(
    key: str, short: str, groups: tuple[str, ...], cpus: frozenset[int], empty: bool = False
) -> Iterator[str]:
    first_seen: dict[int, int] = {}
    for index, text in enumerate(groups):
        group = parse_cpulist(text)
        if not group and not empty:
            yield f"{key}[{index}]: names no CPU"
        for cpu in group:
            if cpu not in cpus:
                yield f"{key}[{index}]: CPU {cpu} is not in cpus"
            if cpu in first_seen:
                yield f"{key}[{index}]: CPU {cpu} is already in {short}[{first_seen[cpu]}]"
            first_seen[cpu] = index


def _missing_cpus(key: str, groups: tuple[str, ...], cpus: frozenset[int]) -> Iterator[str]:
    missing = cpus.difference(*(parse_cpulist(text) for text in groups))
    if missing:
        yield f"{key}: {_cpus(missing)} missing; every CPU is in one group"


def _nesting_problems(topology: Topology) -> Iterator[str]:
    """Groups of two levels never cross: one holds the other, or they have no CPU in common.

    Which level is the larger is left open: an LLC may hold several nodes (sub-NUMA clustering)
    and a node several packages.
    """
    levels: list[tuple[str, list[frozenset[int]]]] = []
    for level in LEVELS:
        groups = [frozenset(parse_cpulist(text)) for text in getattr(topology, level)]
        for other, others in levels:
            of_cpu = {cpu: index for index, group in enumerate(others) for cpu in group}
            for index, group in enumerate(groups):
                for met in sorted({of_cpu[cpu] for cpu in group}):
                    if not (group <= others[met] or others[met] <= group):
                        outside = _cpus(others[met] - group)
                        yield (
                            f"topology.{level}[{index}]: holds a part of {other}[{met}]"
                            f" ({outside} outside); levels must nest"
                        )
        if groups:
            levels.append((level, groups))


def _numa_problems(machine: Machine) -> Iterator[str]:
    count = len(machine.topology.node) or 1
    numa = machine.numa
    for key, values in (("numbers", numa.numbers), ("memory_mib", numa.memory_mib)):
        if values and len(values) != count:
            yield f"numa.{key}: has {len(values)} entries for {count} nodes"
    if len(set(numa.numbers)) != len(numa.numbers):
        yield "numa.numbers: names a node twice"
    if not numa.distances:
        if count > 1:
            yield f"numa.distances: missing; {count} nodes need {count} rows of {count} distances"
        return
    if len(numa.distances) != count:
        yield f"numa.distances: has {len(numa.distances)} rows for {count} nodes"
    for index, row in enumerate(numa.distances):
        if len(row) != count:
            yield f"numa.distances[{index}]: has {len(row)} distances for {count} nodes"
        for other, distance in enumerate(row):
            if other != index and distance <= row[index]:
                yield (
                    f"numa.distances[{index}][{other}]: {distance} is not above the node's"
                    f" distance to itself, {row[index]}"
                )


def _per_cpu_problems(machine: Machine, cpus: frozenset[int]) -> Iterator[str]:
    """No CPU has two capacities, sets of idle states or sets of frequencies."""
    for key, lists in (
        ("capacity", tuple(entry.cpus for entry in machine.capacity)),
        ("idle", tuple(entry.cpus for entry in machine.idle)),
        ("frequency", tuple(entry.cpus for entry in machine.frequency)),
    ):
        yield from _partition_problems(key, key, lists, cpus)
    if machine.capacity:
        yield from _missing_cpus("capacity", tuple(entry.cpus for entry in machine.capacity), cpus)
    for index, entry in enumerate(machine.frequency):
        if entry.min_khz and entry.max_khz and entry.min_khz > entry.max_khz:
            yield f"frequency[{index}]: min_khz {entry.min_khz} is above max_khz {entry.max_khz}"
        if list(entry.opps_khz) != sorted(set(entry.opps_khz)):
            yield f"frequency[{index}].opps_khz: must rise from the lowest to the highest"


def _cache_problems(machine: Machine, cpus: frozenset[int]) -> Iterator[str]:
    for index, cache in enumerate(machine.cache):
        if (cache.shared_by is None) == (not cache.groups):
            yield f"cache[{index}]: needs either shared_by or groups"
        if cache.cpus is not None:
            yield from _partition_problems(f"cache[{index}].cpus", "cpus", (cache.cpus,), cpus)
        yield from _partition_problems(f"cache[{index}].groups", "groups", cache.groups, cpus)


def _cpus(cpus: frozenset[int]) -> str:
    return f"CPU{'s' if len(cpus) > 1 else ''} {format_cpulist(cpus)}"
