"""A result beside published ones: the same rows, and how well they agree."""

from collections.abc import Iterator

import scipy

from schedlab.base.errors import SchedlabError
from schedlab.base.words import plural
from schedlab.judging.matched import NOTABLE, Matched, matched
from schedlab.judging.reference import find_reference
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import number, points


def beside(report: Report) -> Exhibit | None:
    """Return the table; None for a plan that names no published results, or none of these runs."""
    if not report.plan.published:
        return None
    try:
        published = find_reference(report.plan.published)
    except SchedlabError as error:
        return Exhibit("Beside the published results", (str(error),), ("",), ())
    plan, machine = report.plan, report.store.machine
    rows = list(matched(plan.published, published, plan.target, report.analysis.outcomes, machine))
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
        tuple(_cells(row, report.name_of(row.outcome)) for row in rows),
        names=2,
    )


def _cells(row: Matched, name: str) -> tuple[str, ...]:
    verdict = row.outcome.verdict
    sign = ("same" if row.same_sign else "other") if row.notable else ""
    return (
        name,
        row.outcome.variant,
        "" if row.table.relative else number(row.base),
        number(verdict.base_mean),
        "" if row.ratio is None else f"{row.ratio:.2f}",
        points(row.change),
        points(verdict.effect_better),
        verdict.name,
        sign if row.mark == "validation" else row.mark,
    )


def _agreement(shown: list[Matched]) -> Iterator[str]:
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
        rank = scipy.stats.spearmanr([theirs for theirs, _ in pairs], [ours for _, ours in pairs])
        yield (
            f"Rank correlation of the changes in all {plural(len(pairs), 'row')} (Spearman):"
            f" {rank.statistic:.2f}, p = {rank.pvalue:.2g}."
        )
