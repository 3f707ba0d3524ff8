"""Verdicts from runs: better, worse, equivalent, or can't tell.

Everything is done on logarithms, so an effect is a ratio and a mean is a geometric mean. Runs that
were interleaved in blocks are compared pair by pair (one-sample t test on log(B/A)); imported
tables, which have no blocks, by Welch's t test. Equivalence is two one-sided t tests (TOST)
against the margin. The data may be looked at several times and a report has several metrics; both
are paid for: each p is multiplied by the number of planned looks, then Benjamini-Hochberg (or
Holm) runs over the metrics of the report. docs/internals/statistics.md says why,
and how often the method errs, measured.

Nothing here reads or writes anything: data in, verdicts out.
"""

import itertools
import math
from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import scipy
from numpy.typing import NDArray

from schedlab.base.errors import SchedlabError
from schedlab.benchmarks.metric import Better
from schedlab.plan.design import Design

Word: TypeAlias = Literal["better", "worse", "up", "down", "equivalent", "no effect", "can't tell"]
Values: TypeAlias = Mapping[int, float] | Sequence[float]
Array: TypeAlias = NDArray[np.float64]
Alternative: TypeAlias = Literal["two-sided", "less", "greater"]

_DIFFERENCES = ("better", "worse", "up", "down")

SCREENING_BELOW = 6
"""With fewer pairs than this a result is labelled screening."""

JUDGED_FROM = 5
"""With fewer pairs than this there is no verdict and no interval: two modes far apart then look
like an effect too often (docs/internals/statistics.md). The estimate is given all the same."""

_CONSTANT = 1e-12
"""Log ratios that differ by less than this differ only by floating-point rounding."""

_HOPELESS = 1_000_000
"""A projection beyond so many blocks is not shown."""

_TABLED = 1000
"""Up to here projections use Student's t; beyond, the normal distribution (0.2 % off)."""


class Interval(NamedTuple):
    """A confidence interval of an effect, as ratio - 1."""

    low: float
    high: float

    def mirrored(self) -> "Interval":
        """Return the interval of the effect with the opposite sign."""
        return Interval(-self.high, -self.low)


