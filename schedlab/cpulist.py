"""CPU lists as the kernel writes them: `0-3,8,10-11`."""

import re
from collections.abc import Iterable

_LIST = re.compile(r"\s*\d+(-\d+)?(\s*,\s*\d+(-\d+)?)*\s*")


def parse_cpulist(text: str) -> tuple[int, ...]:
    """Give the CPUs of a list, ascending.

    Raises:
        ValueError: the text is no CPU list, or names a CPU twice.
    """
    if not text.strip():
        return ()
    if not _LIST.fullmatch(text):
        raise ValueError(f"'{text}' is no CPU list; write it as 0-3,8")
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        low, high = int(first), int(last or first)
        if high < low:
            raise ValueError(f"'{part.strip()}' runs backwards")
        cpus.extend(range(low, high + 1))
    if len(set(cpus)) != len(cpus):
        raise ValueError(f"'{text}' names a CPU twice")
    return tuple(sorted(cpus))


def format_cpulist(cpus: Iterable[int]) -> str:
    """Write CPUs as the kernel does, ranges folded."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
