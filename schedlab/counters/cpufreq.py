"""cpufreq: how long CPUs were at each frequency, and how often it changed."""

from collections.abc import Iterable, Mapping, Sequence
from typing import TypeVar

from schedlab.base.cpulist import format_cpulist
from schedlab.base.system import System
from schedlab.base.system.numbers import amount, whole
from schedlab.counters.group import Counts, SnapshotGroup, Unavailable, counter_group
from schedlab.counters.meaning import Meaning, Topic

_NAME = "cpufreq"
_POLICIES = "/sys/devices/system/cpu/cpufreq/policy[0-9]*"
_TICKS_PER_SECOND = 100
"""Of time_in_state: USER_HZ, fixed in the kernel's interface."""

Each = TypeVar("Each")


@counter_group(42)
class CpufreqGroup(SnapshotGroup):
    """Seconds at each frequency, and changes, of CPUs with the same frequencies."""

    name = subsystem = _NAME
    simulated = (f"{_NAME}:",)
    summary = "time at each frequency and its changes; domains with the same frequencies summed"
    meanings = (
        Meaning(f"{_NAME}:cpu*:*:seconds", Topic.FREQUENCY, "time of CPUs {} at {}"),
        Meaning(f"{_NAME}:cpu*:transitions", Topic.FREQUENCY, "frequency of CPUs {} changed"),
    )

    def read(self, system: System) -> Counts:
        """Read every policy's `time_in_state` (kHz and 10 ms) and `total_trans`."""
        found = []
        for policy in system.glob(_POLICIES):
            table = system.read_or(f"{policy}/stats/time_in_state", "")
            rows = [line.split() for line in table.splitlines() if line.strip()]
            if rows:
                file = f"{policy}/stats/time_in_state"
                spent = {
                    whole(khz, file) / 1e3: amount(ticks, file) / _TICKS_PER_SECOND
                    for khz, ticks, *_ in rows
                }
                changes = amount(system.read(f"{policy}/stats/total_trans"), policy)
                cpus = system.read_or(f"{policy}/related_cpus", "").split()
                found.append((spent, changes, [whole(cpu, policy) for cpu in cpus]))
        if not found:
            raise Unavailable(
                "this host keeps no times of frequencies (CONFIG_CPU_FREQ_STAT; intel_pstate and"
                " amd-pstate have none)"
            )
        counts: Counts = {}
        for name, alike in by_frequencies([(tuple(s), cpus, (s, n)) for s, n, cpus in found]):
            for spent, changes in alike:
                add_domain(counts, name, spent, changes)
        return counts


def by_frequencies(
    domains: Sequence[tuple[tuple[float, ...], Iterable[int], Each]],
) -> list[tuple[str, list[Each]]]:
    """Return frequency domains that have the same frequencies together, named by their CPUs."""
    alike: dict[tuple[float, ...], tuple[list[int], list[Each]]] = {}
    for points, cpus, domain in domains:
        numbers, members = alike.setdefault(tuple(sorted(points)), ([], []))
        numbers.extend(cpus)
        members.append(domain)
    return [(f"cpu{format_cpulist(numbers)}", members) for numbers, members in alike.values()]


def add_domain(counts: Counts, name: str, spent: Mapping[float, float], changes: float) -> None:
    """Add a domain's seconds at each frequency in MHz, and its changes, to those of its kind."""
    for mhz, seconds in spent.items():
        key = f"{_NAME}:{name}:{mhz:g}MHz:seconds"
        counts[key] = counts.get(key, 0.0) + seconds
    key = f"{_NAME}:{name}:transitions"
    counts[key] = counts.get(key, 0.0) + changes
