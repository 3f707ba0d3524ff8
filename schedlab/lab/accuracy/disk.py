"""How long the disk of a folder takes for what a commit waits for: a block and its flush."""

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryFile

from schedlab.base.errors import UsageError
from schedlab.lab.accuracy.real_time import real_time
from schedlab.machine.ledger import Entry
from schedlab.machine.model import Machine

_WORKLOADS = ("postgresql", "mariadb")
"""Whose logs are written so; each has a figure `flush` and one `flush_work`."""
_BLOCK = 8192
_BLOCKS = 256
"""Of the file, which is whole before it is measured, as a log is."""
_FLUSHES = 200
_CYCLES_PER_NS_AND_MHZ = 1e-3


@dataclass(frozen=True)
class Flushes:
    """What flushes took, in ns, the shortest first."""

    took: list[int]
    worked: list[int]
    """CPU time."""
    undisturbed: bool
    """Made by a real-time task: other work did not make it wait for a CPU."""


def flushes(folder: Path) -> Flushes:
    """Time so many flushes in a folder; OSError."""
    with TemporaryFile(dir=folder, buffering=0) as file:
        file.write(bytes(_BLOCK * _BLOCKS))
        os.fsync(file.fileno())
        try:
            with real_time():
                return _timed(file.fileno(), undisturbed=True)
        except UsageError:
            return _timed(file.fileno(), undisturbed=False)


def _timed(file: int, *, undisturbed: bool) -> Flushes:
    block, took, worked = bytes(_BLOCK), [], []
    for number in range(_FLUSHES):
        began, had = time.monotonic_ns(), time.thread_time_ns()
        os.pwrite(file, block, number % _BLOCKS * _BLOCK)
        os.fdatasync(file)
        worked.append(time.thread_time_ns() - had)
        took.append(time.monotonic_ns() - began)
    return Flushes(sorted(took), sorted(worked), undisturbed)


def with_disk(machine: Machine, found: Flushes) -> Machine:
    """Return the machine with what its disk took, and the CPU for it.

    Without the right to be a real-time task, other work makes flushes longer, because whoever waits
    for one waits for a CPU as well: then the figure is what a tenth of them did not exceed, and its
    range is from the least to the median.
    """
    tenths = (5, 1, 9) if found.undisturbed else (1, 0, 5)
    source = f"measured here, {date.today().isoformat()}: 8 KiB written and fdatasync()"
    took = [f"{ns}ns" for ns in _at(found.took, tenths)]
    worked = [_cycles(machine, ns) for ns in _at(found.worked, tenths)]
    work: dict[str, Mapping[str, str | int]] = dict(machine.work)
    ledger = dict(machine.ledger)
    for workload in _WORKLOADS:
        work[workload] = {**work.get(workload, {}), "flush": took[0], "flush_work": worked[0]}
        ledger[f"work.{workload}.flush"] = _entry(took, source)
        ledger[f"work.{workload}.flush_work"] = _entry(worked, f"{source}: its CPU time, in cycles")
    return machine.model_copy(update={"work": work, "ledger": ledger})


def _at(sorted_: list[int], tenths: tuple[int, ...]) -> list[int]:
    return [sorted_[len(sorted_) * each // 10] for each in tenths]


def _cycles(machine: Machine, ns: int) -> int:
    assert machine.core
    return round(ns * machine.core.mhz * _CYCLES_PER_NS_AND_MHZ)


def _entry(found: list[str] | list[int], source: str) -> Entry:
    value, low, high = found
    return Entry(range=(low, high) if len({value, low, high}) == 3 else None, source=source)
