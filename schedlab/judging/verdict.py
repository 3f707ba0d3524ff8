"""A comparison of a variant with the baseline, and the verdict on it."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple, TypeAlias

from schedlab.benchmarks.metric import Better

Word: TypeAlias = Literal["better", "worse", "up", "down", "equivalent", "no effect", "can't tell"]
Values: TypeAlias = Mapping[int, float] | Sequence[float]

SCREENING_BELOW = 6
"""With fewer pairs than this a result is labelled screening."""

JUDGED_FROM = 5
"""With fewer pairs than this there is no verdict and no interval: two modes far apart then look
like an effect too often (docs/internals/statistics.md). The estimate is given all the same."""


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


def without_effect(verdict: Verdict, why: str) -> Verdict:
    """Return the verdict on runs that were the same, run for run: no evidence has to be weighed.

    Why they are not judged, if they are not, stays the first of the notes.
    """
    return replace(
        verdict,
        word="no effect",
        notes=(*(verdict.notes if verdict.withheld else ()), why),
        settled=True,
        futile=False,
        blocks_needed=None,
    )
