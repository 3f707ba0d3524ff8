"""The design of an experiment: when its data is looked at, and how strictly it is judged."""

import math
from dataclasses import dataclass

from schedlab.base.errors import UsageError


@dataclass(frozen=True)
class Design:
    """How evidence is judged: fixed before the first run, and the same for every variant."""

    looks: tuple[int, ...] = (6, 12, 24, 40)
    """Numbers of completed blocks at which the data may be looked at."""
    margin: float = 0.02
    """Ratios from 1 / (1 + margin) to 1 + margin count as equivalent."""
    alpha: float = 0.05
    """The false-alarm rate of a whole report."""
    strict: bool = False
    """Holm instead of Benjamini-Hochberg: no false claim at all, at the price of more blocks."""
    ended: int | None = None
    """Blocks after which a time budget ended the plan; the last look is taken there."""

    def __post_init__(self) -> None:
        """Refuse a design that cannot be carried out.

        Raises:
            UsageError: looks, margin or alpha out of range.
        """
        if not self.looks or self.looks[0] < 1 or list(self.looks) != sorted(set(self.looks)):
            raise UsageError(
                f"looks: {list(self.looks)}: give rising numbers of blocks, 1 or more, "
                "such as 6, 12, 24, 40."
            )
        if not 0 < self.margin < math.inf:
            raise UsageError(f"margin: {self.margin}: give a positive ratio, 0.02 for +-2 %.")
        if not 0 < self.alpha < 1:
            raise UsageError(f"alpha: {self.alpha}: give a probability between 0 and 1.")

    @property
    def taken(self) -> tuple[int, ...]:
        """The looks there are: those planned, the last moved to where a budget ended the plan.

        They are never more than `looks`, by whose number each p is multiplied.
        """
        if self.ended is None:
            return self.looks
        return (*(look for look in self.looks if look < self.ended), self.ended)
