"""The ledger of a machine as a table: each figure with its range, its source and what set it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from schedlab.machine import shorthand
from schedlab.machine.figures import brief
from schedlab.machine.ledger import NOT_GIVEN
from schedlab.machine.model import Machine
from schedlab.report.wording import wrapped

_WIDTH = 80
_WORDS = ("name", "title", "notes", "arch", "processor")


@dataclass(frozen=True)
class Line:
    """One figure of the ledger."""

    key: str
    value: Any
    range: tuple[Any, Any] | None
    source: str
    rows: tuple[str, ...]
    moves_with: str | None


def lines(machine: Machine, comments: Mapping[str, str]) -> list[Line]:
    """Return the ledger of a machine, in the order of its file.

    Args:
        machine: the machine; its own ledger says most.
        comments: what stands beside facts in its file, by key path.
    """
    figures = shorthand.folded(
        machine.model_dump(mode="json", exclude_defaults=True, exclude={"ledger"})
    )
    return list(_lines(figures, "", machine, comments))


def _lines(table: Any, path: str, machine: Machine, comments: Mapping[str, str]) -> Iterator[Line]:
    if isinstance(table, list):
        for index, entry in enumerate(table):
            yield from _lines(entry, f"{path}[{index}]", machine, comments)
        return
    for key, value in table.items():
        here = f"{path}.{key}" if path else key
        entry = machine.ledger.get(here)
        if entry:
            yield Line(here, value, entry.range, entry.source, entry.rows, entry.moves_with)
        elif here in ("cpu", "idle.state") or (isinstance(value, dict) and here != "topology.core"):
            yield from _lines(value, here, machine, comments)
        elif here not in _WORDS and not isinstance(value, bool) and not _names(here):
            yield Line(here, value, None, _source(here, comments), (), None)


def _names(path: str) -> bool:
    """Return whether a key says which CPUs or which state the others are about."""
    return path.startswith(("cpu[", "idle.state[")) and path.rpartition(".")[2] in (
        *("cpus", "name", "desc"),
    )


def _source(path: str, comments: Mapping[str, str]) -> str:
    """Return the comment beside a key; else that of its table, or of the state it belongs to."""
    table = path.rpartition(".")[0]
    places = (path, f"{table}.name", table, path.partition("[")[0])
    inner = ("topology.cpus", "topology") if path == "cpus" else ()
    return next((comments[place] for place in (*places, *inner) if place in comments), NOT_GIVEN)


def as_json(ledger: list[Line]) -> list[dict[str, Any]]:
    """Return the ledger for JSON."""
    return [
        {
            "key": line.key,
            "value": line.value,
            "range": list(line.range or (line.value, line.value)),
            "source": line.source,
            "rows": list(line.rows),
            "moves_with": line.moves_with,
        }
        for line in ledger
    ]


def as_text(ledger: list[Line]) -> str:
    """Return the ledger as a table of 80 columns: what hardware takes, then what is exact."""
    cells = [("key", "value", "range", "source; calibrated on (rows)")]
    for line in sorted(ledger, key=lambda line: line.range is None):
        source = line.source
        if line.moves_with:
            source += f"; moves with {line.moves_with}"
        if line.rows:
            source += f"; calibrated on {', '.join(line.rows)}"
        cells.append((line.key, brief(line.value), span(line.range), source))
    widths = [min(most, max(len(row[i]) for row in cells)) for i, most in enumerate((25, 10, 13))]
    return "\n".join(each for row in cells for each in _row(row, widths))


def span(ends: tuple[Any, Any] | None) -> str:
    """Write a range: `22-31ns`; of several numbers the last one's, which has one where any has."""
    if ends is None:
        return "exact"
    low, high = (_last(end) for end in ends)
    number, unit = re.fullmatch(r"([\d.]*)(.*)", low, re.DOTALL).groups()  # type: ignore[union-attr]
    return f"{number}-{high}" if number and high.endswith(unit) else f"{low}-{high}"


def _last(value: Any) -> str:
    while isinstance(value, list | tuple):
        value = value[-1]
    if isinstance(value, dict):
        return f"{value['power_mw']} mW" if "power_mw" in value else brief(value)
    return brief(value)


def _row(cells: tuple[str, ...], widths: list[int]) -> Iterator[str]:
    """Write a row, each cell wrapped in its column; a key that is wider has a line to itself."""
    if len(cells[0]) > widths[0]:
        yield cells[0]
        cells = ("", *cells[1:])
    widths = [*widths, _WIDTH - sum(widths) - 2 * len(widths)]
    columns = [wrapped(cell, width) for cell, width in zip(cells, widths, strict=True)]
    for index in range(max(len(column) for column in columns)):
        parts = [column[index] if index < len(column) else "" for column in columns]
        yield "  ".join(p.ljust(w) for p, w in zip(parts, widths, strict=True)).rstrip()
