"""Which CPUs there are and how they are grouped, from /sys/devices/system/cpu."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import TypeVar

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.errors import HostError
from schedlab.base.system import System

CPU = "/sys/devices/system/cpu"
Groups = tuple[tuple[int, ...], ...]
Same = TypeVar("Same", bound=Hashable)


def online(system: System) -> tuple[int, ...]:
    """Return the CPUs that are online; HostError if sysfs does not say."""
    try:
        return parse_cpulist(system.read(f"{CPU}/online"))
    except OSError as error:
        raise HostError(
            f"{CPU}/online: {error.strerror}. Is sysfs mounted? `mount -t sysfs sysfs /sys`"
        ) from error


def offline(system: System) -> tuple[int, ...]:
    """Return the CPUs that are present but switched off."""
    present = parse_cpulist(system.read_or(f"{CPU}/present", ""))
    return tuple(cpu for cpu in present if cpu not in set(online(system)))


def groups(system: System, cpus: Sequence[int], *names: str) -> Groups:
    """Return the groups of a level; `names` are its file in topology/, the newest name first.

    Empty where no CPU says. A CPU that does not say, among others that do, stands alone.
    """
    lists: dict[int, tuple[int, ...]] = {}
    for cpu in cpus:
        for name in names:
            text = system.read_or(f"{CPU}/cpu{cpu}/topology/{name}", "")
            if text:
                lists[cpu] = parse_cpulist(text)
                break
    if not lists:
        return ()
    return distinct(lists.get(cpu, (cpu,)) for cpu in cpus)


def distinct(lists: Iterable[tuple[int, ...]]) -> Groups:
    """Return every list once, in the order of their first CPUs."""
    return tuple(sorted(set(lists)))


def together(values: Mapping[int, Same]) -> dict[Same, list[int]]:
    """Turn a value for each CPU into the CPUs of each value."""
    cpus: dict[Same, list[int]] = {}
    for cpu, value in values.items():
        cpus.setdefault(value, []).append(cpu)
    return cpus


def written(found: Groups) -> tuple[str, ...]:
    """Write groups as a machine file holds them."""
    return tuple(format_cpulist(group) for group in found)


def number(system: System, path: str) -> int | None:
    """Return a whole number from a file, or None where there is none."""
    text = system.read_or(path, "")
    return int(text) if text.removeprefix("-").isdecimal() else None
