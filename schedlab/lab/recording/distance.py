"""How far apart two CPUs of a machine are, and how fast each is."""

from collections.abc import Callable

from schedlab.base.cpulist import parse_cpulist
from schedlab.machine.levels import LEVELS
from schedlab.machine.model import Machine

_NAMES = {"core": "SMT sibling", "cluster": "same cluster", "llc": "same LLC"}
_NAMES |= {"package": "same package", "node": "same node"}
_FAR, _UNKNOWN = "further", "other CPU"


def mover(machine: Machine | None) -> Callable[[int, int], str]:
    """Return what names the distance of a move; without a machine all are alike."""
    if not machine:
        return lambda _before, _after: _UNKNOWN
    levels = [(level, machine.groups(level)) for level in LEVELS]
    within = [
        (_NAMES[level], {cpu: at for at, group in enumerate(groups) for cpu in group})
        for level, groups in sorted(levels, key=lambda item: -len(item[1]))
    ]

    def name(before: int, after: int) -> str:
        for words, group in within:
            if before in group and group[before] == group.get(after):
                return words
        return _FAR

    return name


def speeds(machine: Machine | None) -> Callable[[int], float]:
    """Return what tells the speed of a CPU against the fastest, with nothing else on its core."""
    if not machine:
        return lambda _cpu: 1.0
    found: dict[int, float] = {}
    for kind in machine.cpu:
        speed = kind.speed or (kind.capacity or 1024) / 1024
        found |= dict.fromkeys(parse_cpulist(kind.cpus), float(speed))
    return lambda cpu: found.get(cpu, 1.0)
