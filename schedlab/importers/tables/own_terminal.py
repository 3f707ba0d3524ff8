"""schedlab's own screens: `BENCHMARK, METRIC, s, lower`, and its figures beside it or below."""

import re
from collections.abc import Sequence

from schedlab.benchmarks.metric import Better, Metric
from schedlab.importers.number import PATTERN
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, placed_by_name, table

_SECTION = re.compile(r"(?P<other>\S+) against (?P<base>\S+): \d.*\bcan't tell")
_NAME = re.compile(r"(?P<label>.+), (?P<metric>[^,]+), (?P<unit>[^,]*), (?P<better>higher|lower)")
_FIGURES = re.compile(
    rf"(?P<name>.*?) +(?P<base>{PATTERN}|-) +(?P<other>{PATTERN}|-) +(?P<pct>\S+)"
    r" +(?:\[[^\]]*\]|-) +[\d/+]+ +\S (?P<verdict>[a-z][a-z' ]+)"
)
_NAMED = re.compile(
    rf"(?P<name>.*?) +(?P<before>\S+) (?P<base>{PATTERN}|-), (?P<after>\S+) (?P<other>{PATTERN}|-),"
    r" % better (?P<pct>[^ ,]+), interval, % (?:\[[^\]]*\]|-), [a-z]+ [\d/+]+,"
    r" verdict \S (?P<verdict>[a-z][a-z' ]+)"
)
"""Of a screen too narrow for columns: each figure behind its heading."""
_HEAD = re.compile(r"(?:benchmark, metric, unit, better)? *\S+ +\S+ +% better +interval, % .*")
_SAID = ("better", "worse", "equivalent")


@table("own terminal")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read what is said of one variant, from the heading with its verdicts to the list behind."""
    section = _SECTION.fullmatch(_paragraph(lines, at)) if context.is_own else None
    if not section:
        return None
    variants = context.variant(section["base"]), context.variant(section["other"])
    rows: list[Row] = []
    above: list[str] = []
    end = at + 1
    while end < len(lines) and (text := lines[end].text) and not text.startswith("- "):
        above.append(text)
        whole = " ".join([" ".join(map(str.strip, above[:-1])), text.strip()])
        figures = _NAMED.fullmatch(whole) or _FIGURES.fullmatch(whole)
        name = _NAME.fullmatch(figures["name"].strip()) if figures else None
        if figures and name:
            rows += _row(lines[end], figures, name, variants, context)
        if (figures and name) or _HEAD.fullmatch(text.strip()):
            above = []
        end += 1
    return (rows, end) if rows else None


def _paragraph(lines: Sequence[Line], at: int) -> str:
    """Return a line, with the next one where the verdicts were too many for it."""
    text = lines[at].text
    behind = lines[at + 1].text if at + 1 < len(lines) else ""
    return text if text.endswith("can't tell") else f"{text} {behind}"


def _row(
    line: Line,
    figures: re.Match[str],
    name: re.Match[str],
    variants: tuple[str, str],
    context: Context,
) -> list[Row]:
    """Return a row; none where it has no figures."""
    if "-" in (figures["base"], figures["other"]):
        return []
    base, other = (context.number(figures[which], line.number) for which in ("base", "other"))
    if min(base.value, other.value) <= 0:
        context.source.refuse(line.number, f"no ratio can be made of '{line.text[:60]}'.")
    is_number = re.fullmatch(PATTERN, figures["pct"])
    change = context.number(figures["pct"], line.number) if is_number else None
    said = figures["verdict"] if figures["verdict"] in _SAID else ""
    better: Better = "lower" if name["better"] == "lower" else "higher"
    label, metric = name["label"], name["metric"]
    params = placed_by_name(label)
    return [
        Row(
            line=line.number,
            benchmark=str(params.pop("setting", label)),
            cells=(Cell(variants[0], base), Cell(variants[1], other, change, said=said)),
            label=label,
            params=params,
            metric=metric,
            unit=base.unit,
            own=Metric(metric, name["unit"], better, metric),
        )
    ]
