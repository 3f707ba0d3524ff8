"""Removing a cgroup that the lab made: what is in it is ended first."""

import time
from contextlib import suppress

from schedlab.base.system import System

_SECONDS = 5.0
"""How long what was killed may take to leave its group."""
_POLL_SECONDS = 0.02


def remove_group(system: System, group: str) -> None:
    """End all that runs in a group of version 2, and remove it; OSError if it stays."""
    with suppress(OSError):  # the file came with Linux 5.14
        system.write(f"{group}/cgroup.kill", "1")
    deadline = time.monotonic() + _SECONDS
    while True:
        try:
            system.remove_folder(group)
            return
        except OSError:
            if time.monotonic() > deadline or not system.exists(group):
                raise
        time.sleep(_POLL_SECONDS)
