"""Which CPUs of a machine an experiment on one core's threads takes."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.errors import UsageError

if TYPE_CHECKING:
    from schedlab.machine.model import Machine

Core = tuple[int, ...]


ROLES = ("workload", "irritators", "waker")


@dataclass(frozen=True)
class Placement:
    """A thread that works, the CPUs beside it that are disturbed, and who disturbs them."""

    workload: int
    irritators: tuple[int, ...]
    waker: int
    smt: bool
    """The irritators' CPUs are the workload's SMT siblings."""

    def roles(self) -> Mapping[str, str]:
        """Return the CPUs of each role, as a list."""
        cpus = (str(self.workload), format_cpulist(self.irritators), str(self.waker))
        return dict(zip(ROLES, cpus, strict=True))

    def described(self) -> str:
        """Return which task is placed where, and what the machine lacks for the experiment."""
        text = (
            f"workload on CPU {self.workload}, irritators on {format_cpulist(self.irritators)},"
            f" waker on {self.waker}"
        )
        if not self.smt:
            text += (
                "; no SMT: no idle state of theirs gives the workload more of a core,"
                " what is left to see is the latency"
            )
        if self.waker == self.workload:
            text += "; no third CPU: the waker sleeps on a timer and takes the workload's time"
        return text


def checked_cpus(text: str, where: str) -> str:
    """Return a list of CPUs or a role as it is; UsageError naming `where` if it is neither."""
    if text not in ROLES:
        try:
            parse_cpulist(text)
        except ValueError as error:
            roles = ", ".join(ROLES)
            raise UsageError(f"{where}: {error}. A role is accepted too: {roles}.") from None
    return text


def cpus_of(text: str, machine: "Machine", where: str) -> str:
    """Return a list of CPUs, or those of a role; UsageError naming `where` if it has no such."""
    if checked_cpus(text, where) in ROLES:
        return place(machine).roles()[text]
    cpus = parse_cpulist(text)
    missing = [cpu for cpu in cpus if cpu not in parse_cpulist(machine.cpus)]
    if missing or not cpus:
        which = f"CPU {format_cpulist(missing)}" if missing else "CPU ''"
        raise UsageError(f"{where}: {machine.name} has no {which}; it has {machine.cpus}.")
    return text


def place(machine: "Machine") -> Placement:
    """Choose a core whose first thread works while its others are disturbed from another core.

    Raises:
        UsageError: the machine has one CPU only.
    """
    cores = list(_apart(machine))
    first = next((core for core in cores if len(core) > 1), None)
    if first:
        others = [core for core in cores if core != first]
        # A lone core's last thread is the waker; where that leaves no sibling, it shares a CPU.
        waker = others[0][0] if others else first[-1] if len(first) > 2 else first[0]
        siblings = tuple(cpu for cpu in first[1:] if cpu != waker)
        return Placement(first[0], siblings, waker, smt=True)
    cpus = [core[0] for core in cores]
    # CPUs of one cache are alike, where those of another may be of another kind.
    near = next(cache for cache in machine.groups("llc") if cpus[0] in cache)
    cpus = sorted(cpus, key=lambda cpu: cpu not in near)
    if len(cpus) < 2:
        raise UsageError(
            f"{machine.name} has one CPU; the workload and the irritators need one each."
        )
    return Placement(cpus[0], (cpus[1],), cpus[2] if len(cpus) > 2 else cpus[0], smt=False)


def _apart(machine: "Machine") -> Iterator[Core]:
    """Yield the cores of one node, those that have a last-level cache of their own first.

    The machine's first core, where interrupts tend to go, comes last, with its cache's others.
    """
    caches = machine.groups("llc")
    node = machine.groups("node")[0]
    cores = [core for core in machine.groups("core") if core[0] in node]
    fresh = [caches.index(cache) for cache in caches[1:]]
    cache_of = {cpu: index for index, cache in enumerate(caches) for cpu in cache}
    alone: list[Core] = []
    for core in cores:
        if cache_of[core[0]] in fresh:
            fresh.remove(cache_of[core[0]])
            alone.append(core)
    rest = [core for core in cores if core not in alone]
    yield from [*alone, *rest[1:], *rest[:1]]
