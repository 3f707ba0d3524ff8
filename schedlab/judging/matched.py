"""Published rows that a result repeats, each beside its outcome, and counts beside its counters."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import NamedTuple

from schedlab.benchmarks import Case
from schedlab.benchmarks.metric import Better
from schedlab.judging.analysis import Outcome
from schedlab.judging.marks import Mark, mark_of
from schedlab.judging.reference import Figures, Reference, Table, mean
from schedlab.machine.model import Machine
from schedlab.result.record import RunRecord
from schedlab.result.store import CaseInfo

NOTABLE = 0.05
"""A published change from this on is expected to be seen again."""


@dataclass(frozen=True)
class Matched:
    """A published row, and what was found for it."""

    table: Table
    label: str
    outcome: Outcome
    base: float
    """The baseline's published figure, for the parameters of ours."""
    change: float
    """The published change, positive is better."""
    mark: Mark

    @property
    def ratio(self) -> float | None:
        """Our baseline over the published one; None where only the change was published."""
        ours = self.outcome.verdict.base_mean
        return None if ours is None or self.table.relative else ours / self.base

    @property
    def notable(self) -> bool:
        """Whether the change is expected to be seen again."""
        return abs(self.change) >= NOTABLE

    @property
    def same_sign(self) -> bool:
        """Whether ours goes the published way."""
        effect = self.outcome.verdict.effect_better
        return effect is not None and effect * self.change > 0


def matched(
    document: str,
    published: Reference,
    target: str,
    outcomes: Iterable[Outcome],
    machine: Machine | None = None,
) -> Iterator[Matched]:
    """Yield the rows of a document that outcomes on a target repeat.

    Args:
        document: the name of its file under published/, or the file.
        published: what the file says.
        target: what the result was measured or simulated on.
        outcomes: the result's.
        machine: one that does not come with schedlab, whose figures rows may have set as well.
    """
    found = {(o.case.label, o.metric.name, o.variant): o for o in outcomes}
    for table in published.table:
        if table.target != target:
            continue
        for label, base, other in table.rows:
            outcome = found.get((label, table.metric, table.variant))
            if outcome is None:
                continue
            better = change_of(base, other, outcome.metric.better)
            mark = mark_of(document, label, table.metric, machine)
            scaled = mean(base) * table.scale(outcome.case.params)
            yield Matched(table, label, outcome, scaled, better, mark)


def change_of(base: Figures, other: Figures, better: Better) -> float:
    """Return a published change, positive is better."""
    change = mean(other) / mean(base) - 1
    return -change if better == "lower" else change


@dataclass(frozen=True)
class Counted:
    """A published count of an event, and the same counter of our runs."""

    label: str
    counter: str
    variant: str
    is_baseline: bool
    published: float
    """The mean of the runs, for the parameters of ours."""
    here: float


class PublishedCount(NamedTuple):
    """A published count of an event in one variant."""

    label: str
    counter: str
    variant: str
    size: float
    """The mean of the runs, for the parameters of ours."""


def counts_of(
    published: Reference, target: str, baseline: str, cases: Sequence[CaseInfo | Case]
) -> Iterator[PublishedCount]:
    """Yield the counts of a document that a plan's cases on a target repeat.

    Args:
        published: what the document says.
        target: where the runs are made.
        baseline: the variant that the first column of counts stands for.
        cases: the plan's.
    """
    known = {case.label: case for case in cases}
    for table in published.counts:
        if table.target != target:
            continue
        for label, base, other in table.rows:
            if label not in known:
                continue
            scale = table.scale(known[label].params)
            for variant, counts in ((baseline, base), (table.variant, other)):
                yield PublishedCount(label, table.counter, variant, fmean(counts) * scale)


def counted(
    published: Reference,
    target: str,
    baseline: str,
    cases: Sequence[CaseInfo],
    records: Sequence[RunRecord],
) -> Iterator[Counted]:
    """Yield the counts of a document that runs on a target counted as well.

    Args:
        published: what the document says.
        target: where the runs were made.
        baseline: the variant that the first column of counts stands for.
        cases: the benchmarks that were run.
        records: their runs, any of them.
    """
    good = [run for run in records if run.status == "ok" and not run.key.warmup]
    for label, counter, variant, size in counts_of(published, target, baseline, cases):
        runs = [r.counters for r in good if (r.key.case, r.key.variant) == (label, variant)]
        here = [counters[counter] for counters in runs if counter in counters]
        if here:
            is_baseline = variant == baseline
            yield Counted(label, counter, variant, is_baseline, size, fmean(here))
