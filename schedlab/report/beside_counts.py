"""A result's counts beside published ones: the same rows, and by what factor they differ."""

from collections import Counter
from collections.abc import Iterator

from schedlab.base.errors import SchedlabError
from schedlab.base.words import listing, plural
from schedlab.judging.matched import Counted, counted
from schedlab.judging.reference import find_reference
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import mean_count


def beside_counts(report: Report) -> Exhibit | None:
    """Return the table; None where no counts of these runs were published."""
    order = [case.info.label for case in report.cases]
    rows = sorted(_rows(report), key=lambda row: order.index(row.label))
    if not rows:
        return None
    shown = [row for row in rows if row.published or row.here]
    silent = Counter(row.variant for row in rows if row not in shown)
    notes = ["Means of the runs."]
    if silent:
        left_out = listing([f"{plural(n, 'row')} of {variant}" for variant, n in silent.items()])
        notes.append(f"Left out, as zero in every run published and here: {left_out}.")
    return Exhibit(
        "Counts beside the published results",
        tuple(notes),
        ("Benchmark", "Counter", "Variant", "Published", "Here", "Here / published"),
        tuple(_cells(row) for row in shown),
        names=3,
    )


def _rows(report: Report) -> Iterator[Counted]:
    if not report.plan.published:
        return
    try:
        published = find_reference(report.plan.published)
    except SchedlabError:
        return  # the table of results says so
    cases = [case.info for case in report.cases]
    runs = [run for case in report.cases for run in case.runs]
    yield from counted(published, report.plan.target, report.baseline, cases, runs)


def _cells(row: Counted) -> tuple[str, ...]:
    ratio = f"{row.here / row.published:.2g}" if row.published else ""
    figures = (mean_count(row.published), mean_count(row.here), ratio)
    return (row.label, row.counter, row.variant, *figures)
