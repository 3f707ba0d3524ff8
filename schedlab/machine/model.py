"""A described machine: its CPUs, how they are grouped, how fast and how deep they sleep, as TOML.

Groups are CPU lists as the kernel writes them, one string a group. Everything a host does not
tell is left out of its file; docs/manual/machines.md describes every key.
"""

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    PlainValidator,
    StrictFloat,
    StrictInt,
    ValidationError,
    model_validator,
)

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.data import known_names, machine_file
from schedlab.base.errors import UsageError
from schedlab.base.validation import Data, first_problem, parse_toml, toml_text, validate
from schedlab.machine import ledger, operations, shorthand, toml
from schedlab.machine.ledger import Entry
from schedlab.machine.levels import LEVELS, Level

Sharing = Literal["cpu", "core", "cluster", "llc", "package", "node", "machine"]
Groups = tuple[tuple[int, ...], ...]


def _cpulist(text: str) -> str:
    parse_cpulist(text)
    return text


def _in(units: str) -> re.Pattern[str]:
    """Return what a number with its unit looks like, as the simulator reads it."""
    return re.compile(rf"\d+(\.\d+)? ?({units})")


_TIME = _in("ns|us|ms|s")
_LONGEST_COST = "4s"
"""The simulator takes no operation that is longer."""


def _quantity(pattern: re.Pattern[str], example: str) -> AfterValidator:
    """Check a number with its unit."""

    def check(text: str) -> str:
        if not pattern.fullmatch(text):
            raise ValueError(f"'{text}' is not a quantity; write it as {example}")
        return text

    return AfterValidator(check)


def _cost(value: object) -> object:
    """Check a time, or a count where the cost is one: of lines, of percent."""
    if isinstance(value, str) and _TIME.fullmatch(value):
        if microseconds(value) > microseconds(_LONGEST_COST):
            raise ValueError(f"'{value}' is too long; the most is {_LONGEST_COST}")
        return value
    if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
        return value
    raise ValueError(f"{value!r} is neither a time, such as 1.5us, nor a count")


_MICROSECONDS = {"ns": 1e-3, "us": 1.0, "ms": 1e3, "s": 1e6}


def microseconds(time: str) -> float:
    """Return a time of a machine file, such as `1.5us`, in microseconds."""
    match = re.fullmatch(r"([\d.]+) ?([a-z]+)", time)
    assert match, time
    return float(match[1]) * _MICROSECONDS[match[2]]


CpuList = Annotated[str, AfterValidator(_cpulist)]
"""`0-3,8`; empty only for a NUMA node that has memory and no CPU."""
Time = Annotated[str, _quantity(_TIME, "1.5us")]
Cost = Annotated[str | int, PlainValidator(_cost, json_schema_input_type=str | int)]
Size = Annotated[str, _quantity(_in("KiB|MiB|GiB"), "512KiB")]
Bandwidth = Annotated[str, _quantity(_in("MB/s|GB/s"), "20GB/s")]
Number = StrictInt | StrictFloat
Power = Annotated[Number, Field(ge=0)]
Powers = Power | tuple[Power, ...]
"""In mW: of every CPU, or one for each entry of `cpu`, in their order."""
PositiveInt = Annotated[StrictInt, Field(gt=0)]
CountOrZero = Annotated[StrictInt, Field(ge=0)]


class Topology(Data):
    """Which CPUs stand together at each level, from SMT siblings up to NUMA nodes."""

    core: tuple[CpuList, ...] = ()
    cluster: tuple[CpuList, ...] = ()
    llc: tuple[CpuList, ...] = ()
    package: tuple[CpuList, ...] = ()
    node: tuple[CpuList, ...] = ()
    distance: tuple[tuple[Annotated[StrictInt, Field(ge=1, le=255)], ...], ...] = ()
    """How far each node is from each, in the order of `node`, as the firmware reports it."""
    reclaim_distance: Annotated[StrictInt, Field(ge=10, le=254)] | None = None
    """The kernel's node_reclaim_distance, where the architecture sets another than 30."""
    hybrid: bool = False
    """Cores of more than one kind, as an x86 CPUID says."""
    node_numbers: tuple[CountOrZero, ...] = ()
    """The kernel's node numbers, where they are not 0, 1, 2, ..."""
    node_memory_mib: tuple[CountOrZero, ...] = ()


