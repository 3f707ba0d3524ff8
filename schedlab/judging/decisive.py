"""Which counters carry a change: how clearly each moved, times how closely the metric went along.

Both are taken over the runs, on logarithms. A counter's *clearness* is the mean of its paired
changes over their standard deviation, to which the margin is added as a floor: what moved by less
than the margin is never clear. Its *alignment* with a metric is the correlation of the two over all
runs, each run less the mean of its block. The product ranks; it says what goes with a change, not
what causes it (docs/internals/statistics.md).
"""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from schedlab.counters.meaning import Topic
from schedlab.judging.analysis import CounterOutcome, Outcome, RunTable
from schedlab.judging.meanings import meaning_of, twins_of
from schedlab.result.record import RunRecord

Array = NDArray[np.float64]

TOGETHER = 0.02
"""Two counters whose ratio varies by less over the runs move together: one stands for both."""

_VAGUE = (Topic.BALANCE, Topic.CPU_TIME, Topic.OTHER, Topic.BOOKKEEPING)
"""Topics whose counters speak for no counter of another: these say less of what happened."""


@dataclass(frozen=True)
class Ranked:
    """A counter that changed, with how much of the metric's change goes along with it."""

    outcome: CounterOutcome
    clearness: float
    alignment: float
    """With the metric of the case that changed most clearly, -1 to 1."""
    size: float = 1.0
    """How much it changed, as a part of what that metric changed by, both as logarithms."""
    alike: tuple[str, ...] = ()
    """Counters that say the same or move together with it, for which it stands."""

    @property
    def weight(self) -> float:
        """Return what counters are ranked by."""
        return self.clearness * abs(self.alignment)

    @property
    def topic(self) -> Topic:
        """What the scheduler does there."""
        return meaning_of(self.outcome.counter).topic


class _Runs:
    """The runs of a benchmark in the baseline and a variant, as logarithms of their figures."""

    def __init__(
        self,
        base: Mapping[int, RunRecord],
        other: Mapping[int, RunRecord],
        paired: bool,
        floor: float,
    ) -> None:
        blocks = sorted(base.keys() & other.keys())
        self._paired = paired
        self._floor = floor
        self._base = [base[b] for b in blocks] if paired else list(base.values())
        self._other = [other[b] for b in blocks] if paired else list(other.values())

    def counts(self, counter: str) -> Array:
        """Return the logarithms of a counter, of the baseline's runs and then the variant's."""
        return np.log([max(run.counters.get(counter, 0.0), 0.0) + 0.5 for run in self._all])

    def figures(self, metric: str) -> Array | None:
        """Return the logarithms of a metric; None where a run lacks it."""
        values = [run.metrics.get(metric, 0.0) for run in self._all]
        return np.log(values) if values and min(values) > 0 else None

    @property
    def _all(self) -> list[RunRecord]:
        return [*self._base, *self._other]

    def clearness(self, logs: Array) -> float:
        """Return how many of its own standard deviations a figure moved, without a sign."""
        base, other = self._apart(logs)
        if min(len(base), len(other)) < 2:
            return 0.0
        if self._paired:
            noise = float(np.std(other - base, ddof=1))
        else:
            noise = math.hypot(float(np.std(base, ddof=1)), float(np.std(other, ddof=1)))
        return self.change(logs) / math.hypot(noise, self._floor)

    def change(self, logs: Array) -> float:
        """Return how much a figure moved, without a sign."""
        base, other = self._apart(logs)
        return abs(float(np.mean(other) - np.mean(base)))

    def _apart(self, logs: Array) -> tuple[Array, Array]:
        return logs[: len(self._base)], logs[len(self._base) :]

    def alignment(self, one: Array, other: Array) -> float:
        """Return the correlation of two figures over the runs, each less the mean of its block."""
        x, y = self._within_blocks(one), self._within_blocks(other)
        size = float(np.linalg.norm(x) * np.linalg.norm(y))
        return float(x @ y) / size if size > 0 else 0.0

    def _within_blocks(self, logs: Array) -> Array:
        if not self._paired:
            return logs - np.mean(logs)
        pairs = logs.reshape(2, -1)
        return np.asarray((pairs - np.mean(pairs, axis=0)).ravel())


def rank(
    outcomes: Sequence[Outcome],
    moved: Sequence[CounterOutcome],
    table: RunTable,
    paired: bool,
    margin: float,
) -> list[Ranked]:
    """Return the counters of a benchmark that moved in a variant, the weightiest first.

    These changed with evidence, or are zero in one of the two and in no run of the other.
    Those that say the same as another, or move together with it, are left to that one.
    """
    if not moved or not outcomes:
        return []
    [case] = {outcome.case.label for outcome in outcomes}
    [variant] = {outcome.variant for outcome in outcomes}
    of_baseline = table.measured(case, table.baseline)
    runs = _Runs(of_baseline, table.measured(case, variant), paired, math.log1p(margin))
    figures = [f for o in outcomes if (f := runs.figures(o.metric.name)) is not None]
    metric = max(figures, key=runs.clearness, default=None)
    logs = {counter.counter: runs.counts(counter.counter) for counter in moved}
    moved_by = 0.0 if metric is None else runs.change(metric)
    found = [
        Ranked(
            counter,
            runs.clearness(logs[counter.counter]),
            0.0 if metric is None else runs.alignment(logs[counter.counter], metric),
            runs.change(logs[counter.counter]) / moved_by if moved_by else 1.0,
        )
        for counter in moved
    ]
    found.sort(key=lambda each: (-each.weight, -each.clearness, each.outcome.counter))
    return list(_without_doubles(found, np.array([logs[e.outcome.counter] for e in found])))


def _without_doubles(found: Sequence[Ranked], logs: Array) -> Iterator[Ranked]:
    """Yield one counter of each set that says the same, in the place of its weightiest."""
    taken = np.zeros(len(found), dtype=bool)
    for place, each in enumerate(found):
        if taken[place]:
            continue
        together = np.std(logs - logs[place], axis=1) < TOGETHER
        same = [_is_twin(each.outcome.counter, other.outcome.counter) for other in found]
        alike = (together | same) & ~taken
        alike[place] = True
        taken |= alike
        group = [found[i] for i in map(int, np.flatnonzero(alike))]
        names = [one.outcome.counter for one in group]
        speaks = min(group, key=lambda one: _obscurity(one, names))
        others = tuple(name for name in names if name != speaks.outcome.counter)
        yield replace(speaks, alike=others)


def _is_twin(one: str, other: str) -> bool:
    return other in twins_of(one) or one in twins_of(other)


def _obscurity(one: Ranked, names: Sequence[str]) -> tuple[int, bool, bool]:
    """Return what keeps a counter from standing for others: the entry speaks, not the exit."""
    topic = _VAGUE.index(one.topic) + 1 if one.topic in _VAGUE else 0
    is_effort = meaning_of(one.outcome.counter).is_effort
    return topic, is_effort, any(twin in names for twin in twins_of(one.outcome.counter))
