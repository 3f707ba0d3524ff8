"""An exhibit: a table of its own that a report shows beside its verdicts, in any shape."""

from dataclasses import dataclass

from schedlab.judging.axis import Axis


@dataclass(frozen=True)
class Exhibit:
    """A table with what one has to know to read it."""

    title: str
    notes: tuple[str, ...]
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    """As many cells as headings; the first ones name, the others are figures."""
    names: int = 1
    """How many columns name the row."""
    of_counters: bool = False
    """Shown on a terminal where all counters are."""
    axis: Axis | None = None
    """The sweep it shows, which a page draws as well."""