class OperatingPoint(Data):
    """A frequency CPUs can run at, and what one of them takes at it."""

    mhz: Annotated[Number, Field(gt=0)]
    power_mw: Annotated[Number, Field(gt=0)] | None = None
    cluster_mw: Annotated[Number, Field(ge=0)] | None = None
    """What the CPUs that change frequency together share takes, while one of them is busy."""


class Cpu(Data):
    """What some CPUs can do: capacity and frequencies."""

    cpus: CpuList
    capacity: Annotated[StrictInt, Field(gt=0, le=1024)] | None = None
    """What the scheduler takes one to be able to compute; the biggest CPU has 1024."""
    speed: Annotated[Number, Field(gt=0, le=1)] | None = None
    """How fast plain work runs on one, where that is not capacity / 1024."""
    priority: Annotated[StrictInt, Field(ge=1, le=255)] | None = None
    """How much x86 prefers it to other cores (ITMT): the highest performance that CPPC reports."""
    min_mhz: Annotated[Number, Field(gt=0)] | None = None
    max_mhz: Annotated[Number, Field(gt=0)] | None = None
    opp: tuple[OperatingPoint, ...] = ()
    shared_by: Sharing | None = None
    """The CPUs that change frequency together; left out when all of `cpus` do."""
    transition: Time | None = None
    """How long a change of frequency takes, as the driver reports to the kernel."""
    fast_switch: bool = True
    """The driver can change it from the scheduler; else schedutil has a thread for that."""
    governor: Literal["schedutil", "performance"] | None = None
    """The governor that chooses among the operating points; schedutil when left out."""


class IdleState(Data):
    """One state a CPU can idle in, as cpuidle shows it."""

    name: str
    desc: str = ""
    cpus: CpuList | None = None
    """The CPUs that have it, where not all have."""
    latency: Time
    residency: Time
    entry: Time | None = None
    exit: Time | None = None
    """What hardware takes, where it differs from what the kernel assumes."""
    polling: bool = False
    declared: bool = True
    """Of a polling state: the driver marks it as polling for the governor."""
    mwait: bool = False
    firmware: bool = False
    """Entry and exit are code that runs on the core, so that siblings see it at work."""
    power_mw: Powers | None = None
    """What a CPU in it takes."""
    change_mw: Powers | None = None
    """The same while it enters or leaves; as in the shallowest state when left out."""
    cluster_mw: Powers | None = None
    """What the CPUs that change frequency together share takes, while none of them is shallower."""


class Idle(Data):
    """The idle states, the shallowest first, and the governor that chooses among them."""

    governor: str = ""
    state: tuple[IdleState, ...] = ()


class CacheKind(Data):
    """One kind of cache: how large an instance is, and who shares it."""

    size: Size | None = None
    shared_by: Sharing | None = None
    groups: tuple[CpuList, ...] = ()
    """The CPUs of each instance, where they are those of no level."""
    cpus: CpuList | None = None
    """The CPUs that have this kind of cache, where not all have."""


def _cache_kinds(value: object) -> object:
    """Take a size alone, one kind, or several."""
    if isinstance(value, str):
        return ({"size": value},)
    return (value,) if isinstance(value, Mapping) else value


CacheKinds = Annotated[tuple[CacheKind, ...], BeforeValidator(_cache_kinds)]


