"""Where two streams of decisions part."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest

from schedlab.lab.divergence.decisions import Decision


@dataclass(frozen=True)
class Parting:
    """Two decisions in the same place of their streams; None where one stream has ended."""

    after: int
    """Decisions before it that were compared."""
    first: Decision | None
    second: Decision | None

    @property
    def time(self) -> float:
        """Return the earlier time, in simulated seconds."""
        return min(side.time for side in (self.first, self.second) if side)


@dataclass(frozen=True)
class Divergence:
    """Where two runs begin to differ at all, and where they first decide differently."""

    compared: int
    anything: Parting | None = None
    """The first difference of any kind: a moment, an input, or a decision."""
    choice: Parting | None = None
    """The first decision that is another, or turns out otherwise."""


def diverge(first: Iterator[Decision], second: Iterator[Decision]) -> Divergence:
    """Compare two runs up to the first decision that differs."""
    anything: Parting | None = None
    compared = 0
    for one, other in zip_longest(first, second):
        if one == other:
            compared += 1
            continue
        parting = Parting(compared, one, other)
        anything = anything or parting
        if one is None or other is None or not one.decides_as(other):
            return Divergence(compared, anything, parting)
        compared += 1
    return Divergence(compared, anything)
