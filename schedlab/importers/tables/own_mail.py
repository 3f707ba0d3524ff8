"""schedlab's own mails: `TEST: BASE OTHER PCT [INTERVAL] N VERDICT` below the metric."""

import re
from collections.abc import Sequence

from schedlab.benchmarks.metric import Metric
from schedlab.importers.number import PATTERN
from schedlab.importers.publication import Row
from schedlab.importers.source import Line
from schedlab.importers.tables.comparison import own_place
from schedlab.importers.tables.table import VERDICT, Context, Found, own_row, read_described, table

_HEAD = re.compile(r"Test: +(?P<base>\S+) +(?P<other>\S+) +pct +interval +n +verdict")
_ROW = re.compile(
    rf"(?:(?P<name>.+):)? +(?P<base>{PATTERN}|-) +(?P<other>{PATTERN}|-) +(?P<pct>\S+)"
    rf" +(?P<interval>\[[^\]]*\]|-) +(?P<n>[\d/+]+) +(?P<verdict>{VERDICT})"
)
_ABOVE = ("~ ", "$ ", " ")
"""How lines above the metric begin that are not of it."""


@table("own mail")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read a table from its head on; the metric stands above it."""
    head = _HEAD.fullmatch(lines[at].text) if context.is_own else None
    metric = _metric(lines, at) if head else None
    if not head or not metric:
        return None
    variants = context.variant(head["base"]), context.variant(head["other"])
    rows: list[Row] = []
    name: list[str] = []
    end = at + 1
    while end < len(lines) and (text := lines[end].text):
        row = _ROW.fullmatch(text)
        if row:
            context.read.append((row["base"], row["other"], row["pct"]))
            rows += _row(lines[end], row, " ".join(name), variants, metric, context)
        if row or not text.startswith(" "):
            name = [] if row else [*name, text]
        end += 1
    if name:
        context.source.refuse(lines[end - 1].number, f"the row is cut off: '{name[-1]}'.")
    return rows, end


def _metric(lines: Sequence[Line], at: int) -> Metric | None:
    """Read the metric above a head, put together where it was too long for a line."""
    parts: list[str] = []
    for line in reversed(lines[:at]):
        if not line.text or line.text.startswith(_ABOVE) or line.text.endswith(":"):
            break
        parts.insert(0, line.text)
    return read_described(" ".join(parts))


def _row(
    line: Line,
    row: re.Match[str],
    above: str,
    variants: tuple[str, str],
    metric: Metric,
    context: Context,
) -> list[Row]:
    """Return a row; none where it has no figures."""
    if "-" in (row["base"], row["other"]):
        return []
    place = own_place(context, row["name"] or above.removesuffix(":"), metric)
    context.placed_labels.append(place.label)
    printed = (row["base"], row["other"], row["pct"])
    return [own_row(context, line, place, variants, printed, row["verdict"])]
