"""The picture of a simulated run: what each CPU did in each part of it, read from its raw output.

The simulator takes one in the first block that counts, of every benchmark and variant.
"""

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

from pydantic import BeforeValidator, Field, model_validator

from schedlab.base.errors import OutsideError
from schedlab.base.files import parse_json, read_bytes
from schedlab.base.system.inside import followed
from schedlab.base.validation import KeptData, validate
from schedlab.result.record import RunRecord

PICTURED = 0
"""The block whose runs have a picture."""
RESULT = "result.json"
"""The file of a simulated run's raw output that holds it."""

_MOST_BYTES = 64 << 20
_MOST_CPUS = 1024
_MOST_BINS = 128
_MOST_GROUPS = 16
_LARGEST = 1 << 53
_ROW = re.compile(r"[0-9]{1,16}(?: [0-9]{1,16}){0,127}")

Row = tuple[int, ...]
"""Nanoseconds in each bin."""


def _row(text: object) -> Row:
    if not isinstance(text, str) or not _ROW.fullmatch(text):
        raise ValueError("1 to 128 numbers with one blank between them are expected")
    return tuple(map(int, text.split()))


_Row = Annotated[Row, BeforeValidator(_row)]
_Id = Annotated[int, Field(ge=0, lt=_MOST_CPUS)]
_Count = Annotated[int, Field(ge=0, le=_LARGEST)]


class CpuPicture(KeptData):
    """What one CPU did; a row that is missing is zero."""

    cpu: _Id
    core: _Id
    llc: _Id
    node: _Id
    waiting: _Row = ()
    idle: _Row = ()
    offline: _Row = ()
    busy: Annotated[Mapping[str, _Row], Field(max_length=_MOST_GROUPS)]

    @property
    def rows(self) -> list[Row]:
        """Return the rows of its time, and that of what waited."""
        return [row for row in (self.waiting, self.idle, self.offline, *self.busy.values()) if row]


class Picture(KeptData):
    """What all CPUs did, bin by bin, and which tasks moved between LLCs."""

    bin_ns: Annotated[int, Field(ge=1, le=_LARGEST)]
    bins: Annotated[int, Field(ge=1, le=_MOST_BINS)]
    cpus: Annotated[tuple[CpuPicture, ...], Field(min_length=1, max_length=_MOST_CPUS)]
    migrations: Annotated[
        tuple[tuple[_Id, _Id, _Count], ...], Field(max_length=_MOST_CPUS * _MOST_CPUS)
    ]
    """From which LLC to which, and how many tasks."""

    @model_validator(mode="after")
    def _check_rows(self) -> "Picture":
        for cpu in self.cpus:
            if any(len(row) != self.bins for row in cpu.rows):
                raise ValueError(f"CPU {cpu.cpu} has a row that is not of {self.bins} bins")
            spent = [row for row in (cpu.idle, cpu.offline, *cpu.busy.values()) if row]
            if any(sum(parts) > self.bin_ns for parts in zip(*spent, strict=True)):
                raise ValueError(f"CPU {cpu.cpu} did more in a bin than it has time")
        if len({cpu.cpu for cpu in self.cpus}) != len(self.cpus):
            raise ValueError("a CPU is there twice")
        return self


class Waits(KeptData):
    """How long woken tasks waited until they ran: `[from so many ns, tasks]`, rising."""

    count: _Count
    buckets: Annotated[tuple[tuple[_Count, _Count], ...], Field(max_length=512)]
    max_ns: _Count = 0
    """The longest; what keeps buckets alone knows its bucket."""

    @model_validator(mode="after")
    def _check_buckets(self) -> "Waits":
        starts = [start for start, _ in self.buckets]
        if starts != sorted(set(starts)) or sum(n for _, n in self.buckets) != self.count:
            raise ValueError("the buckets do not rise, or do not add up to the count")
        return self


class Pictured(KeptData):
    """What pictures are drawn from."""

    picture: Picture
    wakeup_latency: Waits
    """Of all tasks, the kernel's too."""
    task_wakeup_latency: Waits | None = None
    """Of the load's; earlier simulators do not say it."""

    @property
    def waits(self) -> Waits:
        """Return how long woken tasks waited, of the load's if that is known."""
        return self.task_wakeup_latency or self.wakeup_latency


def pictured(folder: Path, run: RunRecord) -> Pictured | None:
    """Return what was recorded of a run in a result's folder; None where there is nothing.

    Raises:
        UsageError: it is there, and is not what a simulator writes.
    """
    if not run.raw or run.status != "ok" or run.key.block != PICTURED:
        return None
    try:
        file = followed(folder, f"{run.raw}/{RESULT}", "raw")
    except (OSError, OutsideError):
        return None
    if not file.is_file():
        return None
    content = read_bytes(file, _MOST_BYTES)
    if b'"picture"' not in content:
        return None
    return validate(parse_json(content, file), Pictured, str(file))
