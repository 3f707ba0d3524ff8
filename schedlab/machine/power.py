"""Capacity and frequencies of each CPU, from /sys/devices/system/cpu."""

from collections.abc import Mapping, Sequence

from schedlab.base.cpulist import format_cpulist
from schedlab.base.system import System
from schedlab.machine.cpus import CPU, Groups, number, together
from schedlab.machine.levels import sharing
from schedlab.machine.model import Cpu, OperatingPoint

_UNKNOWN_TRANSITION = 0xFFFFFFFF
"""CPUFREQ_ETERNAL: the driver does not know."""


def read(system: System, cpus: Sequence[int], levels: Mapping[str, Groups]) -> tuple[Cpu, ...]:
    """Return what each CPU can do, where the kernel shows it; CPUs that are alike in one entry."""
    policies = _policies(system, cpus)
    kinds = {cpu: _kind(system, cpu, policies.get(cpu)) for cpu in cpus}
    found: list[Cpu] = []
    for kind, alike in together(kinds).items():
        if kind == Cpu(cpus=""):
            continue
        domains = [
            tuple(domain) for domain in together({cpu: policies.get(cpu) for cpu in alike}).values()
        ]
        level = sharing(domains, levels) if len(domains) > 1 else None
        for members in [tuple(alike)] if level else domains:
            update = {"cpus": format_cpulist(members), "shared_by": level}
            found.append(kind.model_copy(update=update))
    return tuple(found)


def _policies(system: System, cpus: Sequence[int]) -> dict[int, str]:
    """Return the folder of each CPU's frequency domain."""
    found: dict[int, str] = {}
    for policy in system.glob(f"{CPU}/cpufreq/policy[0-9]*"):
        members = {int(word) for word in system.read_or(f"{policy}/affected_cpus", "").split()}
        found.update({cpu: policy for cpu in cpus if cpu in members})
    return found


def _kind(system: System, cpu: int, policy: str | None) -> Cpu:
    """Return everything but the CPUs."""
    capacity = number(system, f"{CPU}/cpu{cpu}/cpu_capacity")
    if policy is None:
        return Cpu(cpus="", capacity=capacity)
    rates = system.read_or(f"{policy}/scaling_available_frequencies", "").split()
    khz = sorted({int(word) for word in rates if word.isdecimal()})
    transition = number(system, f"{policy}/cpuinfo_transition_latency")
    governor = system.read_or(f"{policy}/scaling_governor", "")
    return Cpu(
        cpus="",
        capacity=capacity,
        min_mhz=_mhz(number(system, f"{policy}/cpuinfo_min_freq")),
        max_mhz=_mhz(number(system, f"{policy}/cpuinfo_max_freq")),
        opp=tuple(OperatingPoint(mhz=_mhz(rate) or 0) for rate in khz),
        transition=f"{transition}ns"
        if transition is not None and 0 <= transition < _UNKNOWN_TRANSITION
        else None,
        governor=governor if governor == "schedutil" or governor == "performance" else None,
    )


def _mhz(khz: int | None) -> int | float | None:
    if not khz:
        return None
    return khz // 1000 if khz % 1000 == 0 else khz / 1000
