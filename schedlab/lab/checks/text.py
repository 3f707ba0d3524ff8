"""Values that the files of checks are made of: times, lists of CPUs, patterns of names."""

import re
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.validation import Data

_TIME = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ns|us|ms|s)")
_NS = {"ns": 1, "us": 1_000, "ms": 1_000_000, "s": 1_000_000_000}
_LONGEST_NS = 86400 * _NS["s"]


class CheckData(Data, strict=True):
    """A table of a check's file, whose values are of the types asked for as they stand."""


def nanoseconds(value: object) -> object:
    """Return a simulated time such as `10ms` in nanoseconds; a ValueError where it is not one."""
    match = _TIME.fullmatch(value) if isinstance(value, str) else None
    if not match:
        raise ValueError(f"{value!r} is not a time; write it as 500us, 10ms or 1.5s")
    taken = round(float(match[1]) * _NS[match[2]])
    if taken > _LONGEST_NS:
        raise ValueError(f"{value!r} is too long; the most is a day")
    return taken


def written(ns: float) -> str:
    """Write a simulated time for people."""
    for unit in ("s", "ms", "us"):
        if abs(ns) >= _NS[unit]:
            return f"{ns / _NS[unit]:.4g} {unit}"
    return f"{ns:.4g} ns"


def _cpus(text: str) -> str:
    if text not in KINDS and not parse_cpulist(text):
        raise ValueError(f"'{text}' names no CPU; write 0-3,8, biggest or smallest")
    return text


KINDS = ("biggest", "smallest")
"""CPUs by their capacity, whatever the machine's numbers for them are."""

Time = Annotated[int, BeforeValidator(nanoseconds)]
"""A simulated time, in nanoseconds."""

Cpus = Annotated[str, AfterValidator(_cpus)]
"""A list of CPUs, or one of KINDS."""

Pattern = Annotated[str, Field(min_length=1, max_length=64)]
"""Names of tasks, with * and ? as a shell has them."""
