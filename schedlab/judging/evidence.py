"""What the values of a comparison show: an estimate, its noise, and scipy's tests of it.

All of it is on logarithms, so an effect is a ratio and a mean is a geometric mean.
"""

import math
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from schedlab.base.errors import SchedlabError
from schedlab.judging.verdict import JUDGED_FROM, Comparison, Interval, Values
from schedlab.plan.design import Design

Array: TypeAlias = NDArray[np.float64]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

_CONSTANT = 1e-12
"""Log ratios that differ by less than this differ only by floating-point rounding."""


class Evidence(NamedTuple):
    """One comparison on the data of one moment: the estimate and its tests."""

    estimate: float
    """Mean log ratio."""
    noise: float
    """Standard deviation of a log ratio; 0 when there is no variance at all."""
    error: float
    """Standard error of the estimate."""
    df: float
    p: float
    p_equivalent: float


class Sample:
    """The values of one comparison in the order they count, and the evidence from them."""

    def __init__(self, c: Comparison, design: Design) -> None:
        base, other = _checked(c, c.base, "baseline"), _checked(c, c.other, "variant")
        self.c = c
        self.blocks_done = 0
        if c.paired:
            last = max(base.keys() | other.keys(), default=-1)
            self.blocks_done = done = last + 1 if c.blocks_done is None else c.blocks_done
            blocks = sorted(b for b in base.keys() & other.keys() if 0 <= b < done)
            self.a = np.array([base[b] for b in blocks], dtype=float)
            self.b = np.array([other[b] for b in blocks], dtype=float)
            self.planned = len(design.looks)
            sizes = [bisect_left(blocks, look) for look in design.taken if look <= done]
            self.looks = [(n, n) for n in sizes]
        else:
            self.a = np.array(list(base.values()), dtype=float)
            self.b = np.array(list(other.values()), dtype=float)
            self.planned = 1
            self.looks = [self.n]
        shift = 0.5 if c.counts else 0.0
        self.log_a, self.log_b = np.log(self.a + shift), np.log(self.b + shift)
        self.evidence: dict[tuple[int, int], Evidence] = {}

    @property
    def n(self) -> tuple[int, int]:
        """How many values of base and of other count."""
        return len(self.a), len(self.b)

    @property
    def now(self) -> Evidence | None:
        """The evidence of all data so far; None when there is too little for any."""
        return self.evidence.get(self.n)

    @property
    def at_looks(self) -> list[Evidence]:
        """Return the evidence of each look that has happened and had enough data."""
        return [self.evidence[n] for n in self.looks if min(n) >= JUDGED_FROM]

    @cached_property
    def never_happened(self) -> bool:
        """A counter without a single event in either variant: nothing to test."""
        return self.c.counts and not self.a.any() and not self.b.any()

    @cached_property
    def manipulation_check(self) -> bool:
        """A counter without an event in one variant, and with some in every run of the other.

        Of fewer runs than a verdict needs nothing follows.
        """
        apart = (self.b.all() and not self.a.any()) or (self.a.all() and not self.b.any())
        return self.c.counts and min(self.n) >= JUDGED_FROM and bool(apart)

    @property
    def in_family(self) -> bool:
        """Whether it counts as one of the report's metrics."""
        return not (self.never_happened or self.manipulation_check or self.c.withheld)


def _checked(c: Comparison, values: Values, side: str) -> Mapping[int, float]:
    """Return the values by block, refusing those that no logarithm can be taken of."""
    by_block = values if isinstance(values, Mapping) else dict(enumerate(values))
    for block, value in by_block.items():
        if not math.isfinite(value) or value < 0 or (value == 0 and not c.counts):
            name = " ".join(map(str, c.key)) if isinstance(c.key, tuple) else str(c.key)
            what = "a count is 0 or more" if c.counts else "a metric is a positive, finite number"
            raise SchedlabError(
                f"{name}: {side}, block {block}: {value} cannot be judged; {what}. "
                "Leave a failed run out instead."
            )
    return by_block


def test(samples: Sequence[Sample], design: Design) -> None:
    """Fill in the evidence, all comparisons of the same size in one call of scipy."""
    groups: defaultdict[tuple[bool, int, int], list[Sample]] = defaultdict(list)
    for sample in samples:
        for n in {*sample.looks, sample.n}:
            if min(n) >= 2:
                groups[sample.c.paired, *n].append(sample)
    for (paired, n_a, n_b), members in groups.items():
        a = np.stack([s.log_a[:n_a] for s in members])
        b = np.stack([s.log_b[:n_b] for s in members])
        margin = math.log1p(design.margin)
        columns = _paired(a, b, margin) if paired else _unpaired(a, b, margin, design.alpha)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        for sample, row in zip(members, rows, strict=True):
            sample.evidence[n_a, n_b] = Evidence(*row)