@dataclass(frozen=True, slots=True)
class Comparison:
    """One metric or counter of one benchmark, a variant against the baseline.

    Pass every metric of the report, also those without data yet: they count in the correction, so
    that a verdict given early is not taken back when the others arrive.
    """

    key: Hashable
    """The caller's name for it; it comes back in the verdict and in error messages."""
    base: Values
    """Paired: block number (from 0; a plain list counts as blocks 0, 1, ...) to value."""
    other: Values
    better: Better | None
    """Which direction is better; None for a counter, which goes up or down."""
    blocks_done: int | None = None
    """Blocks completed for this benchmark, failed runs included: tells which looks have happened.
    A failed run is simply missing from its mapping, and takes its pair with it. None: up to the
    last block that has a value. Not used when unpaired."""
    unit: str = "block"
    """What a pair is called: a block of runs, or a boot of the host."""
    paired: bool = True
    """Whether the runs were interleaved in blocks. If not, all values are judged, in one look."""
    flagged: bool = False
    """Saturated or capped: a benchmark at its ceiling looks equal, so it is never certified so."""
    withheld: str = ""
    """Why the values are shown and not judged, e.g. runs that were too short; empty: judged."""
    counts: bool = False
    """A count of events: zeros occur, so log(x + 1/2) is compared."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the data say about one comparison.

    Effects and intervals are ratio - 1 (0.05: other is 5 % above base) of the geometric means and
    use all data so far. `effect_better`, `interval_better` and `interval_adjusted_better` are the
    same with the sign turned so that positive is better.
    """

    key: Hashable
    better: Better | None
    word: Word
    n: tuple[int, int]
    """Values used of base and other; for paired data both are the number of pairs."""
    blocks_done: int
    """0 when unpaired."""
    effect: float | None = None
    interval: Interval | None = None
    """Unadjusted, at 1 - alpha: right for one metric, looked at once, chosen beforehand."""
    interval_adjusted: Interval | None = None
    """At `level_adjusted`: stays right for the claims of a whole report, at whatever look.

    That of a difference ends at zero where it would go beyond: an earlier look has excluded that.
    """
    level_adjusted: float | None = None
    """1 - alpha * R / (looks * m), with R claims among the m metrics of the report."""
    p: float | None = None
    """Two-sided, all data so far, uncorrected."""
    p_adjusted: float | None = None
    """For a difference, corrected for looks and metrics; what the verdict rests on."""
    p_equivalent: float | None = None
    p_equivalent_adjusted: float | None = None
    base_mean: float | None = None
    """Geometric; so that effect = other_mean / base_mean - 1 (for counts, of mean + 1/2)."""
    other_mean: float | None = None
    base_sd: float | None = None
    """Sample standard deviation of the values themselves."""
    other_sd: float | None = None
    noise: float | None = None
    """Standard deviation of the log ratio of one pair: 0.03 is about 3 %."""
    screening: bool = False
    """Fewer than 6 pairs."""
    zero_variance: bool = False
    """Every pair has the same ratio (unpaired: both samples are constant)."""
    manipulation_check: bool = False
    """A counter that is zero in one variant only: shows that the setting took, proves no effect."""
    withheld: bool = False
    """The values are shown, and cannot be judged whatever they are."""
    notes: tuple[str, ...] = ()
    """What keeps this from being an ordinary verdict; empty if nothing does."""
    blocks_needed: int | None = None
    """For "can't tell": the total number of blocks that should settle it, if the present estimate
    and noise stay as they are; None when no number would."""
    futile: bool = False
    """Not even the last look is likely to settle it."""
    settled: bool = False
    """There is a verdict: better, worse, up, down, equivalent, or no effect."""
    unit: str = "block"
    """What a pair is called."""
    extendable: bool = True
    """More blocks can be run: not so for an imported, unpaired table."""

    @property
    def never_happened(self) -> bool:
        """Whether a counter stayed at zero everywhere."""
        means = (self.base_mean, self.other_mean)
        return all(mean is not None and mean < 1e-9 for mean in means)

    @property
    def name(self) -> str:
        """What it is called: its word, unless it was never at issue."""
        if self.manipulation_check:
            return "manipulation check"
        if self.withheld:
            return "not judged"
        return "never happened" if self.never_happened else self.word

    @property
    def note(self) -> str:
        """Its notes in one text, after its name where that is not the word."""
        said = "; ".join(self.notes)
        return ": ".join(filter(None, [self.name, said])) if self.name != self.word else said

    @property
    def effect_better(self) -> float | None:
        """The effect, positive when it is better (for a counter: when it is up)."""
        if self.effect is None or self.better != "lower":
            return self.effect
        return -self.effect

    @property
    def interval_better(self) -> Interval | None:
        """The unadjusted interval, positive when it is better."""
        return self._turned(self.interval)

    @property
    def interval_adjusted_better(self) -> Interval | None:
        """The adjusted interval, positive when it is better."""
        return self._turned(self.interval_adjusted)

    def _turned(self, interval: Interval | None) -> Interval | None:
        return interval.mirrored() if interval and self.better == "lower" else interval


def judge(comparisons: Sequence[Comparison], design: Design) -> list[Verdict]:
    """Return a verdict for each metric (or each counter) of one report, in the given order.

    Raises:
        SchedlabError: a value that cannot be: not finite, not positive, or a negative count.
    """
    return judge_families([comparisons], design)[0]


def judge_families(families: Sequence[Sequence[Comparison]], design: Design) -> list[list[Verdict]]:
    """Judge several reports at once, each corrected for itself; much faster than one by one.

    Raises:
        SchedlabError: a value that cannot be: not finite, not positive, or a negative count.
    """
    samples = [_Sample(c, design) for family in families for c in family]
    _test(samples, design)
    rest = iter(samples)
    return [_judge_family(list(itertools.islice(rest, len(f))), design) for f in families]


def without_effect(verdict: Verdict, why: str) -> Verdict:
    """Return the verdict on runs that were the same, run for run: no evidence has to be weighed."""
    return replace(
        verdict, word="no effect", notes=(why,), settled=True, futile=False, blocks_needed=None
    )


