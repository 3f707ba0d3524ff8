"""Where programs of a run are started and print, and whether the disk there is full."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from schedlab.base.errors import HostError, IncompleteRun, SystemLost
from schedlab.base.system import System

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
def full_disk_said(folder: Path) -> Iterator[None]:
    """Add to what fails inside a `with` block that the folder's file system is full, if it is."""
    try:
        yield
    except (IncompleteRun, HostError) as error:
        if isinstance(error, SystemLost) or not _is_full(folder):
            raise
        raise type(error)(f"{error}; the file system of {folder} is full") from error


def _is_full(folder: Path) -> bool:
    try:
        there = os.statvfs(folder)
    except OSError:
        return False
    return there.f_bavail * there.f_frsize < _FULL_BYTES
