"""The sweeps of a report: each benchmark over its axis in one table, which a page draws as well."""

from collections.abc import Iterator

from schedlab.base.words import listing
from schedlab.benchmarks.metric import Metric
from schedlab.judging.analysis import Outcome
from schedlab.judging.axis import Axis, find_axes
from schedlab.report.content import Report
from schedlab.report.curve import curve_of
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import direction, figures_of


def sweep_tables(report: Report) -> list[Exhibit]:
    """Return a table for each sweep; those that are shown as a curve have one of their own."""
    axes = find_axes([case.info for case in report.cases])
    return [_table(report, axis) for axis in axes if not curve_of(axis)]


def along(report: Report, axis: Axis, metric: Metric, variant: str) -> Iterator[Outcome]:
    """Return what a metric did in a variant at each value of an axis."""
    labels = {case.label: place for place, case in enumerate(axis.cases)}
    found = (
        outcome
        for outcome in report.outcomes_in(variant)
        if outcome.metric == metric and outcome.case.label in labels
    )
    return iter(sorted(found, key=lambda outcome: labels[outcome.case.label]))


def _table(report: Report, axis: Axis) -> Exhibit:
    metrics = axis.cases[0].metrics
    several = len(report.others) > 1
    rows = tuple(
        (
            str(value),
            *([metric.label] if len(metrics) > 1 else []),
            *([variant] if several else []),
            *figures_of(outcome.verdict),
        )
        for metric in metrics
        for variant in report.others
        for value, outcome in zip(axis.values, along(report, axis, metric, variant), strict=False)
    )
    headings = (
        axis.parameter,
        *(["Metric"] if len(metrics) > 1 else []),
        *(["Variant"] if several else []),
        report.baseline,
        "of the variant" if several else report.others[0],
        *("Change (%)", "Interval (%)", f"{report.unit.capitalize()}s", "Verdict"),
    )
    ways = {
        direction(metric): listing([m.label for m in metrics if m.better == metric.better])
        for metric in metrics
    }
    sentences = [f"{labels}: {way}." for way, labels in ways.items()]
    notes = (" ".join([*sentences, "A positive change is better."]),)
    title = f"{axis.name} over {axis.parameter}"
    names = 1 + (len(metrics) > 1) + several
    return Exhibit(title, notes, headings, rows, names, axis=axis)
