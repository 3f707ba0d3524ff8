"""A machine as the simulator reads it: the keys it knows, at the paths they have in the file.

What only the lab uses (processor, memory, who shares a cache) is left out, so that
the simulator's errors name keys of the user's own file. It checks what only it needs: which costs
there are, symmetric distances, speeds of SMT threads.
"""

from collections.abc import Iterator
from typing import Any

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.errors import UsageError, nearest
from schedlab.machine.model import CacheKinds, Cpu, Groups, Machine, Powers

ARCHITECTURES = (
    *("aarch64", "armv7l", "i686", "loongarch64", "ppc64", "ppc64le", "riscv64", "s390x", "x86_64"),
    "unknown",
)
"""As `uname -m` prints them. The kernel's defaults go by them, so another spelling is refused."""

_POWERS = ("power_mw", "change_mw", "cluster_mw")
"""Of an idle state: the simulator has them beside the CPUs they are of."""

_UNTOLD_TRANSITION = "1ms"
"""What the kernel takes where the driver reports none: CPUFREQ_DEFAULT_TRANSITION_LATENCY_NS."""


_ELSEWHERE = {
    *("processor", "memory_gib", "setup", "cycles", "ledger"),
    *("cpus", "topology", "cpu", "idle", "cache", "core", "cost", "work"),
}
"""Fields that the simulator does not read, and those that are written for it key by key."""
_OF_A_DOMAIN = {
    *("cpus", "min_mhz", "max_mhz", "shared_by"),
    *("opp", "transition", "fast_switch", "governor"),
}
"""Fields of CPUs that belong to their frequency domain, or to the lab alone."""


def description(machine: Machine, where: str = "") -> dict[str, Any]:
    """Return the machine's description for the simulator, ready for JSON.

    Raises:
        UsageError: it is a machine the simulator has no words for; `where` says whose file it is.
    """
    where = where or machine.name
    if machine.arch and machine.arch not in ARCHITECTURES:
        raise UsageError(
            f"{where}: arch: '{machine.arch}' is not an architecture as `uname -m` prints it."
            f"{nearest(machine.arch, ARCHITECTURES)}\n  There are: {', '.join(ARCHITECTURES)}."
        )
    data = machine.model_dump(mode="json", exclude_defaults=True, exclude=_ELSEWHERE)
    if machine.core:
        data["core"] = {"mhz": machine.core.mhz}
    if costs := machine.costs():
        data["cost"] = costs
    if machine.work:
        data["work"] = {name: dict(figures) for name, figures in machine.work.items()}
    data["topology"] = _topology(machine, where)
    if machine.cpu:
        data["cpu"] = [
            {**entry, **_idle_powers(machine, index)}
            for index, cpu in enumerate(machine.cpu)
            for entry in _cpu_entries(machine, cpu)
        ]
    if machine.idle.state:
        _check_idle(machine, where)
        data["idle"] = machine.idle.model_dump(
            mode="json", exclude_defaults=True, exclude={"state": {"__all__": {"desc", *_POWERS}}}
        )
    below_last, first = machine.cache.below_last(), machine.cache.first()
    sizes = {
        "l1": _only_size(first) if first != below_last else None,
        "l2": _size("l2", below_last, where),
        "llc": _size("llc", machine.cache.last_level(), where),
    }
    data["cache"] = {name: size for name, size in sizes.items() if size}
    return data


def _topology(machine: Machine, where: str) -> dict[str, Any]:
    if machine.cpus != format_cpulist(range(machine.nr_cpus)):
        raise UsageError(
            f"{where}: cpus: the simulator numbers CPUs from 0 without holes; {machine.cpus}"
            " has some. Renumber them in all lists of the file."
        )
    if "" in machine.topology.node:
        raise UsageError(f"{where}: topology.node: the simulator has no nodes without CPUs.")
    topology: dict[str, Any] = {
        "cpus": machine.nr_cpus,
        "core": _lists(machine.groups("core")),
        "llc": _lists(machine.groups("llc")),
        "package": _lists(machine.groups("package")),
        "node": _lists(machine.groups("node")),
    }
    topology |= machine.topology.model_dump(
        mode="json", exclude_defaults=True, exclude={*topology, "node_numbers"}
    )
    return topology


def _cpu_entries(machine: Machine, cpu: Cpu) -> Iterator[dict[str, Any]]:
    """Return an entry for each set of CPUs that change frequency together."""
    entry = cpu.model_dump(mode="json", exclude_defaults=True, exclude=_OF_A_DOMAIN)
    if not cpu.opp:
        yield {"cpus": cpu.cpus, **entry}
        return
    entry |= cpu.model_dump(
        mode="json", exclude_defaults=True, include={"opp", "fast_switch", "governor"}
    )
    entry["transition"] = cpu.transition or _UNTOLD_TRANSITION
    for domain in _domains(machine, cpu):
        yield {"cpus": domain, **entry}


def _idle_powers(machine: Machine, index: int) -> dict[str, list[float]]:
    """Return what CPUs of an entry take in each idle state, where the file has it of all."""
    states = machine.idle.state
    if not machine.cpu[index].opp or not states or any(s.power_mw is None for s in states):
        return {}

    def own(powers: Powers | None, missing: float) -> float:
        if powers is None:
            return missing
        return powers[index] if isinstance(powers, tuple) else powers

    shallowest = own(states[0].power_mw, 0)
    return {
        "idle_mw": [own(state.power_mw, 0) for state in states],
        "change_mw": [own(state.change_mw, shallowest) for state in states],
        "cluster_idle_mw": [own(state.cluster_mw, 0) for state in states],
    }


def _domains(machine: Machine, cpu: Cpu) -> list[str]:
    members = parse_cpulist(cpu.cpus)
    match cpu.shared_by:
        case None | "machine":
            return [cpu.cpus]
        case "cpu":
            return _lists(tuple((member,) for member in members))
        case level:
            inside = set(members)
            return _lists(tuple(g for g in machine.groups(level) if inside.issuperset(g)))


def _check_idle(machine: Machine, where: str) -> None:
    for index, state in enumerate(machine.idle.state):
        if state.cpus is not None:
            raise UsageError(
                f"{where}: idle.state[{index}].cpus: in the simulator all CPUs have the same"
                " idle states. Choose the states of one kind of CPU in the file."
            )


def _size(name: str, kinds: CacheKinds, where: str) -> str | None:
    sizes = _sizes(kinds)
    if len(sizes) > 1:
        raise UsageError(
            f"{where}: cache.{name}: {' and '.join(sorted(sizes))}; the simulator has one"
            " size for all CPUs. Choose one in the file."
        )
    return sizes.pop() if sizes else None


def _only_size(kinds: CacheKinds) -> str | None:
    """Return the size of a level that may be left out: nothing, where its caches differ."""
    sizes = _sizes(kinds)
    return sizes.pop() if len(sizes) == 1 else None


def _sizes(kinds: CacheKinds) -> set[str]:
    return {kind.size for kind in kinds if kind.size}


def _lists(groups: Groups) -> list[str]:
    return [format_cpulist(group) for group in groups]