def _paired(a: Array, b: Array, margin: float) -> tuple[Array, ...]:
    """Test rows of pairs; return the columns of Evidence."""
    d = b - a
    n = d.shape[1]
    varied = np.ptp(d, axis=1) > _CONSTANT
    estimate = _settle_zero(d.mean(axis=1))
    noise = np.where(varied, d.std(axis=1, ddof=1), 0.0)
    # Without variance t has no scale. What stays valid, whatever the noise, is the sign test: n
    # differences of one sign have probability 2^(1-n).
    p = np.where(estimate != 0, 2.0 ** (1 - n), 1.0)
    p_equivalent = np.ones(len(d))
    if varied.any():
        x = d[varied]
        p[varied] = scipy.stats.ttest_1samp(x, 0.0, axis=1).pvalue
        above = scipy.stats.ttest_1samp(x, -margin, axis=1, alternative="greater").pvalue
        below = scipy.stats.ttest_1samp(x, margin, axis=1, alternative="less").pvalue
        p_equivalent[varied] = np.maximum(above, below)
    return estimate, noise, noise / math.sqrt(n), np.full(len(d), n - 1.0), p, p_equivalent


def _unpaired(a: Array, b: Array, margin: float, alpha: float) -> tuple[Array, ...]:
    """Test rows of two samples; return the columns of Evidence."""
    n_a, n_b = a.shape[1], b.shape[1]
    # From moments: on a sample that is constant in one variant only, which is fine for Welch,
    # ttest_ind() itself warns of lost precision.
    var_a, var_b = (
        np.where(np.ptp(x, axis=1) > _CONSTANT, x.var(axis=1, ddof=1), 0.0) for x in (a, b)
    )
    varied = var_a + var_b > 0
    estimate = _settle_zero(b.mean(axis=1) - a.mean(axis=1))
    # Without variance: the share of relabellings that keep the samples apart.
    p = np.where(estimate != 0, min(1.0, 2 / math.comb(n_a + n_b, n_a)), 1.0)
    p_equivalent = np.ones(len(a))
    se_a, se_b = var_a / n_a, var_b / n_b
    df = np.ones(len(a))
    if varied.any():
        se2 = (se_a + se_b)[varied]
        df[varied] = se2**2 / (se_a[varied] ** 2 / (n_a - 1) + se_b[varied] ** 2 / (n_b - 1))

        def welch(shift: float, alternative: Alternative) -> Array:
            result = scipy.stats.ttest_ind_from_stats(
                estimate[varied] - shift,
                np.sqrt(var_b[varied]),
                n_b,
                0.0,
                np.sqrt(var_a[varied]),
                n_a,
                equal_var=False,
                alternative=alternative,
            )
            return np.asarray(result.pvalue)

        p[varied] = welch(0.0, "two-sided")
        p_equivalent[varied] = np.maximum(welch(-margin, "greater"), welch(margin, "less"))
        if n_a != n_b:
            # A p above alpha claims nothing anyway.
            for i in np.flatnonzero(varied & (p <= alpha)):
                p[i] = max(p[i], _permutation_p(a[i], b[i], "two-sided"))
            for i in np.flatnonzero(varied & (p_equivalent <= alpha)):
                above = _permutation_p(a[i] - margin, b[i], "greater")
                below = _permutation_p(a[i] + margin, b[i], "less")
                p_equivalent[i] = max(p_equivalent[i], above, below)
    return estimate, np.sqrt(var_a + var_b), np.sqrt(se_a + se_b), df, p, p_equivalent


def _permutation_p(a: Array, b: Array, alternative: Alternative) -> float:
    """Test b against a by permutation.

    Between samples of equal size Welch errs on the safe side whatever the noise. Between unequal
    ones, skewed or two-mode noise makes it claim far too much; this never does.
    """
    test = scipy.stats.permutation_test(
        (b, a),
        lambda x, y, axis: np.mean(x, axis=axis) - np.mean(y, axis=axis),
        vectorized=True,
        alternative=alternative,
        random_state=0,
    )
    return float(test.pvalue)


def _settle_zero(estimate: Array) -> Array:
    """Return zero for an estimate that is only rounding."""
    return np.where(np.abs(estimate) <= _CONSTANT, 0.0, estimate)


def ratio(log_ratio: float) -> float:
    """Return exp(x) - 1, infinite where a float cannot hold it."""
    return math.expm1(log_ratio) if log_ratio < 709 else math.inf


def interval(e: Evidence, level: float) -> Interval | None:
    """Return the two-sided interval; none without variance, which would make it a single point."""
    if e.noise == 0:
        return None
    half = e.error * quantile((1 - level) / 2, e.df)
    return Interval(ratio(e.estimate - half), ratio(e.estimate + half))


def quantile(tail: float, df: float) -> float:
    """Return the point of Student's t with `tail` above it; infinity for df means the normal."""
    return -float(scipy.special.stdtrit(df, tail))
