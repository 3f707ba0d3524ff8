"""The host's cgroups: where they are mounted, and how one that the lab made is removed."""

import time
from contextlib import suppress

from schedlab.base.system import System

_SECONDS = 5.0
"""How long what was killed may take to leave its group."""
_POLL_SECONDS = 0.02


def mounts(system: System, controller: str = "") -> tuple[str, str]:
    """Return where version 2 and the controller's version 1 are mounted; empty where not."""
    v2 = v1 = ""
    for line in system.read_or("/proc/self/mounts", "").splitlines():
        fields = line.split()
        if len(fields) < 4:
            continue
        if fields[2] == "cgroup2":
            v2 = v2 or fields[1]
        elif fields[2] == "cgroup" and controller in fields[3].split(","):
            v1 = v1 or fields[1]
    return v2, v1


def remove_group(system: System, group: str) -> None:
    """End all that runs in a group of version 2, and remove it; OSError if it stays."""
    with suppress(OSError):  # the file came with Linux 5.14
        system.write(f"{group}/cgroup.kill", "1")
    deadline = time.monotonic() + _SECONDS
    while True:
        system.capture(("find", group, "-mindepth", "1", "-depth", "-type", "d", "-delete"))
        try:
            system.remove_folder(group)
            return
        except OSError:
            if time.monotonic() > deadline or not system.exists(group):
                raise
        time.sleep(_POLL_SECONDS)
