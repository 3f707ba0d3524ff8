"""Sysctls: `kernel.numa_balancing = 0`."""

import re

from schedlab.settings.knob import FileKnob, Knob
from schedlab.system import System

_TIED = (
    ("vm/dirty_bytes", "vm/dirty_ratio"),
    ("vm/dirty_background_bytes", "vm/dirty_background_ratio"),
    ("vm/overcommit_kbytes", "vm/overcommit_ratio"),
)
"""One limit in two units: to write one sets the other to 0."""

FOLDER = "/proc/sys/"


_EXCHANGED = str.maketrans("./", "/.")


def knob(name: str) -> FileKnob:
    """Return the knob of a sysctl as sysctl(8) names it: the first of `.` and `/` parts folders."""
    first = re.search(r"[./]", name)
    path = name.translate(_EXCHANGED) if first and first[0] == "." else name
    return FileKnob(f"{FOLDER}{path}", path.translate(_EXCHANGED))


def tied(system: System, turned: Knob) -> FileKnob | None:
    """Return the knob that the kernel clears when this one is written, if there is one."""
    for pair in _TIED:
        for path, other in (pair, pair[::-1]):
            if turned.path == FOLDER + path and system.exists(FOLDER + other):
                return knob(other)
    return None
