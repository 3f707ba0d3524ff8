"""How fast tasks ran: the speed of each CPU, and what busy SMT siblings leave of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from schedlab.base.cpulist import parse_cpulist
from schedlab.lab.recording.events import Events, Kind, Numbers
from schedlab.machine.model import Machine

Reals = NDArray[np.float64]


@dataclass(frozen=True)
class Speeds:
    """Of a machine's CPUs."""

    alone: Mapping[int, float] = field(default_factory=dict)
    """Of each CPU with nothing else on its core, against the fastest; 1 where it is not here."""
    cores: Sequence[Sequence[int]] = ()
    """CPUs that are siblings."""
    beside: Sequence[float] = (1.0,)
    """What is left with 0, 1, 2, ... busy siblings."""


def speeds(machine: Machine | None) -> Speeds:
    """Return the speeds of a machine; without one all CPUs are alike, and none has siblings."""
    if not machine:
        return Speeds()
    alone: dict[int, float] = {}
    for kind in machine.cpu:
        speed = kind.speed or (kind.capacity or 1024) / 1024
        alone |= dict.fromkeys(parse_cpulist(kind.cpus), float(speed))
    cores = [core for core in machine.groups("core") if len(core) > 1]
    beside = tuple(map(float, machine.smt.speed)) if machine.smt else (1.0,)
    return Speeds(alone, cores, beside)


class Pace:
    """How much work each CPU could have done, up to any moment of a trace.

    An idle sibling counts as one that takes nothing: a trace does not tell whether it polls. What
    tasks did at a time depends on the situation: the speed of their CPU, and how many of its
    siblings were busy.
    """

    def __init__(self, events: Events, given: Speeds) -> None:
        cpus = int(events.cpu.max()) + 1
        alone = np.array([given.alone.get(cpu, 1.0) for cpu in range(cpus)])
        self._speeds, self._kind = np.unique(alone, return_inverse=True)
        self._beside = np.array(given.beside)
        self._shared: dict[int, tuple[Numbers, Reals]] = {}
        self.expected: Reals = np.outer(self._speeds, self._beside).ravel()
        """How fast tasks are in each situation."""
        self._by_group: Reals | None = None
        if all(share == 1.0 for share in given.beside):
            return
        switch = events.of(Kind.SWITCH)
        of_cpu = events.cpu[switch]
        for core in given.cores:
            there = switch[np.isin(of_cpu, np.array(core))]
            there = there[np.argsort(events.ns[there], kind="stable")]
            if len(there):
                self._add_core(events, core, there)

    def _add_core(self, events: Events, core: Sequence[int], switch: Numbers) -> None:
        at = np.concatenate([events.ns[:1], events.ns[switch], events.ns[-1:]])
        lasts = np.diff(at)
        busy = {cpu: _busy_after(events, cpu, switch) for cpu in core}
        total = np.sum([busy[cpu] for cpu in core], axis=0)
        most = len(self._beside) - 1
        for cpu in (cpu for cpu in core if cpu < len(self._kind)):
            others = np.minimum(total - busy[cpu], most)
            each = lasts * (others == np.arange(most + 1)[:, None])
            done = np.concatenate([np.zeros((most + 1, 1)), np.cumsum(each, axis=1)], axis=1)
            self._shared[cpu] = (at, done)

    def situations(self, cpu: Numbers, since: Numbers, until: Numbers) -> Reals:
        """Return how long each situation lasted between two moments of a CPU, ns."""
        width = len(self._beside)
        found = np.zeros((len(cpu), len(self.expected)))
        first = self._kind[cpu] * width
        found[np.arange(len(cpu)), first] = until - since
        for which, (at, done) in self._shared.items():
            own = np.flatnonzero(cpu == which)
            for beside in range(width):
                lasted = np.interp(until[own], at, done[beside])
                lasted -= np.interp(since[own], at, done[beside])
                found[own, first[own] + beside] = lasted
        return found

    def named(self, situation: int) -> dict[str, float | int]:
        """Return what a situation is."""
        kind, beside = divmod(situation, len(self._beside))
        return {"speed": float(self._speeds[kind]), "busy_siblings": beside}

    def know(self, by_group: Reals) -> None:
        """Take how fast the tasks of each group are in each situation from counters."""
        self._by_group = by_group

    def work(self, cpu: Numbers, since: Numbers, until: Numbers, group: Numbers) -> Reals:
        """Return how much work tasks of groups could have done, in ns of the fastest CPU."""
        if not self._shared and self._by_group is None:
            alone: Reals = (until - since) * self._speeds[self._kind[cpu]] * self._beside[0]
            return alone
        fast = self.expected if self._by_group is None else self._by_group[group]
        found: Reals = (self.situations(cpu, since, until) * fast).sum(axis=1)
        return found


def _busy_after(events: Events, cpu: int, switch: Numbers) -> Numbers:
    """Return whether a CPU ran a task from the trace's start and after each switch of its core."""
    own = events.cpu[switch] == cpu
    if not np.any(own):
        return np.zeros(len(switch) + 1, np.int64)
    before = int(events.one[switch[np.argmax(own)]] != 0)
    after = (events.two[switch] != 0).astype(np.int64)
    last = np.maximum.accumulate(np.where(own, np.arange(len(switch)), -1))
    return np.concatenate([[before], np.where(last >= 0, after[np.maximum(last, 0)], before)])
