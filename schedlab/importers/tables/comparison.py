"""`Test: tip patch` over rows of `4.99 (0.00 pct) 4.46 (10.62 pct)`, and mmtests' `( 0.00%)`.

mmtests names the kind of mean before each row and stars what it takes for significant; lines for
`Stddev` and `CoeffVar` give the spread of the row of the same name.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from schedlab.importers.number import PATTERN, Number, parse_number
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, table
from schedlab.metric import Better

_CELL = re.compile(
    rf"(?<![\w.,+-])(?P<figure>{PATTERN})\s*(?P<unit>[A-Za-zµμ][A-Za-z/µμ]*)?\s*(?P<star>[(*=])\s*"
    rf"(?P<change>{PATTERN}|-?nan|-)\s*(?:pct|%)\s*[)*=],?"
)
_KIND = re.compile(
    r"(?P<kind>[HAG]mean|Min|Max|Median|Stddev|CoeffVar|B[HA]mean-\d+|\d(?:st|nd|rd)-qrtle|Q[123])\s+"
)
_CUT = re.compile(rf"\S.*?:?\s+{PATTERN}(?:\s*[(*].*)?")
_LOAD_FIRST = re.compile(r"(?P<load>\d+)[- ](?P<what>[A-Za-z]\w*)")
_LOAD_LAST = re.compile(r"(?P<test>.+?)[- ](?P<load>\d+)")
_MEANS: dict[str, Better | None] = {"Hmean": "higher", "Amean": "lower", "Gmean": None}
_DESCRIBED = re.compile(r"(?P<name>.+), (?P<unit>[^,]*), (?P<better>higher|lower) is better")


@dataclass
class _Line:
    """A row as it is printed."""

    line: int
    name: str
    cells: list[re.Match[str]]
    behind: str


@table("comparison")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read a table from its head on, or from a row on where a head stood before."""
    if _is_row(lines, at):
        if len(_cells(lines, at)) != len(context.columns):
            context.source.refuse(
                lines[at].number,
                f"rows without a head that names their columns: '{lines[at].text.strip()[:60]}'.",
            )
        start, parameter = at, ""
    else:
        start = _next_text(lines, at)
        if not lines[at].text.strip() or start - at > 2 or not _begins(lines, start):
            return None
        parameter, context.columns = _head(context, lines[at], len(_first(lines, start)))
    printed, end = _printed(context, lines, start)
    rows = list(_rows(context, printed, parameter))
    described = _DESCRIBED.fullmatch(lines[at - 1].text.strip()) if at else None
    return [_as_described(row, described) for row in rows], end


def _next_text(lines: Sequence[Line], at: int) -> int:
    """Find the next line that is not empty."""
    at += 1
    while at < len(lines) and not lines[at].text.strip():
        at += 1
    return at


def _cells(lines: Sequence[Line], at: int) -> list[re.Match[str]]:
    return list(_CELL.finditer(lines[at].text)) if at < len(lines) else []


def _is_row(lines: Sequence[Line], at: int) -> bool:
    return len(_cells(lines, at)) > 1 and not _cell_at_start(lines[at].text)


def _first(lines: Sequence[Line], at: int) -> list[re.Match[str]]:
    """Give the cells of the first row, whose name or end may be on a line of its own."""
    here, behind = _cells(lines, at), _cells(lines, at + 1)
    if len(here) > 1:
        return here
    broken = list(_CELL.finditer(" ".join(line.text for line in lines[at : at + 2])))
    return broken if not here or len(behind) < 2 or _cell_at_start(lines[at + 1].text) else here


def _begins(lines: Sequence[Line], at: int) -> bool:
    """Tell whether a row begins in a line."""
    if at >= len(lines) or not lines[at].text.strip():
        return False
    if _is_row(lines, at):
        return True
    own = len(_cells(lines, at)) == 1 or bool(_CUT.fullmatch(lines[at].text.strip()))
    continued = at + 1 < len(lines) and len(_first(lines, at)) > 1
    return continued and (own or _cell_at_start(lines[at + 1].text))


def _cell_at_start(text: str) -> bool:
    found = _CELL.search(text)
    return bool(found and not text[: found.start()].strip())


def _printed(context: Context, lines: Sequence[Line], at: int) -> tuple[list[_Line], int]:
    """Collect the rows, those that a mail client broke in parts put together again."""
    block: list[Line] = []
    while at < len(lines) and lines[at].text.strip():
        block.append(lines[at])
        at += 1
    wanted = len(context.columns)
    rows: list[_Line] = []
    name: list[str] = []
    i = 0
    while i < len(block):
        line, text = block[i], block[i].text.strip()
        i += 1
        found = list(_CELL.finditer(text))
        if not found and not _CUT.fullmatch(text):
            if not line.text.startswith(" "):
                name.append(text)
            continue
        begun = bool(found)
        while len(found) < wanted and i < len(block):
            joined = f"{text} {block[i].text.strip()}"
            more = list(_CELL.finditer(joined))
            if not len(found) < len(more) <= wanted or _is_row(block, i):
                break
            text, found = joined, more
            i += 1
        if len(found) != wanted:
            context.source.refuse(
                line.number,
                f"the row is not whole, or two are merged: it has {len(found)} figures with a"
                f" change, the head names {wanted} columns: '{text[:60]}'.",
            )
        before = text[: found[0].start()].strip()
        if not begun or not before:
            before = " ".join([*name, before]).strip()
        if not before:
            context.source.refuse(line.number, f"the row has no name: '{text[:60]}'.")
        rows.append(_Line(line.number, before, found, text[found[-1].end() :].strip()))
        name = []
    if name and name[-1].endswith(":"):
        context.source.refuse(block[-1].number, f"the row is cut off: '{name[-1]}'.")
    return rows, at


