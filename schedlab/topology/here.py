"""The machine we stand on, from sysfs and procfs."""

from dataclasses import dataclass

from pydantic import ValidationError

from schedlab.cpulist import format_cpulist
from schedlab.errors import HostError
from schedlab.machine import Machine
from schedlab.system import LocalSystem
from schedlab.topology import caches, cpus, identity, nodes, power
from schedlab.topology.cpus import Groups, written
from schedlab.topology.sharing import all_levels
from schedlab.validation import first_problem

SOURCES = {
    "arch": "uname -m",
    "processor": "/proc/cpuinfo",
    "memory_gib": "/proc/meminfo MemTotal, rounded",
    "cpus": "/sys/devices/system/cpu/online",
    "topology": "One list of CPUs a group; where `core` is left out, every CPU is a core (no SMT).",
    "topology.core": "/sys/devices/system/cpu/cpu*/topology/core_cpus_list",
    "topology.cluster": "/sys/devices/system/cpu/cpu*/topology/cluster_cpus_list",
    "topology.llc": "/sys/devices/system/cpu/cpu*/cache/index*/shared_cpu_list, highest level",
    "topology.package": "/sys/devices/system/cpu/cpu*/topology/package_cpus_list",
    "topology.node": "/sys/devices/system/node/node*/cpulist",
    "numa.distances": "/sys/devices/system/node/node*/distance",
    "numa.numbers": "/sys/devices/system/node/online",
    "numa.memory_mib": "/sys/devices/system/node/node*/meminfo MemTotal",
    "cache": "/sys/devices/system/cpu/cpu*/cache/index*/{level,type,size,shared_cpu_list}",
    "capacity": "/sys/devices/system/cpu/cpu*/cpu_capacity",
    "idle": "/sys/devices/system/cpu/cpu*/cpuidle/state*/{name,desc,latency,residency,power}",
    "frequency": (
        "/sys/devices/system/cpu/cpufreq/policy*/"
        "{cpuinfo_min_freq,cpuinfo_max_freq,scaling_available_frequencies}"
    ),
}
"""Where each figure of such a machine comes from, by key path."""

_UNTOLD = {
    "llc": "last-level caches (no cpu*/cache)",
    "node": "NUMA nodes (no /sys/devices/system/node)",
    "capacity": "CPU capacities (no cpu_capacity)",
    "idle": "idle states (no cpuidle)",
    "frequency": "frequencies (no cpufreq)",
}


@dataclass(frozen=True)
class Description:
    """A machine as its kernel describes it."""

    machine: Machine
    offline: tuple[int, ...]

    def to_toml(self) -> str:
        """Write the machine's file, each figure with its source, and what the host hides."""
        return self.machine.to_toml(SOURCES, self._header())

    def _header(self) -> str:
        machine = self.machine
        told = {
            "llc": machine.topology.llc,
            "node": machine.topology.node,
            "capacity": machine.capacity,
            "idle": machine.idle,
            "frequency": machine.frequency,
        }
        untold = [words for key, words in _UNTOLD.items() if not told[key]]
        lines = ["Written by `schedlab machine --here`. Not told by this host:"]
        if not untold:
            lines = ["Written by `schedlab machine --here`."]
        lines += [f"  {words}" for words in untold]
        if self.offline:
            lines.append(f"Offline and so not described: CPUs {format_cpulist(self.offline)}.")
        return "\n".join(lines)


def describe(system: LocalSystem) -> Description:
    """Give the machine `system` stands on.

    Raises:
        HostError: sysfs cannot be read, or what it says cannot be.
    """
    try:
        return Description(_machine(system), cpus.offline(system))
    except ValidationError as error:
        raise HostError(
            f"this host's sysfs describes no machine: {first_problem(error, Machine)}."
            "\n  Firmware or hypervisor may tell it wrong; compare `lscpu -e`."
        ) from error
    except ValueError as error:
        raise HostError(f"this host's sysfs holds what no kernel writes: {error}") from error


def _machine(system: LocalSystem) -> Machine:
    online = cpus.online(system)
    told = _levels(system, online)
    found = caches.read(system, online)
    if llc := caches.last_level(found):
        told["llc"] = llc
    numa = nodes.read(system, online)
    levels = all_levels(online, told)
    processor = identity.processor(system)
    board = identity.board(system)
    packages = len(told.get("package", ())) or 1
    title = f"{packages}x {processor}" if packages > 1 else processor
    topology = {
        **{level: written(groups) for level, groups in told.items()},
        "node": numa.cpus,
    }
    if told.get("core") == levels["cpu"]:
        del topology["core"]
    return Machine.model_validate(
        {
            "name": f"{identity.slug(board or processor)}-{len(online)}-cpus",
            "title": f"{board}: {title}" if board else title,
            "arch": identity.architecture(system),
            "processor": processor,
            "memory_gib": identity.memory_gib(system),
            "cpus": format_cpulist(online),
            "topology": topology,
            "numa": numa.numa,
            "cache": caches.kinds(found, levels),
            "capacity": power.capacities(system, online),
            "idle": power.idle_states(system, online),
            "frequency": power.frequencies(system, online, levels),
        }
    )


def _levels(system: LocalSystem, online: tuple[int, ...]) -> dict[str, Groups]:
    """Give the levels that topology/ tells; those that say nothing are left out.

    Clusters of single CPUs or of one core each are what the kernel shows where it knows none.
    """
    single = tuple((cpu,) for cpu in online)
    cores = cpus.groups(system, online, "core_cpus_list", "thread_siblings_list")
    clusters = cpus.groups(system, online, "cluster_cpus_list")
    packages = cpus.groups(system, online, "package_cpus_list", "core_siblings_list")
    told = {"core": cores, "package": packages}
    if clusters not in (single, cores):
        told["cluster"] = clusters
    return {level: groups for level, groups in told.items() if groups}
