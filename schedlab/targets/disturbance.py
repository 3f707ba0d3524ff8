"""How busy the machine is with other work, before a run and during it."""

import time

from schedlab.base.system import System
from schedlab.counters.procstat import machine_busy_seconds


class BusyWindow:
    """A stretch of time in which the machine's busy time is measured."""

    def __init__(self, system: System, cpus: int) -> None:
        self._system = system
        self._cpus = cpus
        self._began = time.monotonic()
        self._busy = machine_busy_seconds(system)

    def others_share(self, own_cpu_seconds: float = 0.0) -> float:
        """Return the share (0..1 of all CPUs) that others used since the window began."""
        seconds = machine_busy_seconds(self._system) - self._busy - own_cpu_seconds
        elapsed = time.monotonic() - self._began
        return min(max(seconds / (elapsed * self._cpus), 0.0), 1.0) if elapsed > 0 else 0.0