class Cache(Data):
    """The caches, by name; several kinds where CPUs differ."""

    l1d: CacheKinds = ()
    l1i: CacheKinds = ()
    l1: CacheKinds = ()
    l2: CacheKinds = ()
    l3: CacheKinds = ()
    l4: CacheKinds = ()
    llc: CacheKinds = ()
    """The last level, where its number does not matter."""

    def last_level(self) -> CacheKinds:
        """Return the kinds of the last level."""
        return self.llc or self.l4 or self.l3 or self.l2

    def below_last(self) -> CacheKinds:
        """Return the kinds of the level below: what cores under one last level have apart."""
        below = self.l2 if self.llc or self.l4 or self.l3 else ()
        return below or self.first()

    def first(self) -> CacheKinds:
        """Return the kinds of the first level that holds data."""
        return self.l1d or self.l1


class Smt(Data):
    """What busy siblings leave of a thread's speed; for the simulator."""

    speed: tuple[Annotated[Number, Field(gt=0, le=1)], ...] = Field(min_length=1, max_length=8)
    """With 0, 1, 2, ... busy siblings."""
    polling: Annotated[Number, Field(ge=0, le=1)]
    """A polling sibling counts as this much of a busy one."""


class Core(Data):
    """How fast a core is: what the operations' cycles take on this machine."""

    mhz: Annotated[Number, Field(gt=0)]
    """The highest of the fastest core: `cost` holds for it, and so do programs' cycles."""
    ipc: Annotated[Number, Field(gt=0)] = 1.0
    """What a thread alone does in a cycle, against a Zen 3."""


class Boost(Data):
    """The frequency the hardware chooses by the number of active cores; for the simulator."""

    cores: tuple[PositiveInt, ...] = Field(min_length=1, max_length=16)
    """Up to so many active cores of a package, rising."""
    mhz: tuple[Annotated[Number, Field(gt=0)], ...] = Field(min_length=1, max_length=16)
    """The frequency with each of them; between two in proportion."""
    whole_mhz: Annotated[Number, Field(gt=0)] | None = None
    """At which the kernel counts utilisation in full, where that is not the highest."""


class Fabric(Data):
    """What goes between caches; for the simulator."""

    llc: Bandwidth
    """Through the port of an LLC."""
    package: Bandwidth
    """Out of a package to others."""


class Background(Data):
    """What a machine does besides the load; for the simulator."""

    daemons: CountOrZero
    """Tasks that the wakeups are spread over."""
    wakeups: Annotated[Number, Field(ge=0)]
    """Of all daemons together, a second."""
    per_cpu: Annotated[Number, Field(ge=0)]
    """Of each CPU's own kworker, a second."""
    run: Time
    """What a wakeup takes, on the fastest CPU."""


class Memory(Data):
    """Memory bandwidth; for the simulator."""

    node_bandwidth: Bandwidth
    thread_bandwidth: Bandwidth
    cache_bandwidth: Bandwidth
    """What a thread gets from its LLC."""


class Thermal(Data):
    """How warm the CPUs get, and when the kernel slows them down; for the simulator."""

    ambient: Number
    """What is around them, in degrees Celsius."""
    base_mw: Annotated[Number, Field(ge=0)]
    """What everything else of the zone takes all the time."""
    resistance: Annotated[Number, Field(gt=0)]
    """Degrees above ambient for each watt, in the end."""
    heat_capacity: Annotated[Number, Field(gt=0)]
    """Joules that warm it by a degree."""
    trip: Number
    """From here on frequencies are lowered step by step."""
    hysteresis: Annotated[Number, Field(ge=0)]
    polling: Time
    """How often the kernel looks."""
    passive_polling: Time
    """The same while frequencies are lowered."""


_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"'{text}' is not a name; use letters, digits and . _ -")
    return text


