"""What a published table says beside a figure of it: the change it claims, its spread, its words.

A figure with such a note is a mean that others made of runs which are not there.
"""

from dataclasses import dataclass

_NO_SPREAD = "no spread published: no verdict possible"


@dataclass(frozen=True)
class Printed:
    """What was printed beside the figure of a variant; of the baseline, only the spread."""

    case: str
    metric: str
    variant: str
    where: str
    """File and line."""
    change: float | None = None
    """The printed change, as a ratio less one; its sign as printed."""
    base_spread: float | None = None
    other_spread: float | None = None
    """Standard deviations over the means."""
    said: str = ""
    """The verdict that was printed."""
    doubts: tuple[str, ...] = ()
    """What does not follow from the printed figures."""

    def why_no_verdict(self) -> str:
        """Return why nothing can be judged, and what else there is to know."""
        if self.base_spread is None and self.other_spread is None:
            why = _NO_SPREAD
        else:
            spreads = (self.base_spread, self.other_spread)
            found = " and ".join("none" if s is None else f"{100 * s:.2f} %" for s in spreads)
            why = f"spread published ({found}) but no number of runs: no verdict possible"
        said = f"published as {self.said}" if self.said else ""
        return "; ".join(filter(None, [said, why, *self.doubts]))
