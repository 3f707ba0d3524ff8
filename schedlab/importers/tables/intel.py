"""`case load baseline(std%) compare%( std%)`: the baseline is 1.00, the change in percent."""

import re
from collections.abc import Sequence

from schedlab.importers.number import PATTERN, Number
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import CLAIMS, Context, Found, table

_HEAD = re.compile(
    r"case\s+load\s+(?P<base>\S+?)\s*\(\s*std%\s*\)\s+(?P<other>\S+?)%?\s*\(\s*std%\s*\)"
    r"(?P<verdict>\s+verdict)?"
)
_NONE = "-|nan|inf"
_ROW = re.compile(
    rf"(?P<case>\S+(?: \S+)*?)\s+(?P<load>\S+)"
    rf"\s+(?P<base>{PATTERN})\s*\(\s*(?P<base_std>{PATTERN}|{_NONE})\s*\)\s+"
    rf"(?P<change>{PATTERN}|[-+]?inf)\s*\(\s*(?P<std>{PATTERN}|{_NONE})\s*\)\s*(?P<verdict>.*)"
)
_NO_FIGURES = re.compile(r".*\S\s+-\s+-(\s+\S.*)?")
_LOAD = re.compile(r"(?P<load>\d+)[- ](?P<what>[A-Za-z]\w*)")


@table("intel")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read a table of figures relative to the baseline; a plus is better.

    What loses more than all of it can only be a time, of which there can be any amount more.
    """
    head = _HEAD.fullmatch(lines[at].text.strip())
    if not head:
        return None
    base, other = context.variant(head["base"]), context.variant(head["other"])
    rows = []
    end = at + 1
    while end < len(lines) and (text := lines[end].text.strip()):
        row = _ROW.fullmatch(text)
        if not row and _NO_FIGURES.fullmatch(text):
            end += 1
            continue
        if not row:
            context.source.refuse(
                lines[end].number, f"is not CASE LOAD FIGURE (STD) CHANGE (STD): '{text[:60]}'."
            )
        load = _LOAD.fullmatch(row["load"])
        params: dict[str, int | str] = {"case": row["case"]}
        if load:
            params[load["what"].casefold()] = int(load["load"])
        name = row["case"] if row["load"] == "-" else f"{row['case']} {row['load']}"
        label, placed = context.placed(name, **params)
        number = lines[end].number
        figure = context.number(row["base"], number)
        infinite = row["change"].endswith("inf")
        change = Number(0.0) if infinite else context.number(row["change"], number)
        metric = context.described.get(label)
        less_is_better = change.value <= -100 if metric is None else metric.better == "lower"
        sign = -1 if less_is_better else 1
        changed = Number(figure.value * (1 + sign * change.value / 100))
        if infinite or changed.value <= 0 or figure.value <= 0:
            if not context.is_own:
                context.source.refuse(number, f"no ratio can be made of it: '{text[:60]}'.")
            context.notices.append(
                f"{context.source.name}:{number}: {label}: no ratio can be made of a change"
                f" of {row['change']} %; left out"
            )
            end += 1
            continue
        cells = (
            Cell(base, figure, spread=_spread(context, row["base_std"], number)),
            Cell(
                other,
                changed,
                change,
                _spread(context, row["std"], number),
                row["verdict"] if row["verdict"] in CLAIMS else "",
            ),
        )
        rows.append(
            Row(
                line=number,
                benchmark=context.benchmark,
                cells=cells,
                label=label,
                params=placed,
                metric=metric.name if metric else "time" if less_is_better else "performance",
                unit=f"of {base}",
                better="lower" if less_is_better else "higher",
            )
        )
        end += 1
    if end == at + 1:
        context.source.refuse(lines[at].number, "the table has no rows.")
    return rows, end


def _spread(context: Context, text: str, line: int) -> float | None:
    return None if text in _NONE.split("|") else context.number(text, line).value / 100
