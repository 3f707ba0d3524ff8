"""Drawing what is not known of a machine: one machine a block, within the ranges of its ledger.

A draw is a position from 0 to 1 for each uncertain figure. It says how likely a smaller figure is:
figures lie in a triangle on a logarithmic scale, which has its peak at the value and its ends at
the ends of the range (docs/internals/statistics.md).
"""

import hashlib
import math
from collections.abc import Mapping
from typing import Any

from schedlab.machine.ledger import at, number, put
from schedlab.machine.model import Machine

Draw = Mapping[str, float]
"""Positions by the key paths of figures."""


def draw(machine: Machine, seed: int) -> Draw:
    """Return the draw of a seed; a figure's position does not depend on which others there are."""
    return {
        key: _uniform(f"{seed}/{entry.moves_with or key}")
        for key, entry in machine.ledger.items()
        if entry.range is not None and entry.range[0] != entry.range[1]
    }


def about(positions: Draw, workload: str) -> Draw:
    """Return the positions that a run of a workload depends on: no other program's figures."""
    own = f"work.{workload}."
    return {
        key: position
        for key, position in positions.items()
        if not key.startswith("work.") or key.startswith(own)
    }


def drawn(machine: Machine, positions: Draw) -> Machine:
    """Return the machine with its uncertain figures at these positions of their ranges."""
    table = machine.model_dump(mode="json", exclude_defaults=True, exclude={"ledger"})
    for key, position in positions.items():
        entry = machine.ledger[key]
        if entry.range is not None:
            put(table, key, figure_at(at(table, key), *entry.range, position))
    return Machine.model_validate(table)


def figure_at(value: Any, low: Any, high: Any, position: float) -> Any:
    """Return a figure between its ends; of several numbers, all at the same position."""
    if low == high:
        return value
    if isinstance(value, Mapping):
        return {key: figure_at(value[key], low[key], high[key], position) for key in value}
    if isinstance(value, list | tuple):
        inner = zip(value, low, high, strict=True)
        return [figure_at(*each, position) for each in inner]
    found = _quantile(number(low), number(value), number(high), position)
    match value:
        case str():
            return f"{round(found)}{_unit(value)}"
        case int():
            return round(found)
    return round(found, 6)


def _unit(value: str) -> str:
    """Return the unit that number() counts in."""
    if value.endswith("B/s"):
        return "MB/s"
    return "KiB" if value.endswith("iB") else "ns"


def _quantile(low: float, peak: float, high: float, position: float) -> float:
    """Return the figure below which a triangular draw stays with this probability."""
    if low > 0:
        return math.exp(_triangular(math.log(low), math.log(peak), math.log(high), position))
    return _triangular(low, peak, high, position)


def _triangular(low: float, peak: float, high: float, position: float) -> float:
    width = high - low
    if position * width < peak - low:
        return low + math.sqrt(position * width * (peak - low))
    return high - math.sqrt((1 - position) * width * (high - peak))


def _uniform(text: str) -> float:
    """Return a number from 0 to 1 that depends on the text alone."""
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8]) / 2**64
