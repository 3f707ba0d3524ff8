"""A lab whose truth is known: noise made in run order, runs in blocks, judged by the real code.

Everything is vectorised over many reports at once; only `judge_families` and `finished` of
schedlab.judging.stats decide what is claimed and when a benchmark stops.
"""

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from schedlab.judging.stats import finished, judge_families
from schedlab.judging.verdict import Comparison, Verdict
from schedlab.plan.design import Design

Array = NDArray[np.float64]
Noise = Callable[[np.random.Generator, Array, int], Array]
"""Makes log noise of shape (reports, benchmarks, runs) from a scale of (reports, benchmarks, 1)."""

BENCHMARKS = 11


def iid(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Normal, independent."""
    return cv * rng.standard_normal((*cv.shape[:2], runs))


def skewed(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Exponential: a floor, and a long tail of slow runs."""
    return cv * rng.exponential(1, (*cv.shape[:2], runs))


def bimodal(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Three runs in ten land in a slow mode, three cv away."""
    slow = rng.random((*cv.shape[:2], runs)) < 0.3
    return 3 * cv * slow + iid(rng, 0.3 * cv, runs)


def two_modes(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Every run is tossed into one of two modes 30 times as far apart as each is wide."""
    slow = rng.random((*cv.shape[:2], runs)) < 0.5
    return 3 * cv * slow + iid(rng, 0.1 * cv, runs)


def sticky_modes(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Two modes, and the machine stays in one for ten runs on average."""
    slow = np.cumsum(rng.random((*cv.shape[:2], runs)) < 0.1, axis=-1) % 2
    return 3 * cv * slow + iid(rng, 0.3 * cv, runs)


def rare_outliers(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """One run in twenty is ten cv slower."""
    slow = rng.random((*cv.shape[:2], runs)) < 0.05
    return 10 * cv * slow + iid(rng, 0.5 * cv, runs)


def heavy_tailed(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Student's t with 1.5 degrees of freedom: infinite variance."""
    return np.clip(0.5 * cv * rng.standard_t(1.5, (*cv.shape[:2], runs)), -50, 50)


def drifting(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """A straight drift of up to 20 % in either direction over the series."""
    slope = rng.uniform(-0.2, 0.2, cv.shape)
    return iid(rng, cv, runs) + slope * np.arange(runs) / runs


def autocorrelated(rng: np.random.Generator, cv: Array, runs: int, rho: float = 0.9) -> Array:
    """AR(1): each run resembles the one before."""
    shocks = iid(rng, np.ones_like(cv), runs)
    out = np.empty_like(shocks)
    out[..., 0] = shocks[..., 0]
    for i in range(1, runs):
        out[..., i] = rho * out[..., i - 1] + math.sqrt(1 - rho * rho) * shocks[..., i]
    return cv * out


def steep_drift(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """A drift of 30 % over the series, with a tenth of the usual noise: hardly anything else."""
    direction = rng.choice([-0.3, 0.3], cv.shape)
    return iid(rng, 0.1 * cv, runs) + direction * np.arange(runs) / runs


def warming_up(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """The machine loses 10 % in the first runs as it heats up, with a tenth of the usual noise."""
    return iid(rng, 0.1 * cv, runs) + 0.1 * np.exp(-np.arange(runs) / 10)


def alternating(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Every second run is slow, e.g. because each leaves the memory as the next dislikes it."""
    return iid(rng, 0.3 * cv, runs) + 3 * cv * (np.arange(runs) % 2)


def every_other_pair(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """Slow, slow, fast, fast, ... from a random start: a period of four runs."""
    phase = rng.integers(0, 4, cv.shape)
    return iid(rng, 0.3 * cv, runs) + 3 * cv * ((np.arange(runs) + phase) % 4 < 2)


def negatively_correlated(rng: np.random.Generator, cv: Array, runs: int) -> Array:
    """AR(1) with -0.9: each run tends to be the opposite of the one before."""
    return autocorrelated(rng, cv, runs, rho=-0.9)


ORDINARY: tuple[Noise, ...] = (
    iid,
    skewed,
    bimodal,
    two_modes,
    sticky_modes,
    rare_outliers,
    heavy_tailed,
    drifting,
    autocorrelated,
)
HOSTILE: tuple[Noise, ...] = (
    steep_drift,
    warming_up,
    alternating,
    negatively_correlated,
    every_other_pair,
)

Order = Literal["random", "reversed pairs", "balanced sixes"]


@dataclass(frozen=True)
class Outcome:
    """What many reports of one kind said, benchmark by benchmark."""

    verdicts: list[list[Verdict]]
    effects: Array
    """The truth: log ratios, of shape (reports, benchmarks)."""
    blocks: NDArray[np.int64]
    """Blocks run, of the same shape."""

    def claimed(self, *words: str) -> NDArray[np.bool_]:
        """Return where the verdict was one of these words."""
        return np.array([[v.word in words for v in report] for report in self.verdicts])

    @property
    def differences(self) -> NDArray[np.bool_]:
        """Return where a difference was claimed."""
        return self.claimed("better", "worse")

    @property
    def equivalences(self) -> NDArray[np.bool_]:
        """Return where equivalence was claimed."""
        return self.claimed("equivalent")

    @property
    def right(self) -> NDArray[np.bool_]:
        """Return where a true difference was found, with its sign."""
        up = self.claimed("better")
        return np.where(self.effects > 0, up, self.claimed("worse") & (self.effects < 0))

    def missed(self, *, adjusted: bool) -> NDArray[np.bool_]:
        """Return where the interval, or the lack of one, does not contain the truth."""
        out = np.ones(self.effects.shape, dtype=bool)
        for r, report in enumerate(self.verdicts):
            for i, v in enumerate(report):
                interval = v.interval_adjusted if adjusted else v.interval
                if interval:
                    truth = math.expm1(self.effects[r, i])
                    out[r, i] = not interval.low <= truth <= interval.high
        return out


def mixed_cv(
    rng: np.random.Generator, reports: int, low: float = 0.01, high: float = 0.30
) -> Array:
    """Draw a noise level for each benchmark, evenly on a logarithmic scale."""
    return np.exp(rng.uniform(math.log(low), math.log(high), (reports, BENCHMARKS, 1)))


def variant_first(
    rng: np.random.Generator, shape: tuple[int, int], blocks: int, order: Order
) -> NDArray[np.bool_]:
    """Draw for each block whether the variant runs before the baseline.

    Reversed pairs: every second block runs in the opposite order of the one before.
    Balanced sixes: of each six blocks three start with the variant, and not every other one.
    """
    if order == "random":
        return rng.random((*shape, blocks)) < 0.5
    if order == "reversed pairs":
        first = rng.random((*shape, -(-blocks // 2))) < 0.5
        return np.stack([first, ~first], axis=-1).reshape(*shape, -1)[..., :blocks]
    sixes = np.array([s for s in itertools.product([False, True], repeat=6) if sum(s) == 3])
    sixes = sixes[(sixes[:, 1:] == sixes[:, :-1]).any(axis=1)]
    drawn: NDArray[np.bool_] = sixes[rng.integers(0, len(sixes), (*shape, -(-blocks // 6)))]
    return drawn.reshape(*shape, -1)[..., :blocks]


def interleave(rng: np.random.Generator, noise: Array, order: Order) -> tuple[Array, Array]:
    """Deal noise, in run order, to the baseline's and the variant's blocks."""
    by_block = noise.reshape(*noise.shape[:2], -1, 2)
    first = variant_first(rng, noise.shape[:2], by_block.shape[2], order)
    early, late = by_block[..., 0], by_block[..., 1]
    return np.where(first, late, early), np.where(first, early, late)


def run_reports(
    base: Array, other: Array, effects: Array, design: Design, budgets: Array | None = None
) -> Outcome:
    """Run the adaptive protocol on prepared log noise: blocks, look, judge, stop or go on.

    With `budgets`, one for each report, the values are the seconds their runs take, and a report
    ends after the last block that fits, as far as the blocks before let expect.
    """
    values_a, values_b = np.exp(base).tolist(), np.exp(other + effects[..., None]).tolist()
    reports, benchmarks = effects.shape
    blocks = np.zeros((reports, benchmarks), dtype=np.int64)
    running = np.ones((reports, benchmarks), dtype=bool)
    verdicts: list[list[Verdict]] = [[] for _ in range(reports)]
    pairs = np.exp(base) + np.exp(other + effects[..., None])
    spent = np.zeros(reports)
    earlier = 0
    for look in design.looks:
        ends = np.full(reports, look)
        if budgets is not None:
            for r in np.flatnonzero(running.any(axis=1)):
                ends[r], spent[r] = _fitting(
                    pairs[r], running[r], earlier, look, spent[r], budgets[r]
                )
        earlier = look
        blocks = np.where(running, ends[:, None], blocks)
        open_reports = np.flatnonzero(running.any(axis=1)).tolist()
        families = [
            [
                Comparison(
                    key=i,
                    base=values_a[r][i][: blocks[r, i]],
                    other=values_b[r][i][: blocks[r, i]],
                    better="higher",
                    blocks_done=int(blocks[r, i]),
                )
                for i in range(benchmarks)
            ]
            for r in open_reports
        ]
        for end in set(ends[open_reports].tolist()):
            which = [i for i, r in enumerate(open_reports) if ends[r] == end]
            cut = replace(design, ended=end) if end < look else design
            judged = judge_families([families[i] for i in which], cut)
            for i, report in zip(which, judged, strict=True):
                r = open_reports[i]
                verdicts[r] = report
                running[r] &= [not finished(v, cut) for v in report] if end == look else False
    return Outcome(verdicts, effects, blocks)


def _fitting(
    pairs: Array, running: NDArray[np.bool_], begin: int, look: int, spent: float, budget: float
) -> tuple[int, float]:
    """Return the block at which a budget ends a report, its last look at most, and that time."""
    for block in range(begin, look):
        if block:
            mean = float(pairs[running, :block].mean(axis=1).sum())
            if spent + mean > budget:
                return block, spent
        spent += float(pairs[running, block].sum())
    return look, spent


def simulate(
    rng: np.random.Generator,
    noise: Noise,
    reports: int,
    design: Design,
    effects: Array | None = None,
    cv: Array | None = None,
    order: Order = "random",
    budgeted: bool = False,
) -> Outcome:
    """Run whole reports: noise in run order, two runs to a block, the variant off by `effects`.

    `budgeted`: each report has a time budget of its own, for 5 to 40 blocks at the usual speed.
    """
    cv = mixed_cv(rng, reports) if cv is None else cv
    log_noise = noise(rng, cv, 2 * design.looks[-1])
    base, other = interleave(rng, log_noise, order)
    truth = np.zeros((reports, BENCHMARKS)) if effects is None else effects
    budgets = rng.uniform(5, 40, reports) * 2 * BENCHMARKS if budgeted else None
    return run_reports(base, other, truth, design, budgets)


def judge_unpaired(base: Array, other: Array, effects: Array, design: Design) -> Outcome:
    """Judge imported tables: log noise of shape (reports, benchmarks, values), no blocks."""
    values_a, values_b = np.exp(base).tolist(), np.exp(other + effects[..., None]).tolist()
    families = [
        [
            Comparison(i, a, b, better="higher", paired=False)
            for i, (a, b) in enumerate(zip(report_a, report_b, strict=True))
        ]
        for report_a, report_b in zip(values_a, values_b, strict=True)
    ]
    blocks = np.full(effects.shape, base.shape[2], dtype=np.int64)
    return Outcome(judge_families(families, design), effects, blocks)


def mixed_effects(rng: np.random.Generator, shape: tuple[int, int]) -> Array:
    """Draw true effects as a report has them: some none, some within the margin, some not."""
    sizes = np.array([0, 0, 0, 0.005, 0.01, 0.03, 0.05, 0.08, 0.15])
    effects: Array = np.log1p(rng.choice(sizes, shape)) * rng.choice([-1.0, 1.0], shape)
    return effects


def rate(hits: npt.ArrayLike) -> tuple[float, float]:
    """Return a mean over independent reports and its Monte-Carlo standard error."""
    x = np.asarray(hits, dtype=float)
    return float(x.mean()), float(x.std() / math.sqrt(len(x)))
