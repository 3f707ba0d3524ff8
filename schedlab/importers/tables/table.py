"""What a reader of a table shape is: a function that takes the lines at which it may begin."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from schedlab.importers.publication import Row
from schedlab.importers.source import Line, Source

Found = tuple[list[Row], int]
"""The rows of a table, and where the text goes on behind it."""

_BASELINES = ("base", "baseline")
_COUNTED = re.compile(r"(?P<count>\d+)[ -](?P<what>[A-Za-z]\w*)")
_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9._+-]+")


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

    def enter(self, benchmark: str) -> None:
        """Begin a benchmark."""
        self.benchmark = benchmark
        self.settings = []

    def variant(self, printed: str) -> str:
        """Name a variant as the lab does; `base` is the baseline, whatever others call it."""
        if printed.casefold() in _BASELINES and self.variants:
            return self.variants[0]
        return _NOT_IN_NAMES.sub("-", printed).strip("-._+") or "unnamed"

    def placed(self, rest: str = "", **params: int | str) -> tuple[str, dict[str, int | str]]:
        """Give label and parameters of a case below these headings."""
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


Reader = Callable[[Sequence[Line], int, Context], Found | None]

READERS: dict[str, Reader] = {}


def table(name: str) -> Callable[[Reader], Reader]:
    """Register a function that reads a shape of table, or gives None where none begins."""

    def register(reader: Reader) -> Reader:
        READERS[name] = reader
        return reader

    return register
