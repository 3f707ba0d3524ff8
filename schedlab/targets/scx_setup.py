"""What the programs of the scx project's schedulers do at start, for a guest of QEMU.

The simulator does the same for its machines (engine/kernel/scx/setup.c). This is a description of
its own, so that comparing both also compares what was read from the programs' sources. A guest's
CPUs all have the same capacity.
"""

from collections.abc import Callable, Iterator, Mapping

from schedlab.machine.model import Machine

_CAPACITY = 1024
_US = 1000
_MS = 1000 * _US
_USUAL = ("ENQ_EXITING", "ENQ_LAST", "ENQ_MIGRATION_DISABLED", "ALLOW_QUEUED_WAKEUP")
_PRIMARY = "enable_primary_cpu"

Words = Iterator[str]
"""Words of guest/scx/load.c, which says what each means."""


def _flags(*names: str) -> Words:
    return (f"+SCX_OPS_{name}" for name in names)


def _values(values: Mapping[str, int]) -> Words:
    return (f"{name}={value}" for name, value in values.items())


def _each(machine: Machine) -> range:
    return range(machine.nr_cpus)


def _array(name: str, numbers: Iterator[int] | range) -> str:
    return f"{name}={','.join(map(str, numbers))}"


def _capacities(machine: Machine) -> str:
    return _array("cpu_capacity", (_CAPACITY for _ in _each(machine)))


def _cores(machine: Machine) -> list[tuple[int, ...]]:
    return [core for core in machine.groups("core") if len(core) > 1]


def _siblings(machine: Machine) -> Words:
    for core in _cores(machine):
        first, second = sorted(core)[:2]
        yield f"enable_sibling_cpu:{first},{second}"
        yield f"enable_sibling_cpu:{second},{first}"


def _by_topology(machine: Machine) -> Words:
    numa = len(machine.groups("node")) > 1
    yield from _values({"smt_enabled": int(bool(_cores(machine))), "numa_enabled": int(numa)})
    if numa:
        yield from _flags("BUILTIN_IDLE_PER_NODE")
    yield from _siblings(machine)


def _bpfland(machine: Machine) -> Words:
    yield from _flags(*_USUAL)
    yield from _values({"local_pcpu": 0, "sticky_tasks": 0, "local_kthreads": 0, "primary_all": 1})
    yield from _by_topology(machine)
    yield from (_capacities(machine), _array("preferred_cpus", _each(machine)))
    yield from (f"{_PRIMARY}:{cpu}" for cpu in (-1, *_each(machine)))
    yield f"cpufreq_perf_lvl={_CAPACITY}"


def _beerland(machine: Machine) -> Words:
    yield from _flags(*_USUAL, "ALWAYS_ENQ_IMMED")
    yield from _values({"slice_ns": _MS, "slice_lag": 20 * _MS, "primary_all": 1})
    yield from _by_topology(machine)
    yield _capacities(machine)


def _cosmos(machine: Machine) -> Words:
    nodes = machine.groups("node")
    yield from _flags(*_USUAL)
    values = {"slice_ns": _MS, "slice_lag": 20 * _MS, "cpufreq_enabled": 1, "busy_threshold": 0}
    values |= {"primary_all": 1, "gpu_enabled": 0, "all_cpus_same_capacity": 1}
    yield from _values(values | {"nr_node_ids": len(nodes)})
    yield from _by_topology(machine)
    yield from (_capacities(machine), _array("preferred_cpus", _each(machine)))
    for number, node in enumerate(nodes):
        yield from (f"cpu_node_map[{cpu}]={number}" for cpu in node)


def _tickless(machine: Machine) -> Words:
    first = machine.nr_cpus - 1  # the last of alike ones
    yield from _flags("ENQ_LAST", "ENQ_MIGRATION_DISABLED", "ALLOW_QUEUED_WAKEUP")
    yield from _values({"nr_cpu_ids": machine.nr_cpus, "slice_ns": 20 * _MS})
    yield from _values({"smt_enabled": int(bool(_cores(machine)))})
    yield _array("preferred_cpus", _each(machine))
    yield from (f"@{first}", f"{_PRIMARY}:-1", f"{_PRIMARY}:{first}", f":start_timer:{first}")


SETUPS: dict[str, Callable[[Machine], Words]] = {
    "bpfland": _bpfland,
    "beerland": _beerland,
    "cosmos": _cosmos,
    "tickless": _tickless,
}


def set_up(scheduler: str, machine: Machine) -> list[str] | None:
    """Return the words for a scheduler on a machine, None for one that is not described here."""
    words = SETUPS.get(scheduler)
    return None if words is None else list(words(machine))
