"""Whether the runs of a variant fall into two groups: two states of the scheduler, each stable.

A mean of such runs is the state of none, its interval is wide, and more blocks show how often each
state comes, not what a run in one of them gives.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import log
from statistics import geometric_mean

LEAST_RUNS = 6
"""Of fewer nothing is said."""

LEAST_OF_A_GROUP = 3
"""One or two runs far from the others are outliers."""

MANY_RUNS = 12
"""From here on a gap as wide as the wider group is enough; of fewer runs it is twice that.

Then 1.6 % of samples of 6 runs from a normal distribution have such a gap, 0.9 % of 12, and 2 and
4 % from an exponential one.
"""

LEAST_STEP = 0.1
"""States that are nearer than 10 % are not told."""


@dataclass(frozen=True)
class TwoStates:
    """How many runs are in the lower and the upper group, and about what they measured there."""

    runs: tuple[int, int]
    figures: tuple[float, float]

    def note(self, variant: str) -> str:
        """Return it as a note below a table."""
        (few, many), (low, high) = self.runs, map(_rounded, self.figures)
        return (
            f"runs of {variant} fall into two groups, {few} at about {low} and {many} at about"
            f" {high}: what is between is neither"
        )


def two_states(values: Sequence[float]) -> TwoStates | None:
    """Return the two groups that values fall into, if there is a wide enough gap between them."""
    ordered = sorted(values)
    if len(ordered) < LEAST_RUNS or ordered[0] <= 0:
        return None
    needed = 1 if len(ordered) >= MANY_RUNS else 2
    logs = [log(value) for value in ordered]
    for split in range(LEAST_OF_A_GROUP, len(logs) - LEAST_OF_A_GROUP + 1):
        gap = logs[split] - logs[split - 1]
        widest = max(logs[split - 1] - logs[0], logs[-1] - logs[split])
        if gap > max(needed * widest, log(1 + LEAST_STEP)):
            low, high = ordered[:split], ordered[split:]
            return TwoStates((len(low), len(high)), (geometric_mean(low), geometric_mean(high)))
    return None


def _rounded(value: float) -> str:
    return f"{float(f'{value:.3g}'):,.10g}"
