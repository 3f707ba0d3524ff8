"""What a reader of a table shape is: a function that takes the lines at which it may begin."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from schedlab.benchmarks.metric import Better, Metric
from schedlab.importers.number import PATTERN, Number, parse_number
from schedlab.importers.publication import Cell, Row
from schedlab.importers.source import Line, Source

Found = tuple[list[Row], int]
"""The rows of a table, and where the text goes on behind it."""

_BASELINES = ("base", "baseline")
_COUNTED = re.compile(r"(?P<count>\d+)[ -](?P<what>[A-Za-z]\w*)")
LOAD_FIRST = re.compile(r"(?P<load>\d+)[- ](?P<what>[A-Za-z]\w*)")
LOAD_LAST = re.compile(r"(?P<test>.+?)[- ](?P<load>\d+)")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+-]+")
_DESCRIBED = re.compile(r"(?P<name>.+), (?P<unit>[^,]*), (?P<better>higher|lower) is better")
VERDICT = r"(?:better|worse|equivalent|can't tell|no effect|not judged|never happened)"
"""What stands at the end of a row of schedlab's own."""
CLAIMS = ("better", "worse", "equivalent")
"""The verdicts that a printed table may claim; any other is open."""


class Place(NamedTuple):
    """Which figure a row is."""

    benchmark: str
    label: str
    params: dict[str, int | str]
    metric: str
    own: Metric | None = None


@dataclass
class Context:
    """Where in a document a table stands."""

    source: Source
    benchmark: str
    variants: list[str] = field(default_factory=list)
    """As named in the text or by the first table, the baseline first."""
    columns: list[str] = field(default_factory=list)
    """The variants of the last table that named them."""
    settings: list[str] = field(default_factory=list)
    """Headings below the benchmark's: `NPS1`, `10 Runs`."""
    notices: list[str] = field(default_factory=list)
    is_own: bool = False
    """The document is a report of schedlab's own."""
    labels: list[str] = field(default_factory=list)
    """Cases that a report of schedlab's own lists below the benchmark's heading."""
    placed_labels: list[str] = field(default_factory=list)
    """Cases read below the benchmark's heading."""
    machines: list[str] = field(default_factory=list)
    """The machines of a mail of schedlab's own that is of several."""
    read: list[tuple[str, str, str]] = field(default_factory=list)
    """Base, other and change of each row read in a report of schedlab's own, as printed."""
    described: dict[str, Metric] = field(default_factory=dict)
    """Metrics that a report of schedlab's own describes, by the names of its rows."""

    def enter(self, benchmark: str) -> None:
        """Begin a benchmark."""
        self.benchmark = benchmark
        self.settings = []
        self.labels = []
        self.placed_labels = []

    def variant(self, printed: str) -> str:
        """Name a variant as the lab does; `base` is the baseline, whatever others call it."""
        if printed.casefold() in _BASELINES and self.variants:
            return self.variants[0]
        head, dots, tail = printed.partition("..")
        if dots:  # shortened by a report of schedlab's own
            whole = (v for v in self.variants if v.startswith(head) and v.endswith(tail))
            return next(whole, printed)
        name = _NOT_IN_NAMES.sub("-", printed)
        return (name if name == printed else name.strip("-")).lstrip("-._+") or "unnamed"

    def number(self, text: str, line: int) -> Number:
        """Read a figure of a table; refuse one that is not a number or out of range."""
        try:
            return parse_number(text)
        except ValueError as error:
            self.source.refuse(line, f"{error}.")

    def placed(self, rest: str = "", **params: int | str) -> tuple[str, dict[str, int | str]]:
        """Return label and parameters of a case below these headings."""
        found: dict[str, int | str] = {}
        words = []
        for setting in self.settings:
            counted = _COUNTED.fullmatch(setting)
            if counted:
                found[counted["what"].casefold()] = int(counted["count"])
            else:
                words.append(setting)
        if words:
            found["setting"] = " ".join(words)
        label = " ".join(filter(None, [self.benchmark, *self.settings, rest]))
        return label, found | params


def placed_by_name(rest: str) -> dict[str, int | str]:
    """Return the parameters in the end of a label: `NPS1 4-groups`, `dhry2reg-512`."""
    words = rest.split(" ")
    found: dict[str, int | str] = {}
    if load := LOAD_FIRST.fullmatch(words[-1]):
        found = {load["what"].casefold(): int(load["load"])}
        words.pop()
    elif load := LOAD_LAST.fullmatch(words[-1]):
        found = {"test": load["test"], "load": int(load["load"])}
        words.pop()
    elif counted := _COUNTED.fullmatch(" ".join(words[-2:])):
        found = {counted["what"].casefold(): int(counted["count"])}
        words = words[:-2]
    return ({"setting": " ".join(words)} if words and words != [""] else {}) | found


def read_described(text: str) -> Metric | None:
    """Read a metric as schedlab's own mails describe it: `time, s, lower is better`."""
    found = _DESCRIBED.fullmatch(text)
    return metric_of(found["name"], found) if found else None


def metric_of(name: str, found: re.Match[str]) -> Metric:
    """Return the metric whose unit and direction were found; the name is its label too."""
    better: Better = "lower" if found["better"] == "lower" else "higher"
    return Metric(name, found["unit"], better, name)


def own_row(
    context: Context,
    line: Line,
    place: Place,
    variants: tuple[str, str],
    printed: tuple[str, str, str],
    verdict: str,
) -> Row:
    """Make a row of schedlab's own of two figures and a change as printed, and the verdict."""
    base, other = (context.number(text, line.number) for text in printed[:2])
    if min(base.value, other.value) <= 0:
        context.source.refuse(line.number, f"no ratio can be made of '{line.text[:60]}'.")
    is_number = re.fullmatch(PATTERN, printed[2])
    change = context.number(printed[2], line.number) if is_number else None
    said = verdict if verdict in CLAIMS else ""
    cells = (Cell(variants[0], base), Cell(variants[1], other, change, said=said))
    return Row(
        line=line.number,
        benchmark=place.benchmark,
        cells=cells,
        label=place.label,
        params=place.params,
        metric=place.metric,
        unit=base.unit,
        own=place.own,
    )


Reader = Callable[[Sequence[Line], int, Context], Found | None]

READERS: dict[str, Reader] = {}


def table(name: str) -> Callable[[Reader], Reader]:
    """Register a function that reads a shape of table, or returns None where none begins."""

    def register(reader: Reader) -> Reader:
        READERS[name] = reader
        return reader

    return register