def _head(context: Context, head: Line, count: int) -> tuple[str, list[str]]:
    """Take the head apart: what the rows are, and the names of the variants."""
    words = head.text.split()
    if words[-1].casefold() == "verdict":
        words.pop()
    if len(words) < count:
        context.source.refuse(
            head.number,
            f"the head names {len(words)} columns, the rows below have {count}:"
            f" '{head.text.strip()[:60]}'.",
        )
    names = [context.variant(word) for word in words[-count:]]
    if len(set(names)) < count:
        context.source.refuse(
            head.number, f"two columns have one name: '{head.text.strip()[:60]}'."
        )
    return " ".join(words[:-count]).strip("#: ").casefold(), names


def _rows(context: Context, printed: Sequence[_Line], parameter: str) -> Iterator[Row]:
    rows: dict[tuple[str, str], Row] = {}
    spreads: dict[str, list[float | None]] = {}
    for each in printed:
        kind = _KIND.match(each.name)
        name = each.name[kind.end() :] if kind else each.name
        name = name.strip().removesuffix(":").strip()
        if kind and kind["kind"] in ("Stddev", "CoeffVar"):
            _take_spread(context, each, kind["kind"], spreads.setdefault(name, []), rows, name)
            continue
        row = _row(context, each, name, parameter)
        if kind:
            row = _of_kind(row, kind["kind"])
        rows[name, row.metric] = row
    for (name, _), row in rows.items():
        found = spreads.get(name)
        cells = (
            tuple(replace(c, spread=s) for c, s in zip(row.cells, found, strict=True))
            if found
            else row.cells
        )
        yield replace(row, cells=cells)


def _row(context: Context, each: _Line, name: str, parameter: str) -> Row:
    first = each.cells[0]["change"]
    if first not in ("-", "nan", "-nan") and parse_number(first).value != 0:
        context.source.refuse(
            each.line, f"{name}: the first column is no baseline, its change is {first}."
        )
    cells: list[Cell] = []
    unit = each.cells[0]["unit"] or ""
    for variant, cell in zip(context.columns, each.cells, strict=True):
        figure = parse_number(cell["figure"] + (cell["unit"] or ""))
        try:
            figure = figure.in_unit(unit)
        except ValueError as error:
            context.source.refuse(each.line, f"{name}: {error}.")
        if figure.value <= 0:
            context.source.refuse(
                each.line, f"{name}: {variant} is {figure.value:g}; no ratio can be made of it."
            )
        cells.append(
            Cell(
                variant,
                figure,
                _change(cell) if cells else None,
                said=_said(cell, each.behind) if cells else "",
            )
        )
    case, params, metric = _place(name, parameter, context.benchmark)
    label, all_params = context.placed(case, **params)
    return Row(
        line=each.line,
        benchmark=context.benchmark,
        cells=tuple(cells),
        label=label,
        params=all_params,
        metric=metric,
        unit=unit,
    )


def _change(cell: re.Match[str]) -> Number | None:
    return None if cell["change"] in ("-", "nan", "-nan") else parse_number(cell["change"])


def _said(cell: re.Match[str], behind: str) -> str:
    """Give the printed verdict; an open one is none."""
    if behind in ("better", "worse", "equivalent"):
        return behind
    return {"*": "starred", "=": "equivalent"}.get(cell["star"], "")


def _place(name: str, parameter: str, benchmark: str) -> tuple[str, dict[str, int | str], str]:
    """Tell what a row's name is: a load, a test at a load, or a metric."""
    bare = name.removeprefix(f"{benchmark}-")
    if bare.isdecimal():
        what = parameter if parameter not in ("", "test") else "load"
        return f"{bare}-{what}", {what: int(bare)}, ""
    if load := _LOAD_FIRST.fullmatch(bare):
        return bare, {load["what"].casefold(): int(load["load"])}, ""
    if load := _LOAD_LAST.fullmatch(bare):
        return bare, {"test": load["test"], "load": int(load["load"])}, ""
    return "", {}, bare


def _of_kind(row: Row, kind: str) -> Row:
    """Say what mmtests means by a kind of row: rates have harmonic means, times arithmetic."""
    if kind not in _MEANS:
        return replace(row, metric=f"{row.metric} {kind}".strip())
    return replace(row, better=_MEANS[kind])


def _take_spread(
    context: Context,
    each: _Line,
    kind: str,
    spread: list[float | None],
    rows: dict[tuple[str, str], Row],
    name: str,
) -> None:
    """Take a line of spreads, over the means of the row of the same name."""
    if spread and kind == "Stddev":
        return
    mean = next((row for (other, _), row in rows.items() if other == name), None)
    if mean is None:
        context.source.refuse(each.line, f"{kind} {name}: no row of means has that name above it.")
    figures = [parse_number(cell["figure"]).value for cell in each.cells]
    spread[:] = [
        figure / 100 if kind == "CoeffVar" else figure / cell.figure.value
        for figure, cell in zip(figures, mean.cells, strict=True)
    ]


def _as_described(row: Row, described: re.Match[str] | None) -> Row:
    """Take metric, unit and direction from a line over the head, as schedlab writes it."""
    if not described:
        return row
    better: Better = "lower" if described["better"] == "lower" else "higher"
    return replace(row, metric=described["name"], unit=described["unit"], better=better)
