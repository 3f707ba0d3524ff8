"""CPU lists as the kernel writes them: `0-3,8,10-11`."""

import re
from collections.abc import Iterable
from functools import lru_cache

MOST_CPUS = 8192
"""The kernel's own limit (NR_CPUS on x86 and arm64 with MAXSMP)."""

_LIST = re.compile(r"\s*\d+(-\d+)?(\s*,\s*\d+(-\d+)?)*\s*")


# A machine's few lists are read for each of its hundreds of benchmarks and sizes.
@lru_cache(maxsize=4096)
def parse_cpulist(text: str) -> tuple[int, ...]:
    """Return the CPUs of a list, ascending.

    Raises:
        ValueError: the text is not a CPU list, names a CPU twice, or one that no kernel can have.
    """
    if not text.strip():
        return ()
    if not _LIST.fullmatch(text):
        raise ValueError(f"'{text}' is not a CPU list; write it as 0-3,8")
    cpus: list[int] = []
    for part in text.split(","):
        first, _, last = part.strip().partition("-")
        low, high = _cpu(first), _cpu(last or first)
        if high < low:
            raise ValueError(f"'{part.strip()}' runs backwards")
        cpus.extend(range(low, high + 1))
    if len(set(cpus)) != len(cpus):
        raise ValueError(f"'{text}' names a CPU twice")
    return tuple(sorted(cpus))


def _cpu(digits: str) -> int:
    if len(digits) > len(str(MOST_CPUS)) or int(digits) >= MOST_CPUS:
        shown = digits if len(digits) <= 20 else f"{digits[:17]}..."
        raise ValueError(f"CPU {shown} is beyond the {MOST_CPUS} a kernel can have")
    return int(digits)


def format_cpulist(cpus: Iterable[int]) -> str:
    """Write CPUs as the kernel does, ranges folded."""
    ranges: list[list[int]] = []
    for cpu in sorted(cpus):
        if ranges and cpu == ranges[-1][1] + 1:
            ranges[-1][1] = cpu
        else:
            ranges.append([cpu, cpu])
    return ",".join(str(a) if a == b else f"{a}-{b}" for a, b in ranges)
