"""Where programs of a run are started and print, and whether the disk there is full."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.errors import HostError, IncompleteRun, SystemLost
from schedlab.base.system import LocalSystem, System

_FULL_BYTES = 64 << 10
"""Less than this is full: a file's last block, or what the failed write was too long for."""


@dataclass(frozen=True)
class Stage:
    """A machine and the folder of a run."""

    system: System
    folder: Path
    """Where output is kept."""
    place: Path | None = None
    """The folder programs run in, if not where we are."""


@contextmanager
def full_disk_said(system: System, folder: Path, scarce: int = 0) -> Iterator[None]:
    """Add to what fails inside a `with` block that the disk of a run's folder is full, if it is.

    What failed for lack of space may have been removed already; so it is said as well if fewer
    bytes than `scarce` are left.
    """
    try:
        yield
    except SystemLost:
        raise
    except (IncompleteRun, HostError) as error:
        disks = {
            f"of {folder}": LocalSystem(),
            "to which the runs' machine writes": system,
        }
        for which, where in disks.items():
            free = where.free_bytes(folder)
            if free is not None and free < _FULL_BYTES:
                raise type(error)(f"{error}; the file system {which} is full") from error
            if free is not None and free < scarce:
                left = f"has only {free >> 20} MB left"
                raise type(error)(f"{error}; the file system {which} {left}") from error
        raise
