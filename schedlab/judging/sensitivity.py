"""Which figure of the machine a simulated change depends on most.

Each block drew the machine's figures. The figure whose positions go best with the blocks' changes,
by Spearman's rank correlation, is named if so strong a correlation is rare when the changes are
dealt to the blocks at random: the best of some fifty figures looks strong by chance alone, and the
permutations take the best of all of them each time. docs/internals/statistics.md has the
thresholds.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import scipy

from schedlab.machine.draws import Draw

FEWEST_BLOCKS = 12
"""With fewer blocks a figure that decides everything can hardly be distinguished from chance."""

_PERMUTATIONS = 1999


@dataclass(frozen=True)
class Dependence:
    """The figure that a change goes with best."""

    figure: str
    """Its key path."""
    correlation: float
    """Spearman's, of its positions with the log ratios of the blocks."""
    p: float
    """How often the best of all figures is as good by chance."""
    low: float
    """The change where the figure was in the lower half of its draws, as ratio - 1."""
    high: float
    """The change where it was in the upper half."""


def strongest(changes: Mapping[int, float], draws: Mapping[int, Draw]) -> Dependence | None:
    """Return the figure that the changes go with best; None where there is nothing to say.

    Args:
        changes: the log ratio of each block.
        draws: the draw of each block.
    """
    blocks = sorted(changes.keys() & draws.keys())
    keys = sorted(set.intersection(*(set(draws[block]) for block in blocks))) if blocks else []
    values = np.array([changes[block] for block in blocks])
    if len(blocks) < FEWEST_BLOCKS or not keys or np.ptp(values) == 0:
        return None
    positions = np.array([[draws[block][key] for key in keys] for block in blocks])
    ranks = _standardised(scipy.stats.rankdata(positions, axis=0))
    ranked = _standardised(scipy.stats.rankdata(values))
    found = ranked @ ranks / len(blocks)
    best = int(np.argmax(np.abs(found)))
    rng = np.random.default_rng(len(blocks))
    dealt = rng.permuted(np.tile(ranked, (_PERMUTATIONS, 1)), axis=1)
    by_chance = np.abs(dealt @ ranks / len(blocks)).max(axis=1)
    as_good = int((by_chance >= abs(found[best]) - 1e-12).sum())
    below = positions[:, best] <= np.median(positions[:, best])
    return Dependence(
        figure=keys[best],
        correlation=float(found[best]),
        p=(1 + as_good) / (1 + _PERMUTATIONS),
        low=float(np.expm1(values[below].mean())),
        high=float(np.expm1(values[~below].mean())),
    )


def claimed(found: Sequence[Dependence | None], alpha: float) -> list[bool]:
    """Return which may be named: of those, no more than `alpha` is expected to be chance."""
    tested = [each.p for each in found if each]
    adjusted = iter(scipy.stats.false_discovery_control(tested) if tested else ())
    return [bool(each and next(adjusted) <= alpha) for each in found]


def _standardised(ranks: "np.typing.NDArray[np.float64]") -> "np.typing.NDArray[np.float64]":
    """Return ranks of mean 0 and variance 1, by column."""
    centred = ranks - ranks.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))
