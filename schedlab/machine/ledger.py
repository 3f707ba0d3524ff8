"""The ledger of a machine: how sure each of its figures is, where it comes from, what set it.

A file writes such a figure as a table: `tick = { value = "1.2us", range = ["1us", "2us"],
source = "..." }`. The machine keeps the value where it always is, and the rest here, by key path.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

from pydantic import Field

from schedlab.base.errors import nearest
from schedlab.base.validation import Data

NOT_GIVEN = "not given"
"""The source of a figure whose file says none."""

_KEYS = ("value", "range", "source", "rows", "moves_with")
_QUANTITY = re.compile(r"(\d+(?:\.\d+)?) ?(ns|us|ms|s|KiB|MiB|GiB|MB/s|GB/s)")
_BASE = {
    **{"ns": 1.0, "us": 1e3, "ms": 1e6, "s": 1e9},
    **{"KiB": 1.0, "MiB": 1024.0, "GiB": 1024.0**2},
    **{"MB/s": 1.0, "GB/s": 1e3},
}
_KINDS = {"ns": "time", "us": "time", "ms": "time", "s": "time", "MB/s": "rate", "GB/s": "rate"}


class Entry(Data):
    """What is known about a figure beside its value."""

    range: tuple[Any, Any] | None = None
    """The least and the most it can be; None for what is a fact, or said without a range."""
    source: str = Field(default=NOT_GIVEN, min_length=1)
    rows: tuple[str, ...] = ()
    """The published rows that were looked at to set it: `DOCUMENT/LABEL`, or one metric's of them:
    `DOCUMENT/LABEL/METRIC`."""
    moves_with: str | None = None
    """The figure that is drawn for this one too: both stand for one fact of the machine."""


Ledger = Mapping[str, Entry]
"""Entries by the figures' key paths: `cost.tick`, `cpu[0].speed`, `idle.state[1].exit`."""


def lifted(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return a machine's table with plain values, and its figures' entries under `ledger`.

    Raises:
        ValueError: a figure has no value, or a key that figures do not have.
    """
    entries: dict[str, Any] = {}

    def plain(value: Any, path: str) -> Any:
        if isinstance(value, Mapping):
            if "value" in value:
                entries[path] = _entry(value, path)
                return value["value"]
            return {
                key: plain(inner, f"{path}.{key}" if path else key) for key, inner in value.items()
            }
        if isinstance(value, list):
            return [plain(inner, f"{path}[{index}]") for index, inner in enumerate(value)]
        return value

    kept = {key: plain(value, key) for key, value in data.items() if key != "ledger"}
    ledger = data.get("ledger", {})
    if not entries:
        return {**kept, "ledger": ledger} if ledger else kept
    return {**kept, "ledger": {**ledger, **entries}}


def _entry(figure: Mapping[str, Any], path: str) -> dict[str, Any]:
    for key in figure:
        if key not in _KEYS:
            raise ValueError(
                f"{path}: unknown key '{key}' of a figure.{nearest(key, _KEYS)}"
                f" Known: {', '.join(_KEYS)}."
            )
    return {key: value for key, value in figure.items() if key != "value"}


def problems(ledger: Ledger, machine: Mapping[str, Any]) -> Iterator[str]:
    """List what does not fit: ranges without their value, ties to figures without a range."""
    for key, entry in ledger.items():
        try:
            value = at(machine, key)
        except LookupError:
            yield f"ledger: {key} is not a key of this machine"
            continue
        if entry.range is not None:
            yield from _range_problems(key, value, *entry.range)
        if entry.moves_with is not None:
            other = ledger.get(entry.moves_with)
            if other is None or other.range is None or other.moves_with:
                yield (
                    f"{key}.moves_with: '{entry.moves_with}' is not a figure with a range of its"
                    f" own.{nearest(entry.moves_with, ledger)}"
                )
            elif entry.range is None:
                yield f"{key}.moves_with: needs a range as well"


def _range_problems(key: str, value: Any, low: Any, high: Any) -> Iterator[str]:
    try:
        triples = list(_leaves(value, low, high))
    except ValueError:
        yield f"{key}.range: must be [lowest, highest], each written as the value is"
        return
    for number, least, most in triples:
        if not (math.isfinite(least) and math.isfinite(most)):
            yield f"{key}.range: an end is not a finite number"
            return
        if not least <= number <= most:
            yield f"{key}.range: the value is not between its ends"
            return


def _leaves(value: Any, low: Any, high: Any) -> Iterator[tuple[float, float, float]]:
    """Return the numbers of a value with their ends; ValueError where the shapes differ."""
    if isinstance(value, Mapping):
        if not isinstance(low, Mapping) or not isinstance(high, Mapping):
            raise ValueError
        given = {key for key, inner in value.items() if inner is not None}
        if given != set(low) or given != set(high):
            raise ValueError
        for key in given:
            yield from _leaves(value[key], low[key], high[key])
    elif isinstance(value, list | tuple):
        if not isinstance(low, list | tuple) or not isinstance(high, list | tuple):
            raise ValueError
        for each in zip(value, low, high, strict=True):
            yield from _leaves(*each)
    elif value == low == high:
        return
    else:
        kinds = {_kind(each) for each in (value, low, high)}
        if len(kinds) > 1 or kinds == {"text"}:
            raise ValueError
        yield number(value), number(low), number(high)


def _kind(value: Any) -> str:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return "text"
    if not isinstance(value, str):
        return "number"
    found = _QUANTITY.fullmatch(value)
    return _KINDS.get(found[2], "size") if found else "text"


def number(value: Any) -> float:
    """Return a figure as a number: ns, KiB or MB/s where it has a unit."""
    if isinstance(value, str):
        found = _QUANTITY.fullmatch(value)
        if not found:
            raise ValueError(value)
        return float(found[1]) * _BASE[found[2]]
    return float(value)


def around(value: Any, factor: float) -> tuple[Any, Any]:
    """Return the range from a figure divided by a factor to the figure times it."""
    return _scaled(value, 1 / factor), _scaled(value, factor)


def _scaled(value: Any, factor: float) -> Any:
    match value:
        case str():
            found = _QUANTITY.fullmatch(value)
            if not found:
                return value
            return f"{Decimal(f'{float(found[1]) * factor:.3g}'):f}{found[2]}"
        case int():
            return math.floor(value * factor) if factor < 1 else math.ceil(value * factor)
        case float():
            return round(value * factor, 4)
    return [_scaled(each, factor) for each in value]


def at(table: Any, path: str) -> Any:
    """Return the value at a key path; LookupError where there is none."""
    for name, index in re.findall(r"([\w-]+)|\[(\d+)\]", path):
        if not isinstance(table, Mapping | Sequence) or isinstance(table, str):
            raise LookupError(path)
        table = table[name if isinstance(table, Mapping) else int(index or -1)]
    return table


def stands(table: Any, path: str) -> bool:
    """Return whether there is a value at a key path."""
    try:
        at(table, path)
    except LookupError:
        return False
    return True


def put(table: dict[str, Any], path: str, value: Any) -> None:
    """Replace the value at a key path; LookupError where there is none."""
    parts: Sequence[tuple[str, str]] = re.findall(r"([\w-]+)|\[(\d+)\]", path)
    inner: Any = table
    for name, index in parts[:-1]:
        inner = inner[name] if name else inner[int(index)]
    name, index = parts[-1]
    key = name or int(index)
    inner[key]  # a path that leads nowhere is an error, not a new key
    inner[key] = value