class Machine(Data):
    """A machine a benchmark is sized for, a report speaks of and the simulator runs."""

    name: Annotated[str, AfterValidator(_name)]
    title: str = ""
    notes: str = ""
    arch: str = ""
    processor: str = ""
    memory_gib: PositiveInt | None = None
    cpus: CpuList
    topology: Topology = Topology()
    cpu: tuple[Cpu, ...] = ()
    smt: Smt | None = None
    idle: Idle = Idle()
    cache: Cache = Cache()
    memory: Memory | None = None
    boost: Boost | None = None
    fabric: Fabric | None = None
    session: Annotated[str, Field(pattern="^/.")] | None = None
    """The cgroup of whoever starts a benchmark; for the simulator."""
    thermal: Thermal | None = None
    background: Background | None = None
    """machines/common/background.toml, where the file says nothing else."""
    setup: Mapping[str, Mapping[str, Any]] = Field(default_factory=dict)
    """Settings of variants under a name: the machine as published tests had it."""
    core: Core | None = None
    cycles: Mapping[str, PositiveInt] = Field(default_factory=dict)
    """What operations take on any core, if there is `core`: machines/common/operations.toml."""
    work: Mapping[str, Mapping[str, Cost]] = Field(default_factory=dict)
    """What programs take, by workload: workloads/figures.toml, where the file has `core`."""
    cost: Mapping[str, Cost] = Field(default_factory=dict)
    """What things cost in the simulator, which knows their names; no host shows them."""
    ledger: Mapping[str, Entry] = Field(default_factory=dict)
    """By key path: the range, source and published rows of figures the file says more about."""

    @model_validator(mode="before")
    @classmethod
    def _write_out(cls, data: Any) -> Any:
        """Replace what the file says in short by what it stands for."""
        if not isinstance(data, Mapping):
            return data
        return shorthand.expanded(ledger.lifted(operations.with_common(data)))

    @model_validator(mode="after")
    def _fits_together(self) -> "Machine":
        for problem in _problems(self):
            raise ValueError(problem)
        return self

    @property
    def nr_cpus(self) -> int:
        """Count the CPUs."""
        return len(parse_cpulist(self.cpus))

    def without_memory(self) -> "Machine":
        """Return the machine without its sizes of memory: a hypervisor changes a guest's."""
        topology = self.topology.model_copy(update={"node_memory_mib": ()})
        return self.model_copy(update={"memory_gib": None, "topology": topology})

    def costs(self) -> dict[str, str | int]:
        """Return every cost: as measured on this machine, or what its core takes for the cycles."""
        costs = dict(self.cost)
        if self.core:
            for name, cycles in self.cycles.items():
                costs.setdefault(name, operations.nanoseconds(cycles, self.core.mhz, self.core.ipc))
        return costs

    def groups(self, level: Level) -> Groups:
        """Return the groups of a level that have CPUs, with what the kernel assumes.

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
        """Return the names that a size expression may use, e.g. `cpus/2`; only what is known."""
        memory = {} if self.memory_gib is None else {"memory_gib": self.memory_gib}
        return {
            "cpus": self.nr_cpus,
            "little_cpus": sum(
                len(parse_cpulist(cpu.cpus)) for cpu in self.cpu if (cpu.capacity or 1024) < 1024
            ),
            "cores": len(self.groups("core")),
            "llcs": len(self.groups("llc")),
            "packages": len(self.groups("package")),
            "nodes": len(self.groups("node")),
            **memory,
        }

    def to_toml(self, sources: Mapping[str, str] | None = None, header: str = "") -> str:
        """Write the machine's file; `sources` says by key path where a figure comes from."""
        figures = self.model_dump(exclude_defaults=True, exclude={"ledger"})
        table = shorthand.folded(operations.without_common(figures))
        for name, kinds in table.get("cache", {}).items():
            if len(kinds) == 1:
                [table["cache"][name]] = kinds
        for key, entry in self.ledger.items():
            if key.startswith(_COMMON) and not ledger.stands(table, key):
                continue
            said = entry.model_dump(exclude_defaults=True)
            ledger.put(table, key, toml.Inline({"value": ledger.at(table, key), **said}))
        return toml.write(table, sources or {}, header)


_COMMON = ("cycles.", "work.", "background.")
"""Figures that a file has only where they are its own."""

_CYCLES = "cycles_1000"
"""A cost that files had before `core.mhz` said the same."""


def load_machine(path: Path) -> Machine:
    """Read a machine's file; UsageError with the key path where it does not fit."""
    return _fitted(toml_text(path), path)


