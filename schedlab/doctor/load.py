"""What else runs here: measured over half a second, with the busiest processes by name."""

import contextlib
import os
import re
import time
from collections.abc import Iterator
from dataclasses import dataclass

from schedlab.base.system import System
from schedlab.base.system.numbers import whole
from schedlab.doctor.finding import Finding

WINDOW_SECONDS = 0.5
_BUSY_SHARE = 0.02
"""Of all CPUs; above it, other work is part of most results."""
_PRESSURE_PERCENT = 5.0
_SHOWN = 3


@dataclass(frozen=True)
class _Sample:
    """CPU time so far, in clock ticks."""

    busy: int
    total: int
    processes: dict[tuple[int, str], int]


def check(system: System) -> Iterator[Finding]:
    """Measure other load, and read what the kernel remembers of it."""
    before = _sample(system)
    time.sleep(WINDOW_SECONDS)
    yield _busy(before, _sample(system))
    yield from _pressure(system)


def _sample(system: System) -> _Sample:
    fields = system.read_or("/proc/stat", "").partition("\n")[0].split()[1:9]
    ticks = [whole(field, "/proc/stat") for field in fields]
    idle = sum(ticks[3:5])
    return _Sample(sum(ticks) - idle, sum(ticks), dict(_processes(system)))


def _processes(system: System) -> Iterator[tuple[tuple[int, str], int]]:
    """Yield the CPU time of each process but ourselves; those that end meanwhile are left out."""
    for path in system.glob("/proc/[0-9]*/stat"):
        pid = int(path.split("/")[2])
        if pid == os.getpid():
            continue
        with contextlib.suppress(OSError, ValueError, IndexError):
            head, _, tail = system.read(path).rpartition(")")
            fields = tail.split()
            yield (pid, head.partition("(")[2]), int(fields[11]) + int(fields[12])


def _busy(before: _Sample, after: _Sample) -> Finding:
    window = after.total - before.total
    if window <= 0:
        return Finding("other load", "note", "/proc/stat does not show how busy the CPUs are")
    share = (after.busy - before.busy) / window
    if share < _BUSY_SHARE:
        return Finding("other load", "ok", f"the CPUs are {share:.1%} busy")
    used = {key: ticks - before.processes.get(key, ticks) for key, ticks in after.processes.items()}
    top = sorted((key for key in used if used[key] > 0), key=lambda key: -used[key])[:_SHOWN]
    names = ", ".join(f"{name} ({pid}) {used[pid, name] / window:.1%}" for pid, name in top)
    return Finding(
        "other load",
        "warning",
        f"the CPUs are {share:.1%} busy with other work" + (f": {names}" if names else ""),
        "it takes CPUs away in the middle of a run; the lab records it but cannot remove it",
        "end or stop it; on a desktop, log out and use a text console",
    )


def _pressure(system: System) -> Iterator[Finding]:
    loads = system.read_or("/proc/loadavg", "").split()
    average = f"load average {' '.join(loads[:3])}" if loads else "no load average"
    waits = {name: _some(system, name) for name in ("cpu", "memory", "io")}
    high = [f"{name} {share:g} %" for name, share in waits.items() if share >= _PRESSURE_PERCENT]
    if high:
        yield Finding(
            "pressure",
            "warning",
            f"{average}; tasks waited in the last 10 s for {', '.join(high)}",
            "something still competes for these; the first blocks of an experiment suffer",
            "wait until /proc/pressure/* calms down",
        )
    else:
        yield Finding("pressure", "ok", average)


def _some(system: System, name: str) -> float:
    match = re.search(r"^some avg10=([\d.]+)", system.read_or(f"/proc/pressure/{name}", ""))
    return float(match[1]) if match else 0.0
