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

    An idle sibling counts as one that takes nothing: a trace does not tell whether it polls.
    """

    def __init__(self, events: Events, given: Speeds) -> None:
        cpus = int(events.cpu.max()) + 1
        self._alone = np.array([given.alone.get(cpu, 1.0) for cpu in range(cpus)])
        self._shared: dict[int, tuple[Numbers, Reals]] = {}
        if all(share == 1.0 for share in given.beside):
            return
        switch = events.of(Kind.SWITCH)
        of_cpu = events.cpu[switch]
        for core in given.cores:
            there = switch[np.isin(of_cpu, np.array(core))]
            there = there[np.argsort(events.ns[there], kind="stable")]
            if len(there):
                self._add_core(events, core, there, given.beside)

    def _add_core(
        self, events: Events, core: Sequence[int], switch: Numbers, beside: Sequence[float]
    ) -> None:
        at = np.concatenate([events.ns[:1], events.ns[switch], events.ns[-1:]])
        lasts = np.diff(at)
        busy = {cpu: _busy_after(events, cpu, switch) for cpu in core}
        total = np.sum([busy[cpu] for cpu in core], axis=0)
        left = np.array(beside)
        for cpu in (cpu for cpu in core if cpu < len(self._alone)):
            others = np.minimum(total - busy[cpu], len(left) - 1)
            done = np.concatenate([[0.0], np.cumsum(lasts * left[others])])
            self._shared[cpu] = (at, done * self._alone[cpu])

    def work(self, cpu: Numbers, since: Numbers, until: Numbers) -> Reals:
        """Return how much work CPUs could have done between two moments, in ns of the fastest."""
        found: Reals = (until - since) * self._alone[cpu]
        for which, (at, done) in self._shared.items():
            own = np.flatnonzero(cpu == which)
            found[own] = np.interp(until[own], at, done) - np.interp(since[own], at, done)
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
