"""A line a variant, its spread behind it: `base: 1.00 (var: 0.27%)`, then `(+3.31%)` as well."""

import re
from collections.abc import Sequence

from schedlab.importers.number import PATTERN
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, table

_LINE = re.compile(
    rf"(?P<name>[A-Za-z]\S*?):?\s+(?P<figure>{PATTERN})\s*\(var:\s*(?P<spread>{PATTERN})\s*%\)"
    rf"(?:\s*\(\s*(?P<change>{PATTERN})\s*%\s*\))?"
)
_BEGUN = re.compile(rf"\S+?:?\s+{PATTERN}\s*\(var:.*")


@table("spread list")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read the lines of one benchmark, the baseline's first."""
    if not _BEGUN.fullmatch(lines[at].text.strip()):
        return None
    cells: list[Cell] = []
    end = at
    while end < len(lines) and (text := lines[end].text.strip()):
        line = _LINE.fullmatch(text)
        if not line or bool(line["change"]) != bool(cells):
            context.source.refuse(
                lines[end].number,
                "is not NAME: FIGURE (var: SPREAD%), the change of the figure behind it for all"
                f" but the first: '{text[:60]}'.",
            )
        cells.append(
            Cell(
                context.variant(line["name"]),
                context.number(line["figure"], lines[end].number),
                context.number(line["change"], lines[end].number) if line["change"] else None,
                spread=context.number(line["spread"], lines[end].number).value / 100,
            )
        )
        end += 1
    if len(cells) < 2:
        context.source.refuse(lines[at].number, "there is nothing below to compare it with.")
    label, params = context.placed()
    return [Row(lines[at].number, context.benchmark, tuple(cells), label, params)], end