def finished(verdict: Verdict, design: Design) -> bool:
    """Return whether more blocks of this plan are not worth running for this metric."""
    return (
        verdict.settled
        or verdict.futile
        or verdict.manipulation_check
        or not verdict.extendable
        or verdict.blocks_done >= design.taken[-1]
    )


class _Evidence(NamedTuple):
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


class _Sample:
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
        self.evidence: dict[tuple[int, int], _Evidence] = {}

    @property
    def n(self) -> tuple[int, int]:
        """How many values of base and of other count."""
        return len(self.a), len(self.b)

    @property
    def now(self) -> _Evidence | None:
        """The evidence of all data so far; None when there is too little for any."""
        return self.evidence.get(self.n)

    @property
    def at_looks(self) -> list[_Evidence]:
        """The evidence of each look that has happened and had data enough."""
        return [self.evidence[n] for n in self.looks if min(n) >= JUDGED_FROM]

    @cached_property
    def never_happened(self) -> bool:
        """A counter without a single event in either variant: nothing to test."""
        return self.c.counts and not self.a.any() and not self.b.any()

    @cached_property
    def manipulation_check(self) -> bool:
        """A counter without an event in one variant, and with some in every run of the other."""
        apart = (self.b.all() and not self.a.any()) or (self.a.all() and not self.b.any())
        return self.c.counts and min(self.n) > 0 and bool(apart)

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


def _test(samples: Sequence[_Sample], design: Design) -> None:
    """Fill in the evidence, all comparisons of the same size in one call of scipy."""
    groups: defaultdict[tuple[bool, int, int], list[_Sample]] = defaultdict(list)
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
            sample.evidence[n_a, n_b] = _Evidence(*row)


def _paired(a: Array, b: Array, margin: float) -> tuple[Array, ...]:
    """Test rows of pairs; return the columns of _Evidence."""
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
    """Test rows of two samples; return the columns of _Evidence."""
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


def _judge_family(samples: Sequence[_Sample], design: Design) -> list[Verdict]:
    """Return the verdicts of one report, whose samples have been tested."""
    family = [s for s in samples if s.in_family]
    p_difference = dict(zip(family, adjusted(map(_difference, family), design), strict=True))
    p_equivalent = dict(zip(family, adjusted(map(_equivalence, family), design), strict=True))
    words = {s: _word(s, p_difference[s], p_equivalent[s], design) for s in family}
    claims = _Claims(
        len(family),
        equivalent=sum(word == "equivalent" for word in words.values()),
        different=sum(word not in ("equivalent", "can't tell") for word in words.values()),
    )
    return [
        _verdict(
            s, words.get(s, "can't tell"), p_difference.get(s), p_equivalent.get(s), claims, design
        )
        for s in samples
    ]


def _difference(s: _Sample) -> float:
    """Return p for a difference, corrected for looks: times their number, the smallest so far."""
    return min((min(1.0, s.planned * e.p) for e in s.at_looks), default=1.0)


def _equivalence(s: _Sample) -> float:
    """Return the same for equivalence, of which a capped metric has no evidence."""
    if s.c.flagged:
        return 1.0
    return min((min(1.0, s.planned * e.p_equivalent) for e in s.at_looks), default=1.0)


def adjusted(ps: Iterable[float], design: Design) -> list[float]:
    """Correct p values for their number."""
    p = np.fromiter(ps, dtype=float)
    if not p.size:
        return []
    if not design.strict:
        return list(map(float, scipy.stats.false_discovery_control(p)))
    order = np.argsort(p)
    holm = np.empty_like(p)
    holm[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(p.size, 0, -1)), 1)
    return list(map(float, holm))


def _word(s: _Sample, p_difference: float, p_equivalent: float, design: Design) -> Word:
    """Return what the looks have found, unless the data since contradict it."""
    now = s.now
    if now is None:
        return "can't tell"
    # Equivalence goes first: a difference within the margin may be real, and does not matter.
    within = abs(now.estimate) < math.log1p(design.margin)
    if p_equivalent <= design.alpha and within and now.noise > 0:
        return "equivalent"
    if p_difference <= design.alpha and not _turned_round(s):
        if s.c.better is None:
            return "up" if now.estimate > 0 else "down"
        return "better" if (now.estimate > 0) == (s.c.better == "higher") else "worse"
    return "can't tell"


