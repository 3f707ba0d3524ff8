"""How many more blocks would settle a comparison, and whether the plan has as many."""

import math
from bisect import bisect_right
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import scipy

from schedlab.judging.evidence import Evidence, Sample, quantile
from schedlab.judging.verdict import JUDGED_FROM
from schedlab.plan.design import Design

_HOPELESS = 1_000_000
"""A projection beyond so many blocks is not shown."""

_TABLED = 1000
"""Up to here projections use Student's t; beyond, the normal distribution (0.2 % off)."""


class Claims(NamedTuple):
    """What was claimed of the `m` metrics of a report; the correction rests on these numbers."""

    m: int
    equivalent: int
    different: int


def blocks_needed(s: Sample, now: Evidence, claims: Claims, design: Design) -> int | None:
    """Return the blocks that would settle it at the level it will be judged at.

    That level is the one at which it would be the next claim of the report.
    """
    tests = s.planned * claims.m
    different, equivalent = claims.different + 1, claims.equivalent + 1
    if design.strict:
        different = equivalent = 1
    alphas = (
        design.alpha * min(different, claims.m) / tests,
        design.alpha * min(equivalent, claims.m) / tests,
    )
    pairs = _pairs_needed(s, now, alphas, design)
    if pairs > _HOPELESS:
        return None
    pairs = max(pairs, JUDGED_FROM)
    if not s.c.paired:
        return max(int(pairs), max(s.n) + 1)
    failed = s.blocks_done - len(s.a)
    blocks = max(int(pairs) + failed, s.blocks_done + 1)
    # Only a look can settle anything.
    return next((look for look in design.looks if look >= blocks), blocks)


def futile(s: Sample, design: Design) -> bool:
    """Return, from the second look on, whether the last look is not likely to settle it either.

    Generous: as if every other metric of the report had been claimed.
    """
    if not s.c.paired or len(s.looks) < 2 or not s.at_looks:
        return False
    alpha = design.alpha / s.planned
    return _pairs_needed(s, s.at_looks[-1], (alpha, alpha), design) > design.looks[-1]


def _pairs_needed(s: Sample, e: Evidence, alphas: tuple[float, float], design: Design) -> float:
    """Return the pairs after which e's estimate and noise would be a difference or equivalence."""
    alpha_difference, alpha_equivalence = alphas
    size = abs(e.estimate)
    if e.noise == 0:
        return math.ceil(1 - math.log2(alpha_difference)) if size else math.inf
    needed = _pairs_to_shrink(size / e.noise, alpha_difference / 2)
    if not s.c.flagged:
        room = math.log1p(design.margin) - size
        needed = min(needed, _pairs_to_shrink(room / e.noise, alpha_equivalence))
    return needed


def _pairs_to_shrink(width: float, tail: float) -> float:
    """Return the pairs at which half an interval, in units of the noise, is below `width`."""
    if width <= 0:
        return math.inf
    halves = _falling_halves(tail)
    found = bisect_right(halves, -width)
    if found < len(halves):
        return found + 2
    return float(np.ceil((quantile(tail, math.inf) / width) ** 2))


@lru_cache(maxsize=256)
def _falling_halves(tail: float) -> list[float]:
    """Return minus half the t interval of unit noise for 2, 3, ... pairs: a rising list."""
    n = np.arange(2, _TABLED + 1)
    halves: list[float] = (scipy.special.stdtrit(n - 1, tail) / np.sqrt(n)).tolist()
    return halves
