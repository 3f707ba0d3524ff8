"""schedlab's own summaries: `BENCHMARK: METRIC (lower is better) went from 5 to 4 s: ...`."""

import re
from collections.abc import Iterator, Sequence

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
    """Read what is said of one variant, from its heading to the next text at the left."""
    head = _HEAD.fullmatch(lines[at].text) if context.is_own else None
    if not head:
        return None
    variants = context.variant(head["base"]), context.variant(head["other"])
    end = next((i for i in range(at + 1, len(lines)) if _ends(lines[i].text)), len(lines))
    rows: list[Row] = []
    kind = ""
    for line in _items(lines[at + 1 : end]):
        if line.text in (*_KIND, *_OTHER_KINDS):
            kind = _KIND.get(line.text, "")
        elif item := _ITEM.fullmatch(line.text):
            rows.append(_row(line, item, kind, variants, context))
    return rows, end


def _ends(text: str) -> bool:
    """Return whether a text at the left is something other than a heading of results."""
    return bool(text) and not text.startswith(("- ", " ")) and text not in (*_KIND, *_OTHER_KINDS)


def _items(lines: Sequence[Line]) -> Iterator[Line]:
    """Yield headings and items, those that were too long for a line put together again."""
    whole: Line | None = None
    for line in lines:
        if whole and line.text.startswith(" "):
            whole = Line(whole.number, f"{whole.text} {line.text.strip()}")
            continue
        if whole:
            yield whole
        whole = line if line.text else None
    if whole:
        yield whole


def _row(
    line: Line, item: re.Match[str], kind: str, variants: tuple[str, str], context: Context
) -> Row:
    sign = "-" if item["way"] == "worse" else ""
    metric = metric_of(item["metric"], item)
    place = Place(item["label"], item["label"], {}, metric.name, metric)
    printed = (item["base"], item["other"], f"{sign}{item['change']}")
    return own_row(context, line, place, variants, printed, kind)