def _turned_round(s: _Sample) -> bool:
    """Return whether the present estimate contradicts the look with the strongest difference."""
    strongest = min(s.at_looks, key=lambda e: e.p, default=None)
    return bool(strongest and s.now and strongest.estimate * s.now.estimate <= 0)


class _Claims(NamedTuple):
    """What was claimed of the `m` metrics of a report; the correction rests on these numbers."""

    m: int
    equivalent: int
    different: int


def _verdict(
    s: _Sample,
    word: Word,
    p_difference: float | None,
    p_equivalent: float | None,
    claims: _Claims,
    design: Design,
) -> Verdict:
    """Put everything there is to say about one comparison into its verdict."""
    c, now = s.c, s.now
    screening = min(s.n) < SCREENING_BELOW
    settled = word != "can't tell"
    bare = Verdict(
        key=c.key,
        better=c.better,
        word=word,
        n=s.n,
        blocks_done=s.blocks_done,
        screening=screening,
        manipulation_check=s.manipulation_check,
        withheld=bool(c.withheld),
        notes=_notes(s, word, p_difference, design),
        settled=settled,
        unit=c.unit,
        extendable=c.paired,
    )
    if min(s.n) == 0:
        return bare
    mean_a, mean_b = float(s.log_a.mean()), float(s.log_b.mean())
    shift = 0.5 if c.counts else 0.0
    with np.errstate(over="ignore"):
        base_mean, other_mean = (max(0.0, float(np.exp(x)) - shift) for x in (mean_a, mean_b))
    described = replace(
        bare,
        effect=_ratio(now.estimate if now else mean_b - mean_a),
        base_mean=base_mean,
        other_mean=other_mean,
    )
    if now is None:
        return described
    if c.withheld:
        return replace(described, futile=bool(s.at_looks))
    with np.errstate(over="ignore", invalid="ignore"):
        base_sd, other_sd = float(s.a.std(ddof=1)), float(s.b.std(ddof=1))
    m, claimed = max(1, claims.m), max(1, claims.equivalent + claims.different)
    # Holm promises that no claim is false, so its intervals hold all at once (Bonferroni).
    level = 1 - design.alpha * (1 if design.strict else claimed) / (s.planned * m)
    if min(s.n) >= JUDGED_FROM:
        present = _interval(now, level)
        kept = _without_other_sign(present, now.estimate) if word in _DIFFERENCES else present
        described = replace(
            described,
            interval=_interval(now, 1 - design.alpha),
            interval_adjusted=kept,
            level_adjusted=level,
            notes=described.notes if kept == present else (*described.notes, _decided(s)),
        )
    return replace(
        described,
        p=now.p,
        p_adjusted=p_difference if s.at_looks else None,
        p_equivalent=now.p_equivalent if now.noise > 0 else None,
        p_equivalent_adjusted=p_equivalent if s.at_looks and now.noise > 0 else None,
        base_sd=base_sd,
        other_sd=other_sd,
        noise=now.noise,
        zero_variance=now.noise == 0,
        blocks_needed=None
        if settled or not s.in_family
        else _blocks_needed(s, now, claims, design),
        futile=not settled and s.in_family and _futile(s, design),
    )


def _notes(s: _Sample, word: Word, p_difference: float | None, design: Design) -> tuple[str, ...]:
    """Return what keeps a comparison from being an ordinary one."""
    c = s.c
    if c.withheld:
        return (c.withheld,)
    notes = list(filter(None, [_of_the_values(s)]))
    if c.flagged:
        notes.append("capped: cannot be certified equivalent")
    if min(s.n) < SCREENING_BELOW:
        what = ("pairs of boots" if c.unit == "boot" else "pairs") if c.paired else "values"
        notes.append(f"screening: fewer than {SCREENING_BELOW} {what}")
    if min(s.n) >= JUDGED_FROM and not s.looks:
        notes.append(f"not judged before {design.taken[0]} {c.unit}s")
    elif min(s.n) >= JUDGED_FROM and not s.at_looks:
        notes.append(f"not judged: fewer than {JUDGED_FROM} at the last look")
    found = p_difference is not None and p_difference <= design.alpha
    if word == "can't tell" and found and _turned_round(s):
        notes.append("the difference found at an earlier look has changed its sign")
    return tuple(notes)


