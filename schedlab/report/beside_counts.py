"""A result's counts beside published ones: the same rows, and by what factor they differ."""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from statistics import fmean

from schedlab.errors import SchedlabError
from schedlab.reference import find_reference
from schedlab.report.content import Report, by_variant
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import listing, mean_count, plural


@dataclass(frozen=True)
class _Row:
    label: str
    counter: str
    variant: str
    published: float
    """For the parameters of the run."""
    here: float

    def cells(self) -> tuple[str, ...]:
        ratio = f"{self.here / self.published:.2g}" if self.published else ""
        figures = (mean_count(self.published), mean_count(self.here), ratio)
        return (self.label, self.counter, self.variant, *figures)


def beside_counts(report: Report) -> Exhibit | None:
    """Give the table; None where no counts of these runs were published."""
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
        tuple(row.cells() for row in shown),
        names=3,
    )


def _rows(report: Report) -> Iterator[_Row]:
    if not report.plan.published:
        return
    try:
        published = find_reference(report.plan.published)
    except SchedlabError:
        return  # the table of results says so
    cases = {case.info.label: case for case in report.cases}
    for table in published.counts:
        if table.target != report.plan.target:
            continue
        for label, base, other in table.rows:
            if label not in cases:
                continue
            case = cases[label]
            for variant, counts in ((report.baseline, base), (table.variant, other)):
                runs = [r.counters for r in by_variant(case.runs, variant) if r.status == "ok"]
                here = [counters[table.counter] for counters in runs if table.counter in counters]
                if here:
                    scaled = fmean(counts) * table.scale(case.info.params)
                    yield _Row(label, table.counter, variant, scaled, fmean(here))
