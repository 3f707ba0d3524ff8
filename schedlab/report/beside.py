"""A result beside published ones: the same rows, and how well they agree."""

from collections.abc import Iterator
from dataclasses import dataclass

from scipy.stats import spearmanr

from schedlab.analysis import Outcome
from schedlab.errors import SchedlabError
from schedlab.marks import Mark
from schedlab.matched import NOTABLE, matched
from schedlab.reference import Reference, find_reference
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import number, plural, points, verdict_word


@dataclass(frozen=True)
class _Row:
    outcome: Outcome
    base: float
    """The baseline's published figure, for the parameters of the run."""
    change: float
    """The published change, positive is better."""
    relative: bool
    mark: Mark

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
        sign = sign if self.mark == "validation" else self.mark
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
    """Return the table; None for a plan that names no published results, or none of these runs."""
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
    plan, outcomes = report.plan, report.analysis.outcomes
    for row in matched(plan.published, published, plan.target, outcomes, report.store.machine):
        scaled = row.base * row.table.scale(row.outcome.case.params)
        yield _Row(row.outcome, scaled, row.change, row.table.relative, row.mark)


def _agreement(shown: list[_Row]) -> Iterator[str]:
    rows = [row for row in shown if row.mark == "validation"]
    if left_out := len(shown) - len(rows):
        yield (
            f"{plural(left_out, 'row')} set figures of the machine (calibration) and"
            f" {'is' if left_out == 1 else 'are'} not counted."
        )
    if not rows:
        return
    notable = [row for row in rows if row.notable]
    same = sum(row.same_sign for row in notable)
    yield (
        f"Of {plural(len(notable), 'row')} whose published change is {NOTABLE:.0%} or more,"
        f" {same} {'has' if same == 1 else 'have'} the same sign here."
    )
    effects = [(row.change, row.outcome.verdict.effect_better) for row in rows]
    pairs = [(theirs, ours) for theirs, ours in effects if ours is not None]
    if len({theirs for theirs, _ in pairs}) > 2 and len({ours for _, ours in pairs}) > 2:
        rank = spearmanr([theirs for theirs, _ in pairs], [ours for _, ours in pairs])
        yield (
            f"Rank correlation of the changes in all {plural(len(pairs), 'row')} (Spearman):"
            f" {rank.statistic:.2f}, p = {rank.pvalue:.2g}."
        )
