"""`Test: tip patch` over rows of `4.99 (0.00 pct) 4.46 (10.62 pct)`, and mmtests' `( 0.00%)`.

mmtests names the kind of mean before each row and stars what it takes for significant; lines for
`Stddev` and `CoeffVar` give the spread of the row of the same name. schedlab's own shapes lkml and
mmtests are read here as well; they say in full which case and metric a row is of.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from schedlab.benchmarks.metric import Better, Metric
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.rows import (
    PrintedRow,
    begins,
    cells_of,
    first_cells,
    is_row,
    next_text,
    printed_rows,
)
from schedlab.importers.tables.table import (
    CLAIMS,
    LOAD_FIRST,
    LOAD_LAST,
    Context,
    Found,
    Place,
    placed_by_name,
    read_described,
    table,
)
from schedlab.report.wording import row_name

_KIND = re.compile(
    r"(?P<kind>[HAG]mean|Min|Max|Median|Stddev|CoeffVar|B[HA]mean-\d+|\d(?:st|nd|rd)-qrtle|Q[123])\s+"
)
_MEANS: dict[str, Better | None] = {"Hmean": "higher", "Amean": "lower", "Gmean": None}
_SPREADS = ("Stddev", "CoeffVar")
_NO_CHANGE = ("-", *(f"{sign}{what}" for sign in ("", "+", "-") for what in ("nan", "inf")))
_COUNTERS = "Counters that changed"


@table("comparison")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read a table from its head on, or from a row on where a head stood before."""
    parameter = ""
    if context.is_own and _is_own_head(context, lines[at]):
        start = next_text(lines, at)
        parameter, context.columns = _head(context, lines[at], 2)
    elif is_row(lines, at) and (context.columns or not context.is_own):
        start = at
        if len(cells_of(lines, at)) != len(context.columns) and not context.is_own:
            context.source.refuse(
                lines[at].number,
                f"rows without a head that names their columns: '{lines[at].text.strip()[:60]}'.",
            )
    elif context.is_own:
        return None
    else:
        start = next_text(lines, at)
        if not lines[at].text.strip() or start - at > 2 or not begins(lines, start):
            return None
        parameter, context.columns = _head(context, lines[at], len(first_cells(lines, start)))
    printed, end = printed_rows(context, lines, start)
    above = lines[at - 1].text.strip() if at else ""
    if above == _COUNTERS:
        return [_counter(context, each) for each in printed], end
    return list(_rows(context, printed, parameter, read_described(above))), end


def _is_own_head(context: Context, head: Line) -> bool:
    """Return whether a line heads a table of our own, with a baseline and a variant in it."""
    words = head.text.removesuffix("verdict").split()
    names = [context.variant(word) for word in words[-2:]]
    return (
        len(names) == 2
        and words[:-2] in ([], ["Test:"])
        and names[:1] == context.variants[:1]
        and names[-1] in context.variants[1:]
    )


def _head(context: Context, head: Line, count: int) -> tuple[str, list[str]]:
    """Split the head into what the rows are and the names of the variants."""
    words = head.text.split()
    if words[-1].casefold() == "verdict":
        words.pop()
    label = next((i + 1 for i in reversed(range(len(words))) if words[i].endswith(":")), 0)
    label = label or max(0, len(words) - count)
    if len(words) - label != count:
        context.source.refuse(
            head.number,
            f"the head names {len(words) - label} columns, the rows below have {count}:"
            f" '{head.text.strip()[:60]}'.",
        )
    names = [context.variant(word) for word in words[label:]]
    if len(set(names)) < count:
        context.source.refuse(
            head.number, f"two columns have one name: '{head.text.strip()[:60]}'."
        )
    return " ".join(words[:label]).strip("#: ").casefold(), names


def _rows(
    context: Context, printed: Sequence[PrintedRow], parameter: str, metric: Metric | None
) -> Iterator[Row]:
    """Yield the rows of means, each with the spread that stands on another line."""
    rows: list[tuple[str, Row]] = []
    spreads: dict[str, list[float]] = {}
    for each in printed:
        kind = _KIND.match(each.name)
        name = each.name[kind.end() :] if kind else each.name
        name = name.strip().removesuffix(":").strip()
        if kind and kind["kind"] in _SPREADS:
            mean = next((row for other, row in rows if other == name), None)
            if mean is None:
                context.source.refuse(each.line, f"no row of means has the name {name} above it.")
            if name not in spreads or kind["kind"] == "CoeffVar":
                spreads[name] = _spread(context, each, kind["kind"], mean)
            continue
        row = _row(context, each, _place(context, name, parameter, metric))
        rows.append((name, _of_kind(row, kind["kind"]) if kind else row))
        context.placed_labels.append(row.label)
    for name, row in rows:
        if found := spreads.get(name):
            cells = (replace(c, spread=s) for c, s in zip(row.cells, found, strict=True))
            yield replace(row, cells=tuple(cells))
        else:
            yield row


