"""Two figures and one change, no head: `max-jOPS 1.00 0.99 (-1.11%)`."""

import re
from collections.abc import Sequence

from schedlab.importers.number import PATTERN
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, table

_ROW = re.compile(
    rf"(?P<name>[A-Za-z]\S*?):?\s+(?P<base>{PATTERN})\s+(?P<other>{PATTERN})\s*"
    rf"\(\s*(?P<change>{PATTERN})\s*(?:%|pct)\s*\)"
)


@table("single change")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read one row; its variants are those the text has named, or nameless."""
    row = _ROW.fullmatch(lines[at].text.strip())
    if not row:
        return None
    line = lines[at].number
    base, other = context.variants if len(context.variants) == 2 else ("base", "patched")
    label, params = context.placed()
    cells = (
        Cell(base, context.number(row["base"], line)),
        Cell(other, context.number(row["other"], line), context.number(row["change"], line)),
    )
    found = Row(line, context.benchmark, cells, label, params, metric=row["name"])
    return [found], at + 1
