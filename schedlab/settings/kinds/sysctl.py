"""Sysctls: `kernel.numa_balancing = 0`."""

import re
from collections.abc import Iterator

from schedlab.base.system import System
from schedlab.settings.knob import FileKnob, Knob
from schedlab.settings.setting import Simulated, TableSetting, WithoutEffect, setting
from schedlab.settings.text import KnobName, Value

_TIED = (
    ("vm/dirty_bytes", "vm/dirty_ratio"),
    ("vm/dirty_background_bytes", "vm/dirty_background_ratio"),
    ("vm/overcommit_kbytes", "vm/overcommit_ratio"),
)
"""One limit in two units: to write one sets the other to 0."""

FOLDER = "/proc/sys/"

MEMORY_TIERS = "it is about memory of different speed, and all simulated memory is of one kind"

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


def _without_effect(name: str, reason: str, *series: str) -> WithoutEffect:
    return WithoutEffect(name, reason, series, knob(name).path)


@setting
class Sysctl(TableSetting):
    """Values of sysctls."""

    rank = 10
    name = key = "sysctl"
    value = dict[KnobName, Value]
    syntax = "sysctl NAME=VALUE"
    example = "sysctl kernel.numa_balancing=0"
    toml = 'sysctl = { "kernel.numa_balancing" = 0 }'
    help = "a sysctl"
    without_effect = (
        _without_effect(
            "kernel.numa_balancing_promote_rate_limit_MBps", MEMORY_TIERS, "6.12", "7.2", "7.3"
        ),
    )

    def knobs(self, system: System, value: dict[str, str]) -> Iterator[tuple[Knob, str]]:
        """Yield the file of each."""
        return ((knob(name), wanted) for name, wanted in value.items())

    def simulated(self, value: dict[str, str]) -> Iterator[Simulated]:
        """Yield the file of each."""
        for name, wanted in value.items():
            path, label = knob(name).path, knob(name).label
            yield Simulated("knobs", path, wanted, label, wanted, path)