def _of_the_values(s: _Sample) -> str:
    """Return what is unusual about the values themselves; empty if nothing is."""
    if s.manipulation_check:
        return f"zero in every run of the {'variant' if s.a.any() else 'baseline'}"
    if s.never_happened:
        return ""
    if 0 < min(s.n) < JUDGED_FROM:
        return f"no interval from {_counted(s)}: {JUDGED_FROM} are the least for a verdict"
    if s.now is None:
        return "no pair" if s.c.paired else "no value"
    if s.now.noise > 0:
        return ""
    if not s.c.paired:
        return "zero variance: both samples are constant"
    what = "no difference" if s.now.estimate == 0 else "the same difference"
    return f"zero variance: {what} in each of {s.n[0]} pairs"


def _without_other_sign(bounds: Interval | None, estimate: float) -> Interval | None:
    """Return what is left of a claimed difference's interval on its own side of zero.

    The look with the strongest evidence has excluded the other side, at the same level. The looks
    share that level among them, so what all of them leave is right as often as promised.
    """
    if bounds is None:
        return None
    if estimate > 0:
        return Interval(max(bounds.low, 0.0), bounds.high)
    return Interval(bounds.low, min(bounds.high, 0.0))


def _decided(s: _Sample) -> str:
    """Return which look decided, where all data together would not."""
    looks = [n for n in s.looks if min(n) >= JUDGED_FROM]
    strongest = min(looks, key=lambda n: s.evidence[n].p)
    return f"decided by the first {min(strongest)} {s.c.unit}s: they exclude zero"


def _counted(s: _Sample) -> str:
    """Return what there is of a comparison: `3 pairs`, `1 pair of boots`, `2 values`."""
    n = min(s.n)
    if not s.c.paired:
        return "1 value" if n == 1 else f"{n} values"
    return f"{'1 pair' if n == 1 else f'{n} pairs'}{' of boots' if s.c.unit == 'boot' else ''}"


def _ratio(log_ratio: float) -> float:
    """Return exp(x) - 1, infinite where a float cannot hold it."""
    return math.expm1(log_ratio) if log_ratio < 709 else math.inf


def _interval(e: _Evidence, level: float) -> Interval | None:
    """Return the two-sided interval; none without variance, which would make it a single point."""
    if e.noise == 0:
        return None
    half = e.error * _quantile((1 - level) / 2, e.df)
    return Interval(_ratio(e.estimate - half), _ratio(e.estimate + half))


def _quantile(tail: float, df: float) -> float:
    """Return the point of Student's t with `tail` above it; infinity for df means the normal."""
    return -float(scipy.special.stdtrit(df, tail))


def _blocks_needed(s: _Sample, now: _Evidence, claims: _Claims, design: Design) -> int | None:
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


def _futile(s: _Sample, design: Design) -> bool:
    """Return, from the second look on, whether the last look is not likely to settle it either.

    Generous: as if every other metric of the report had been claimed.
    """
    if not s.c.paired or len(s.looks) < 2 or not s.at_looks:
        return False
    alpha = design.alpha / s.planned
    return _pairs_needed(s, s.at_looks[-1], (alpha, alpha), design) > design.looks[-1]


def _pairs_needed(s: _Sample, e: _Evidence, alphas: tuple[float, float], design: Design) -> float:
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
    return float(np.ceil((_quantile(tail, math.inf) / width) ** 2))


@lru_cache(maxsize=256)
def _falling_halves(tail: float) -> list[float]:
    """Return minus half the t interval of unit noise for 2, 3, ... pairs: a rising list."""
    n = np.arange(2, _TABLED + 1)
    halves: list[float] = (scipy.special.stdtrit(n - 1, tail) / np.sqrt(n)).tolist()
    return halves