def _row(context: Context, each: PrintedRow, place: Place) -> Row:
    cells = _cells(context, each, place.label)
    for cell in cells:
        if cell.figure.value <= 0:
            context.source.refuse(
                each.line,
                f"{place.label}: {cell.variant} is {cell.figure.value:g}; no ratio can be made"
                " of it.",
            )
    return Row(
        line=each.line,
        benchmark=place.benchmark,
        cells=cells,
        label=place.label,
        params=place.params,
        metric=place.metric,
        unit=cells[0].figure.unit,
        own=place.own,
    )


def _cells(context: Context, each: PrintedRow, name: str) -> tuple[Cell, ...]:
    """Return the figures, all in the first one's unit."""
    first = each.cells[0]["change"]
    if first not in _NO_CHANGE and context.number(first, each.line).value != 0:
        context.source.refuse(
            each.line, f"{name}: the first column is not a baseline, its change is {first}."
        )
    cells: list[Cell] = []
    for variant, cell in zip(context.columns, each.cells, strict=True):
        figure = context.number(cell["figure"] + (cell["unit"] or ""), each.line)
        try:
            figure = figure.in_unit(cells[0].figure.unit if cells else figure.unit)
        except ValueError as error:
            context.source.refuse(each.line, f"{name}: {error}.")
        change = None if cell["change"] in _NO_CHANGE else context.number(cell["change"], each.line)
        said = _said(cell, each.behind)
        cells.append(Cell(variant, figure, change, said=said) if cells else Cell(variant, figure))
    return tuple(cells)


def _said(cell: re.Match[str], behind: str) -> str:
    """Return the printed verdict, or nothing for one that is open."""
    if behind in CLAIMS:
        return behind
    return {"*": "starred", "=": "equivalent"}.get(cell["star"], "")


def _counter(context: Context, each: PrintedRow) -> Row:
    """Return a row of a table of counters, `LABEL COUNTER, UNIT`."""
    name = each.name.removesuffix(":").rpartition(", ")[0]
    labels = sorted(context.placed_labels, key=len, reverse=True)
    label = next((label for label in labels if name.startswith(f"{label} ")), "")
    return Row(
        line=each.line,
        benchmark=context.benchmark,
        cells=_cells(context, each, name),
        label=label or (labels[0] if labels else context.benchmark),
        metric=name.removeprefix(label).strip(),
        is_counter=True,
    )


def _place(context: Context, name: str, parameter: str, metric: Metric | None) -> Place:
    """Classify a row's name: a full name, a load, a test at a load, or a metric."""
    if metric:
        return own_place(context, name, metric)
    if name in context.described:
        return _described_place(context, name)
    bare = name.removeprefix(f"{context.benchmark}-")
    rest, params, named = bare, dict[str, int | str](), ""
    if bare.isdecimal():
        what = parameter if parameter not in ("", "test") else "load"
        rest, params = f"{bare}-{what}", {what: int(bare)}
    elif load := LOAD_FIRST.fullmatch(bare):
        params = {load["what"].casefold(): int(load["load"])}
    elif load := LOAD_LAST.fullmatch(bare):
        params = {"test": load["test"], "load": int(load["load"])}
    else:
        rest, named = "", bare
    label, params = context.placed(rest, **params)
    return Place(context.benchmark, label, params, named)


def own_place(context: Context, name: str, metric: Metric) -> Place:
    """Place a row of the shape lkml, whose table is of one metric."""
    benchmark = context.benchmark
    if name in context.machines:
        return Place(benchmark, f"{benchmark} {name}", {"machine": name}, metric.name, metric)
    names = {row_name(label, benchmark) or metric.name: label for label in context.labels}
    plain = benchmark if name == metric.name else f"{benchmark} {name}"
    label = names.get(name, plain)
    params = placed_by_name(row_name(label, benchmark))
    return Place(benchmark, label, params, metric.name, metric)


def _described_place(context: Context, name: str) -> Place:
    """Place a row of the shape mmtests; a case with several metrics has theirs behind its name."""
    metric = context.described[name]
    label = name.removesuffix(f" {metric.name}")
    if not any(other != name and other.startswith(f"{label} ") for other in context.described):
        label = name
    params = placed_by_name(label)
    benchmark = str(params.pop("setting", label))
    return Place(benchmark, label, params, metric.name, metric)


def _of_kind(row: Row, kind: str) -> Row:
    """Set what mmtests means by a kind of row: rates have harmonic means, times arithmetic."""
    if kind not in _MEANS:
        return replace(row, metric=f"{row.metric} {kind}".strip())
    return replace(row, better=_MEANS[kind])


def _spread(context: Context, each: PrintedRow, kind: str, mean: Row) -> list[float]:
    """Return the standard deviations of a line over the means of its row."""
    figures = [context.number(cell["figure"], each.line).value for cell in each.cells]
    return [
        figure / 100 if kind == "CoeffVar" else figure / cell.figure.value
        for figure, cell in zip(figures, mean.cells, strict=True)
    ]
