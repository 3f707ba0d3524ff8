"""A result beside published ones: the same rows, and how well they agree."""

from collections.abc import Iterator
from dataclasses import dataclass

from scipy.stats import spearmanr

from schedlab.analysis import Outcome
from schedlab.errors import SchedlabError
from schedlab.reference import Reference, find_reference, mean
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import number, plural, points, verdict_word

NOTABLE = 0.05
"""A published change from this on is expected to be seen again."""


@dataclass(frozen=True)
class _Row:
    outcome: Outcome
    base: float
    """The baseline's published figure, for the parameters of the run."""
    change: float
    """The published change, positive is better."""
    relative: bool

    @property
    def notable(self) -> bool:
        return abs(self.change) >= NOTABLE

    @property
    def same_sign(self) -> bool:
        effect = self.outcome.verdict.effect_better
        return effect is not None and effect * self.change > 0

    def cells(self, name: str) -> tuple[str, ...]:
        verdict = self.outcome.verdict
        ours = verdict.base_mean
        ratio = "" if ours is None or self.relative else f"{ours / self.base:.2f}"
        sign = ("same" if self.same_sign else "other") if self.notable else ""
        return (
            name,
            self.outcome.variant,
            "" if self.relative else number(self.base),
            number(ours),
            ratio,
            points(self.change),
            points(verdict.effect_better),
            verdict_word(verdict),
            sign,
        )


def beside(report: Report) -> Exhibit | None:
    """Give the table; None for a plan that names no published results, or none of these runs."""
    if not report.plan.published:
        return None
    try:
        published = find_reference(report.plan.published)
    except SchedlabError as error:
        return Exhibit("Beside the published results", (str(error),), ("",), ())
    rows = list(_rows(report, published))
    if not rows:
        return None
    return Exhibit(
        "Beside the published results",
        (
            f"Published: {published.title} ({published.source}).",
            *_agreement(rows),
        ),
        (
            *("Benchmark", "Variant", "Published", "Here", "Here / published"),
            *("Published change (%)", "Change here (%)", "Verdict here", "Sign"),
        ),
        tuple(row.cells(report.name_of(row.outcome)) for row in rows),
        names=2,
    )


def _rows(report: Report, published: Reference) -> Iterator[_Row]:
    outcomes = {(o.case.label, o.metric.name, o.variant): o for o in report.analysis.outcomes}
    for table in published.table:
        if table.target != report.plan.target:
            continue
        for label, base, other in table.rows:
            outcome = outcomes.get((label, table.metric, table.variant))
            if outcome is not None:
                change = mean(other) / mean(base) - 1
                better = -change if outcome.metric.better == "lower" else change
                scaled = mean(base) * table.scale(outcome.case.params)
                yield _Row(outcome, scaled, better, table.relative)


def _agreement(rows: list[_Row]) -> Iterator[str]:
    notable = [row for row in rows if row.notable]
    same = sum(row.same_sign for row in notable)
    yield (
        f"Of {plural(len(notable), 'row')} whose published change is {NOTABLE:.0%} or more,"
        f" {same} have the same sign here."
    )
    effects = [(row.change, row.outcome.verdict.effect_better) for row in rows]
    pairs = [(theirs, ours) for theirs, ours in effects if ours is not None]
    if len({theirs for theirs, _ in pairs}) > 2 and len({ours for _, ours in pairs}) > 2:
        rank = spearmanr([theirs for theirs, _ in pairs], [ours for _, ours in pairs])
        yield (
            f"Rank correlation of the changes in all {plural(len(pairs), 'row')} (Spearman):"
            f" {rank.statistic:.2f}, p = {rank.pvalue:.2g}."
        )
