"""schedlab's own summaries: `BENCHMARK: METRIC (lower is better) went from 5 to 4 s: ...`."""

import re
from collections.abc import Iterator, Sequence

from schedlab.importers.known import name_of_words
from schedlab.importers.number import PATTERN
from schedlab.importers.publication import Row
from schedlab.importers.source import Line
from schedlab.importers.tables.table import Context, Found, Place, metric_of, own_row, table

_HEAD = re.compile(r"(?P<other>\S+) against (?P<base>\S+): of [\d,]+ results? .*")
_KIND = {"Better:": "better", "Worse:": "worse", "The same:": "equivalent"}
_OTHER_KINDS = ("Not touched by the change:", "Not known:")
_ITEM = re.compile(
    r"- (?P<label>.+): (?P<metric>.+) \((?P<better>higher|lower) is better\) went from"
    rf" (?P<base>{PATTERN}) to (?P<other>{PATTERN}) (?P<unit>[^:]*): (?P<change>{PATTERN}) %"
    r" (?P<way>better|worse)\b.*"
)


@table("own summary")
def read(lines: Sequence[Line], at: int, context: Context) -> Found | None:
    """Read what is said of one variant: its heading, and the paragraphs of results below it."""
    head = _HEAD.fullmatch(_joined(lines, at)) if context.is_own and _begins(lines, at) else None
    if not head:
        return None
    variants = context.variant(head["base"]), context.variant(head["other"])
    rows: list[Row] = []
    end = _next(lines, at)
    while end < len(lines) and lines[end].text in (*_KIND, *_OTHER_KINDS):
        kind = _KIND.get(lines[end].text, "")
        for line in _items(lines, end + 1):
            if item := _ITEM.fullmatch(line.text):
                context.read.append((item["base"], item["other"], item["change"]))
                rows.append(_row(line, item, kind, variants, context))
        end = _next(lines, end)
    return rows, end


def _begins(lines: Sequence[Line], at: int) -> bool:
    """Return whether a paragraph begins here."""
    return bool(lines[at].text) and (at == 0 or not lines[at - 1].text)


def _end(lines: Sequence[Line], at: int) -> int:
    """Return the line behind a paragraph."""
    return next((i for i in range(at, len(lines)) if not lines[i].text), len(lines))


def _next(lines: Sequence[Line], at: int) -> int:
    """Return where the next paragraph begins."""
    end = _end(lines, at)
    return next((i for i in range(end, len(lines)) if lines[i].text), len(lines))


def _joined(lines: Sequence[Line], at: int) -> str:
    return " ".join(line.text.strip() for line in lines[at : _end(lines, at)])


def _items(lines: Sequence[Line], at: int) -> Iterator[Line]:
    """Yield the items of a paragraph; one goes on until the next, however its lines begin."""
    whole: Line | None = None
    for line in lines[at : _end(lines, at)]:
        if whole and not line.text.startswith("- "):
            whole = Line(whole.number, f"{whole.text} {line.text.strip()}")
            continue
        if whole:
            yield whole
        whole = line
    if whole:
        yield whole


def _row(
    line: Line, item: re.Match[str], kind: str, variants: tuple[str, str], context: Context
) -> Row:
    sign = "-" if item["way"] == "worse" else ""
    metric = metric_of(name_of_words(*item.group("label", "metric", "unit", "better")), item)
    place = Place(item["label"], item["label"], {}, metric.name, metric)
    printed = (item["base"], item["other"], f"{sign}{item['change']}")
    return own_row(context, line, place, variants, printed, kind)
