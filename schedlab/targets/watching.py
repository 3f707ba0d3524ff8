"""One machine watched around a run: other work on it, its clock, what it counts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from schedlab.base.errors import HostError, IncompleteRun
from schedlab.base.system import Launch, System
from schedlab.counters.choice import CounterChoice
from schedlab.counters.group import Counts, difference
from schedlab.counters.perf_stat import PerfStat
from schedlab.targets.companion import await_end, await_ready
from schedlab.targets.disturbance import BusyWindow

_CLOCK_STEP_SECONDS = 0.5
"""A wall clock that moves this much against the monotonic one was set; tools time with it."""
_PERF_SECONDS = 10.0
"""What perf may take to begin to count, and to write what it counted."""
_GATE = 'mkfifo "$1" && exec cat "$1" >/dev/null'
"""Goes on until somebody has written into the gate."""
_OPEN = 'echo >"$1"'


class Watched:
    """A machine that is watched from before a run to its end."""

    def __init__(self, system: System, cpus: int, counters: CounterChoice) -> None:
        self._system = system
        self._cpus = cpus
        self._counters = counters
        self._window = BusyWindow(system, cpus)
        self.busy_before = self.busy_during = 0.0
        self.beside = 0.0
        """CPU seconds that what ran beside the run used: its server."""

    def begin(self) -> None:
        """Begin to count: the run is about to start."""
        self.busy_before = self._window.others_share()
        self._earlier = [(group, group.read(self._system)) for group in self._counters.snapshots]
        self._window = BusyWindow(self._system, self._cpus)
        self._clock = self._system.clock_offset()
        self._beside = self._system.beside_cpu_seconds()

    def end(self, own_cpu_seconds: float) -> None:
        """Measure, at a run's end, what was not the run's own."""
        self.beside = self._system.beside_cpu_seconds() - self._beside
        self.busy_during = self._window.others_share(own_cpu_seconds + self.beside)

    def check_clock(self) -> None:
        """Refuse a run during which the clock was set."""
        step = self._system.clock_offset() - self._clock
        if abs(step) > _CLOCK_STEP_SECONDS:
            raise IncompleteRun(f"the clock was set by {step:+.1f} s during the run")

    def counts(self, perf_report: Path) -> Counts:
        """Return what was counted since the run began."""
        counted: Counts = {}
        for group, earlier in self._earlier:
            now = group.read(self._system)
            counted |= difference(earlier, now, group.ranges(self._system))
        if self._counters.perf:
            counted |= self._counters.perf.read(perf_report)
        return counted


@contextmanager
def counted_by_perf(
    system: System, perf: PerfStat | None, folder: Path, env: Mapping[str, str]
) -> Iterator[None]:
    """Count with perf inside a `with` block on a machine whose load comes from another one.

    Raises:
        HostError: perf does not begin, or does not end.
    """
    if perf is None:
        yield
        return
    gate, report = system.place(folder / "gate"), system.place(folder / "perf.csv")
    argv = perf.wrap(("sh", "-c", _GATE, "sh", gate), report)
    output = folder / "perf"
    launch = Launch(
        argv, output.with_suffix(".stdout.txt"), output.with_suffix(".stderr.txt"), dict(env)
    )
    with system.beside(launch) as child:
        await_ready(child, "perf stat", _PERF_SECONDS, lambda: system.exists(gate))
        yield
        done = system.capture(("sh", "-c", _OPEN, "sh", gate), timeout=_PERF_SECONDS)
        if done.returncode:
            raise HostError(f"perf stat ended before the run did: {done.stderr.strip()[:200]}")
        await_end(child, "perf stat", _PERF_SECONDS)
    (folder / "gate").unlink(missing_ok=True)
