"""How long the disk of a folder takes for what a commit waits for: a block and its flush."""

import os
import time
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from tempfile import TemporaryFile

from schedlab.machine.ledger import Entry
from schedlab.machine.model import Machine

_FIGURES = (("postgresql", "flush"), ("mariadb", "flush"))
"""What it stands for in a machine's file, by workload."""
_BLOCK = 8192
_BLOCKS = 256
"""Of the file, which is whole before it is measured, as a log is."""
_FLUSHES = 200


def flushes(folder: Path) -> list[int]:
    """Return how long so many flushes took in a folder, in ns, the shortest first; OSError."""
    block = bytes(_BLOCK)
    took = []
    with TemporaryFile(dir=folder, buffering=0) as file:
        file.write(block * _BLOCKS)
        os.fsync(file.fileno())
        for number in range(_FLUSHES):
            began = time.monotonic_ns()
            os.pwrite(file.fileno(), block, number % _BLOCKS * _BLOCK)
            os.fdatasync(file.fileno())
            took.append(time.monotonic_ns() - began)
    return sorted(took)


def with_disk(machine: Machine, took: list[int]) -> Machine:
    """Return the machine with what its disk took.

    Other work makes flushes longer, because whoever waits for one waits for a CPU as well: so the
    figure is what a tenth of them did not exceed, and its range is from the least to the median.
    """
    value, low, high = (took[len(took) * tenths // 10] for tenths in (1, 0, 5))
    source = f"measured here, {date.today().isoformat()}: 8 KiB written and fdatasync()"
    work: dict[str, Mapping[str, str | int]] = dict(machine.work)
    ledger = dict(machine.ledger)
    for workload, figure in _FIGURES:
        work[workload] = {**work.get(workload, {}), figure: f"{value}ns"}
        ledger[f"work.{workload}.{figure}"] = Entry(
            range=(f"{low}ns", f"{high}ns") if low < value < high else None, source=source
        )
    return machine.model_copy(update={"work": work, "ledger": ledger})
