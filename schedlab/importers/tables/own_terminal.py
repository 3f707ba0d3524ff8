"""schedlab's own screens: `BENCHMARK, METRIC, s, lower`, and its figures beside it or below."""

import re
from collections.abc import Sequence

from schedlab.importers.number import PATTERN
from schedlab.importers.publication import Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import (
    VERDICT,
    Context,
    Found,
    Place,
    metric_of,
    own_row,
    placed_by_name,
    table,
)

_SECTION = re.compile(
    r"(?P<other>\S+) against (?P<base>\S+): \d.*\bcan't tell(?:, [\d,]+ (?:no effect|not judged))*"
)
_NAME = re.compile(r"(?P<label>.+), (?P<metric>[^,]+), (?P<unit>[^,]*), (?P<better>higher|lower)")
_FIGURES = re.compile(
    rf"(?P<name>.*?) +(?P<base>{PATTERN}|-) +(?P<other>{PATTERN}|-) +(?P<pct>\S+)"
    rf" +(?:\[[^\]]*\]|-) +[\d/+]+ +\S (?P<verdict>{VERDICT})"
)
_NAMED = re.compile(
    rf"(?P<name>.*?) +(?P<before>\S+) (?P<base>{PATTERN}|-), (?P<after>\S+) (?P<other>{PATTERN}|-),"
    r" % better (?P<pct>[^ ,]+), interval, % (?:\[[^\]]*\]|-), [a-z]+ [\d/+]+,"
    rf" verdict \S (?P<verdict>{VERDICT})"
)
"""Of a screen too narrow for columns: each figure behind its heading."""
_HEAD = re.compile(r"(?:benchmark, metric, unit, better)? *\S+ +\S+ +% better +interval, % .*")


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
            context.read.append((figures["base"], figures["other"], figures["pct"]))
            rows += _row(lines[end], figures, name, variants, context)
        if (figures and name) or _HEAD.fullmatch(text.strip()):
            above = []
        end += 1
    return (rows, end) if rows else None


def _paragraph(lines: Sequence[Line], at: int) -> str:
    """Return a line, with the next one where the verdicts were too many for it."""
    text = lines[at].text
    behind = lines[at + 1].text if at + 1 < len(lines) else ""
    return text if _SECTION.fullmatch(text) else f"{text} {behind}"


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
    params = placed_by_name(name["label"])
    benchmark = str(params.pop("setting", name["label"]))
    metric = metric_of(name["metric"], name)
    place = Place(benchmark, name["label"], params, metric.name, metric)
    printed = (figures["base"], figures["other"], figures["pct"])
    return [own_row(context, line, place, variants, printed, figures["verdict"])]
