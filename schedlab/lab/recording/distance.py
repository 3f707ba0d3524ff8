"""How far apart two CPUs of a machine are."""

from collections.abc import Callable

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
