"""The machine we stand on, from sysfs and procfs."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from pydantic import ValidationError

from schedlab.base.cpulist import format_cpulist
from schedlab.base.errors import HostError
from schedlab.base.system import System
from schedlab.base.validation import first_problem
from schedlab.machine import caches, cpus, identity, idle, nodes, power
from schedlab.machine.cpus import Groups, written
from schedlab.machine.levels import all_levels
from schedlab.machine.model import Machine

_SYS = "/sys/devices/system"
_READ = (
    *(f"{_SYS}/cpu", f"{_SYS}/node", "/proc/cpuinfo", "/proc/meminfo"),
    *("/proc/sys/kernel/arch", "/proc/device-tree/model"),
)

SOURCES = {
    "arch": "uname -m",
    "processor": "/proc/cpuinfo",
    "memory_gib": "/proc/meminfo MemTotal, rounded",
    "cpus": f"{_SYS}/cpu/online",
    "cpu": (
        f"capacity: {_SYS}/cpu/cpu*/cpu_capacity\n"
        f"frequencies: {_SYS}/cpu/cpufreq/policy*/{{cpuinfo_min_freq,cpuinfo_max_freq,\n"
        "  scaling_available_frequencies,cpuinfo_transition_latency,scaling_governor}"
    ),
    "topology.core": f"{_SYS}/cpu/cpu*/topology/core_cpus_list",
    "topology.cluster": f"{_SYS}/cpu/cpu*/topology/cluster_cpus_list",
    "topology.llc": f"{_SYS}/cpu/cpu*/cache/index*/shared_cpu_list, highest level",
    "topology.package": f"{_SYS}/cpu/cpu*/topology/package_cpus_list",
    "topology.node": f"{_SYS}/node/node*/cpulist",
    "topology.distance": f"{_SYS}/node/node*/distance",
    "topology.node_numbers": f"{_SYS}/node/online",
    "topology.node_memory_mib": f"{_SYS}/node/node*/meminfo MemTotal",
    "idle.governor": f"{_SYS}/cpu/cpuidle/current_governor",
    "idle.state": f"{_SYS}/cpu/cpu*/cpuidle/state*/{{name,desc,latency,residency,power}}",
    "cache": f"{_SYS}/cpu/cpu*/cache/index*/{{level,type,size,shared_cpu_list}}",
}
"""Where each figure that a host has comes from, by key path."""


@dataclass(frozen=True)
class Description:
    """A machine as its kernel describes it."""

    machine: Machine
    offline: tuple[int, ...]
    sources: Mapping[str, str] = field(default_factory=lambda: SOURCES)
    """Where each figure comes from, by key path."""

    def to_toml(self) -> str:
        """Write the machine's file, each figure with its source, and what the host hides."""
        return self.machine.to_toml(self.sources, self._header())

    def _header(self) -> str:
        machine = self.machine
        parts = {
            "last-level caches (no cpu*/cache)": machine.topology.llc,
            f"NUMA nodes (no {_SYS}/node)": machine.topology.node,
            "CPU capacities (no cpu_capacity)": any(cpu.capacity for cpu in machine.cpu),
            "frequencies (no cpufreq)": any(cpu.max_mhz for cpu in machine.cpu),
            "idle states (no cpuidle)": machine.idle.state,
        }
        missing = [words for words, figures in parts.items() if not figures]
        lines = ["Written by `schedlab machine --here`. This host does not show:"]
        if not missing:
            lines = ["Written by `schedlab machine --here`."]
        lines += [f"  {words}" for words in missing]
        if self.offline:
            lines.append(f"Offline and so not described: CPUs {format_cpulist(self.offline)}.")
        return "\n".join(lines)


def describe(system: System) -> Description:
    """Return the machine `system` stands on.

    Raises:
        HostError: sysfs cannot be read, or what it says cannot be.
    """
    system = system.snapshot(_READ)
    try:
        return Description(_machine(system), cpus.offline(system))
    except ValidationError as error:
        raise HostError(
            f"this host's sysfs describes no machine: {first_problem(error, Machine)}."
            "\n  Firmware or hypervisor may report it wrongly; compare `lscpu -e`."
        ) from error
    except ValueError as error:
        raise HostError(f"this host's sysfs holds what no kernel writes: {error}") from error


def _machine(system: System) -> Machine:
    online = cpus.online(system)
    sharing = _levels(system, online)
    found = caches.read(system, online)
    if llc := caches.last_level(found):
        sharing["llc"] = llc
    levels = all_levels(online, sharing)
    processor = identity.processor(system)
    board = identity.board(system)
    packages = len(sharing.get("package", ())) or 1
    title = f"{packages}x {processor}" if packages > 1 else processor
    topology = {
        **{level: written(groups) for level, groups in sharing.items()},
        **nodes.read(system, online),
    }
    return Machine.model_validate(
        {
            "name": f"{identity.slug(board or processor)}-{len(online)}-cpus",
            "title": f"{board}: {title}" if board else title,
            "arch": identity.architecture(system),
            "processor": processor,
            "memory_gib": identity.memory_gib(system),
            "cpus": format_cpulist(online),
            "topology": topology,
            "cpu": power.read(system, online, levels),
            "idle": idle.read(system, online),
            "cache": caches.kinds(found, levels),
        }
    )


def _levels(system: System, online: tuple[int, ...]) -> dict[str, Groups]:
    """Return the levels that topology/ has; those that say nothing are left out.

    Clusters of single CPUs or of one core each are what the kernel shows where it knows none.
    """
    single = tuple((cpu,) for cpu in online)
    cores = cpus.groups(system, online, "core_cpus_list", "thread_siblings_list")
    clusters = cpus.groups(system, online, "cluster_cpus_list")
    packages = cpus.groups(system, online, "package_cpus_list", "core_siblings_list")
    levels = {"core": cores, "package": packages}
    if clusters not in (single, cores):
        levels["cluster"] = clusters
    return {level: groups for level, groups in levels.items() if groups}
