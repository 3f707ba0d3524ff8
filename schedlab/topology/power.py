"""Capacities, idle states and frequencies of each CPU, from /sys/devices/system/cpu."""

from collections.abc import Hashable, Mapping, Sequence
from typing import TypeVar

from schedlab.cpulist import format_cpulist
from schedlab.machine import Capacity, Frequency, Idle, IdleState
from schedlab.system import LocalSystem
from schedlab.topology.cpus import CPU, Groups, number
from schedlab.topology.sharing import sharing

_NO_FIGURE = 0xFFFFFFFF
"""What a driver that gives no power figure leaves in the unsigned file."""

Same = TypeVar("Same", bound=Hashable)


def capacities(system: LocalSystem, cpus: Sequence[int]) -> tuple[Capacity, ...]:
    """Give what the scheduler takes each CPU to compute, where the kernel shows it."""
    value = {cpu: number(system, f"{CPU}/cpu{cpu}/cpu_capacity") for cpu in cpus}
    return tuple(
        Capacity(cpus=format_cpulist(same), value=capacity)
        for capacity, same in _together(value).items()
        if capacity
    )


def idle_states(system: LocalSystem, cpus: Sequence[int]) -> tuple[Idle, ...]:
    """Give the idle states of each CPU, where it has cpuidle."""
    states = {
        cpu: tuple(
            _idle_state(system, folder)
            for folder in system.glob(f"{CPU}/cpu{cpu}/cpuidle/state[0-9]*")
        )
        for cpu in cpus
    }
    return tuple(
        Idle(cpus=format_cpulist(same), states=known)
        for known, same in _together(states).items()
        if known
    )


def frequencies(
    system: LocalSystem, cpus: Sequence[int], levels: Mapping[str, Groups]
) -> tuple[Frequency, ...]:
    """Give what each CPU can run at, where it has cpufreq; equal domains are written as one."""
    domains: dict[tuple[int, ...], Frequency] = {}
    for policy in system.glob(f"{CPU}/cpufreq/policy[0-9]*"):
        members = {int(word) for word in system.read_or(f"{policy}/affected_cpus", "").split()}
        domain = tuple(sorted(members & set(cpus)))
        if domain:
            domains[domain] = _frequency(system, policy)
    found: list[Frequency] = []
    for frequency, equal in _together(domains).items():
        level = sharing(equal, levels)
        if level and len(equal) > 1:
            joined = format_cpulist(cpu for domain in equal for cpu in domain)
            found.append(frequency.model_copy(update={"cpus": joined, "shared_by": level}))
        else:
            found += [
                frequency.model_copy(update={"cpus": format_cpulist(domain)}) for domain in equal
            ]
    return tuple(found)


def _idle_state(system: LocalSystem, folder: str) -> IdleState:
    power = number(system, f"{folder}/power")
    name = system.read_or(f"{folder}/name", folder.rpartition("/")[2])
    desc = system.read_or(f"{folder}/desc", "")
    return IdleState(
        name=name,
        desc="" if desc == name else desc,
        exit_us=number(system, f"{folder}/latency") or 0,
        residency_us=number(system, f"{folder}/residency") or 0,
        power_mw=power if power and 0 < power < _NO_FIGURE else None,
    )


def _frequency(system: LocalSystem, policy: str) -> Frequency:
    opps = system.read_or(f"{policy}/scaling_available_frequencies", "").split()
    return Frequency(
        cpus="",
        min_khz=number(system, f"{policy}/cpuinfo_min_freq") or None,
        max_khz=number(system, f"{policy}/cpuinfo_max_freq") or None,
        opps_khz=tuple(sorted({int(word) for word in opps if word.isdecimal()})),
    )


Key = TypeVar("Key")


def _together(values: Mapping[Key, Same]) -> dict[Same, list[Key]]:
    """Turn a value for each key into the keys of each value."""
    keys: dict[Same, list[Key]] = {}
    for key, value in values.items():
        keys.setdefault(value, []).append(key)
    return keys
