"""What the programs of the scx project's schedulers do at start, for a guest of QEMU.

The simulator does the same for its machines (engine/kernel/scx/setup.c). This is a description of
its own, so that comparing both also compares what was read from the programs' sources. A guest's
CPUs all have the same capacity.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise

from schedlab.machine.levels import Level
from schedlab.machine.model import Groups, Machine

_CAPACITY = 1024
_US = 1000
_MS = 1000 * _US
_USUAL = ("ENQ_EXITING", "ENQ_LAST", "ENQ_MIGRATION_DISABLED", "ALLOW_QUEUED_WAKEUP")
_PRIMARY = "enable_primary_cpu"
_NO_CPU = 0xFFFFFFFF
_LAVD_STATES = 11
"""LAVD_PCO_STATE_MAX of scx_lavd; of its states those behind the second repeat that."""
_LAVD_DOMAINS = 128
"""LAVD_CPDOM_MAX_NR of scx_lavd: the neighbours there can be at one distance."""
_STATIC_PAGES = 8
"""What the library's Rust half gives the arena to begin with."""

Words = Iterator[str]
"""Words of guest/scx/load.c, which says what each means."""


def _flags(*names: str) -> Words:
    return (f"+SCX_OPS_{name}" for name in names)


def _values(values: Mapping[str, int]) -> Words:
    return (f"{name}={value}" for name, value in values.items())


def _each(machine: Machine) -> range:
    return range(machine.nr_cpus)


def _array(name: str, numbers: Iterable[int]) -> str:
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


def _lavd_cpus(machine: Machine) -> tuple[list[int], list[int]]:
    """Return the order of CPUs for performance and the one for saving power."""
    nodes, llcs, cores = (_place(machine, level) for level in ("node", "llc", "core"))
    threads = {cpu: core for core in machine.groups("core") for cpu in core}

    def performance(cpu: int) -> tuple[int, ...]:
        core = threads[cpu]
        return core.index(cpu), nodes[cpu], llcs[cpu], len(core), cores[cpu], cpu

    def saving(cpu: int) -> tuple[int, ...]:
        core = threads[cpu]
        return nodes[cpu], llcs[cpu], cores[cpu], -len(core), core.index(cpu), cpu

    return sorted(_each(machine), key=performance), sorted(_each(machine), key=saving)


def _place(machine: Machine, level: Level) -> dict[int, int]:
    return {cpu: at for at, group in enumerate(machine.groups(level)) for cpu in group}


def _ring(start: int, others: Sequence[int]) -> list[int]:
    """Return domains at one distance, the nearest on both sides first."""
    ring = sorted([start, *others])
    own = ring.index(start)
    ahead = {domain: (at - own) % len(ring) for at, domain in enumerate(ring)}
    return sorted(others, key=lambda each: (min(ahead[each], len(ring) - ahead[each]), each))


def _domains(machine: Machine, order: Sequence[int]) -> Words:
    """Yield the CPUs of each cache in a node as a domain with its neighbours."""
    nodes, llcs = _place(machine, "node"), _place(machine, "llc")
    keys = list(dict.fromkeys((nodes[cpu], llcs[cpu]) for cpu in order))
    for number, (node, llc) in enumerate(keys):
        cpus = [cpu for cpu in order if (nodes[cpu], llcs[cpu]) == (node, llc)]
        near = [each for each, key in enumerate(keys) if key[0] == node and each != number]
        far = [each for each, key in enumerate(keys) if key[0] != node]
        rings = [_ring(number, each) for each in (near, far) if each]
        members = {"id": [number], "alt_id": [number], "numa_id": [node], "llc_id": [llc]}
        members |= {"is_big": [1], "is_valid": [1], "__cpumask": _mask(cpus)}
        members["nr_neighbors"] = [len(ring) for ring in rings]
        rows = ([*ring, *[0] * (_LAVD_DOMAINS - len(ring))] for ring in rings)
        members["neighbor_ids"] = [each for row in rows for each in row]
        for member, numbers in members.items():
            if numbers:
                yield _array(f"cpdom_ctxs[{number}].{member}", numbers)
    if len(keys) > 1:
        yield from ("&cond_hook_sys_enter_execve", "&cond_hook_sys_enter_execveat")


def _mask(cpus: Sequence[int]) -> list[int]:
    words = [0] * (max(cpus) // 64 + 1)
    for cpu in cpus:
        words[cpu // 64] |= 1 << cpu % 64
    return words


def _arena(machine: Machine) -> Words:
    """Yield what fills the library's arena: the machine as a tree, each node with its mask.

    A program answers the address of a mask there.
    """
    levels: list[Groups] = [(tuple(_each(machine)),)]
    levels += [machine.groups(level) for level in ("node", "llc", "core")]
    levels.append(tuple((cpu,) for cpu in _each(machine)))
    children = [
        max(sum(set(child) <= set(group) for child in below) for group in level)
        for level, below in pairwise(levels)
    ]
    yield f"arena_init:{_STATIC_PAGES},0,sizeof(task_ctx)"
    yield f"arena_topology_init:{','.join(map(str, (*children, 0)))}"
    for level in levels:
        for number, group in enumerate(level):
            yield from ("arena_alloc_mask:0,0", _array("%", _mask(group)))
            yield f"arena_topology_node_init:%,0,0,{number},0"


def _lavd(machine: Machine) -> Words:
    performance, saving = _lavd_cpus(machine)
    yield from _flags("ENQ_EXITING", "ENQ_LAST", "ENQ_MIGRATION_DISABLED", "KEEP_BUILTIN_IDLE")
    yield from ("-cpu_release", "&lavd_sched_switch")
    values = {"nr_llcs": len(machine.groups("llc")), "nr_cpu_ids": machine.nr_cpus}
    values |= {"is_smt_active": int(bool(_cores(machine))), "is_autopilot_on": 1, "no_use_em": 1}
    values |= {"slice_max_ns": 5 * _MS, "slice_min_ns": 500 * _US, "pinned_slice_ns": 5 * _MS}
    values |= {"preempt_shift": 6, "lat_load_target_pct": 100, "nr_pco_states": 2}
    yield from _values(values | {"lb_low_util_wall": 256, "lb_local_dsq_util_wall": 102})
    siblings = {a: b for core in _cores(machine) for a, b in (core[:2], core[1::-1])}
    yield from (_capacities(machine), _array("cpu_big", (1 for _ in _each(machine))))
    yield _array("cpu_sibling", (siblings.get(cpu, _NO_CPU) for cpu in _each(machine)))
    bounds = [_CAPACITY, *[_CAPACITY * machine.nr_cpus] * (_LAVD_STATES - 1)]
    yield from (_array("pco_bounds", bounds), _array("pco_nr_primary", [1] * _LAVD_STATES))
    for state in range(_LAVD_STATES):
        yield _array(f"pco_table[{state}].", performance if state else saving)
    yield from _domains(machine, performance)
    yield from _arena(machine)


SETUPS: dict[str, Callable[[Machine], Words]] = {
    "bpfland": _bpfland,
    "beerland": _beerland,
    "cosmos": _cosmos,
    "lavd": _lavd,
    "tickless": _tickless,
}


def set_up(scheduler: str, machine: Machine) -> list[str] | None:
    """Return the words for a scheduler on a machine, None for one that is not described here."""
    words = SETUPS.get(scheduler)
    return None if words is None else list(words(machine))