@lru_cache(maxsize=64)
def _fitted(text: str, path: Path) -> Machine:
    """Return the machine of a file's text, whose checks take far longer than reading it."""
    machine = validate(parse_toml(text, path), Machine, str(path))
    if _CYCLES in machine.cost:
        mhz = 1e6 / ledger.number(machine.cost[_CYCLES]) if machine.core is None else None
        instead = f"write [core] with mhz = {mhz:.0f} instead" if mhz else "core.mhz says it"
        raise UsageError(
            f"{path}: cost.{_CYCLES}: what programs' cycles take follows from the core's frequency."
            f" Delete the line; {instead}."
        )
    return machine


def find_machine(which: str) -> Machine:
    """Return a machine that comes with schedlab, by name, or one from a file.

    Raises:
        UsageError: there is none, or its file does not fit.
    """
    return load_machine(machine_file(which))


def known_machines() -> list[str]:
    """Return the names of the machines that come with schedlab."""
    return known_names("machines")


def _problems(machine: Machine) -> Iterator[str]:
    cpus = frozenset(parse_cpulist(machine.cpus))
    if not cpus:
        yield "cpus: names no CPU"
    yield from _level_problems(machine.topology, cpus)
    yield from _nesting_problems(machine.topology)
    yield from _node_problems(machine.topology)
    yield from _cpu_problems(machine, cpus)
    yield from _cache_problems(machine.cache, cpus)
    problem = None
    for problem in ledger.problems(machine.ledger, machine.model_dump(exclude={"ledger"})):
        yield problem
    if problem is None:
        yield from _range_problems(machine)


def _range_problems(machine: Machine) -> Iterator[str]:
    """Every figure may be drawn from its range: the ends have the limits that values have."""
    ranges = {key: entry.range for key, entry in machine.ledger.items() if entry.range}
    if not ranges:
        return
    for which, words in enumerate(("lowest", "highest")):
        table = machine.model_dump(mode="json", exclude_defaults=True, exclude={"ledger"})
        for key, ends in ranges.items():
            ledger.put(table, key, ends[which])
        try:
            Machine.model_validate(table)
        except ValidationError as error:
            yield f"{first_problem(error, Machine)} (at the {words} end of its range)"


def _level_problems(topology: Topology, cpus: frozenset[int]) -> Iterator[str]:
    """Every level that is written down holds every CPU exactly once."""
    for level in LEVELS:
        groups: tuple[str, ...] = getattr(topology, level)
        if not groups:
            continue
        key = f"topology.{level}"
        yield from _overlap_problems(key, level, groups, cpus, may_be_empty=level == "node")
        missing = cpus.difference(*(parse_cpulist(text) for text in groups))
        if missing:
            yield f"{key}: {_cpus(missing)} missing; every CPU is in one group"


def _overlap_problems(
    key: str,
    short: str,
    groups: tuple[str, ...],
    cpus: frozenset[int],
    may_be_empty: bool = False,
) -> Iterator[str]:
    first_seen: dict[int, int] = {}
    for index, text in enumerate(groups):
        group = parse_cpulist(text)
        if not group and not may_be_empty:
            yield f"{key}[{index}]: names no CPU"
        for cpu in group:
            if cpu not in cpus:
                yield f"{key}[{index}]: CPU {cpu} is not in cpus"
            if cpu in first_seen:
                yield f"{key}[{index}]: CPU {cpu} is already in {short}[{first_seen[cpu]}]"
            first_seen[cpu] = index


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


def _node_problems(topology: Topology) -> Iterator[str]:
    count = len(topology.node) or 1
    for key in ("node_numbers", "node_memory_mib"):
        values: tuple[int, ...] = getattr(topology, key)
        if values and len(values) != count:
            yield f"topology.{key}: has {len(values)} entries for {count} nodes"
    if len(set(topology.node_numbers)) != len(topology.node_numbers):
        yield "topology.node_numbers: names a node twice"
    if not topology.distance:
        if count > 1:
            yield f"topology.distance: missing; {count} nodes need {count} rows of {count}"
        return
    if len(topology.distance) != count:
        yield f"topology.distance: has {len(topology.distance)} rows for {count} nodes"
    for index, row in enumerate(topology.distance):
        key = f"topology.distance[{index}]"
        if len(row) != count:
            yield f"{key}: has {len(row)} distances for {count} nodes"
        for other, distance in enumerate(row):
            if other != index and distance <= row[index]:
                yield f"{key}[{other}]: {distance} is not above the node's own, {row[index]}"


def _cpu_problems(machine: Machine, cpus: frozenset[int]) -> Iterator[str]:
    lists = tuple(entry.cpus for entry in machine.cpu)
    yield from _overlap_problems("cpu", "cpu", lists, cpus)
    for index, entry in enumerate(machine.cpu):
        if entry.min_mhz and entry.max_mhz and entry.min_mhz > entry.max_mhz:
            yield f"cpu[{index}]: min_mhz {entry.min_mhz} is above max_mhz {entry.max_mhz}"
        rates = [point.mhz for point in entry.opp]
        if rates != sorted(set(rates)):
            yield f"cpu[{index}].opp: must rise from the lowest frequency to the highest"
        if not entry.fast_switch and not entry.opp:
            yield f"cpu[{index}].fast_switch: without opp the frequency never changes; delete it"
    yield from _priority_problems(machine, cpus)
    if machine.thermal and not all(p.power_mw for entry in machine.cpu for p in entry.opp):
        yield "thermal: needs the power_mw of every operating point of cpu"
    for index, state in enumerate(machine.idle.state):
        if state.cpus is not None:
            key = f"idle.state[{index}].cpus"
            yield from _overlap_problems(key, "cpus", (state.cpus,), cpus)
    yield from _idle_power_problems(machine)


def _idle_power_problems(machine: Machine) -> Iterator[str]:
    """What idle states take is a figure for all CPUs, or one for each kind."""
    for index, state in enumerate(machine.idle.state):
        key = f"idle.state[{index}]"
        for name in ("power_mw", "change_mw", "cluster_mw"):
            powers = getattr(state, name)
            if isinstance(powers, tuple) and len(powers) != len(machine.cpu):
                kinds = len(machine.cpu)
                yield f"{key}.{name}: has {len(powers)} figures for {kinds} entries of cpu"
            if powers is not None and state.power_mw is None:
                yield f"{key}.{name}: says nothing without power_mw"


def _priority_problems(machine: Machine, cpus: frozenset[int]) -> Iterator[str]:
    """Without priorities, or with all alike, a driver leaves the kernel without preferred cores."""
    priorities = {entry.cpus: entry.priority for entry in machine.cpu if entry.priority}
    with_one = frozenset(cpu for text in priorities for cpu in parse_cpulist(text))
    if priorities and with_one != cpus:
        yield f"cpu: {_cpus(cpus - with_one)} without priority; all have one, or none"
    elif priorities and len(set(priorities.values())) == 1:
        yield "cpu: all CPUs have the same priority, so that none is preferred; leave it out"
    if machine.topology.hybrid and not priorities:
        yield "topology.hybrid: changes nothing without cpu.priority"


def _cache_problems(cache: Cache, cpus: frozenset[int]) -> Iterator[str]:
    for name in type(cache).model_fields:
        kinds: tuple[CacheKind, ...] = getattr(cache, name)
        for index, kind in enumerate(kinds):
            key = f"cache.{name}[{index}]" if len(kinds) > 1 else f"cache.{name}"
            if kind.shared_by and kind.groups:
                yield f"{key}: has both shared_by and groups; one says who shares an instance"
            if kind.cpus is not None:
                yield from _overlap_problems(f"{key}.cpus", "cpus", (kind.cpus,), cpus)
            yield from _overlap_problems(f"{key}.groups", "groups", kind.groups, cpus)


def _cpus(cpus: frozenset[int]) -> str:
    return f"CPU{'s' if len(cpus) > 1 else ''} {format_cpulist(cpus)}"
