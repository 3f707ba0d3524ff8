"""The curves of sweeps that a benchmark shows in its own way: metrics and idle states."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from schedlab.base.words import listing
from schedlab.benchmarks import registered
from schedlab.benchmarks.exhibits import Curve
from schedlab.benchmarks.metric import Metric
from schedlab.judging.axis import Axis, find_axes
from schedlab.machine.model import microseconds
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import number
from schedlab.result.record import RunRecord


@dataclass(frozen=True)
class Point:
    """What one variant gave at one value; what no run had is missing."""

    value: int
    variant: str
    metrics: Mapping[Metric, float]
    held: float | None
    """The value as it came to be."""
    beside: float | None
    """The figure behind the metrics."""
    shares: Mapping[str, float]
    """Percent of the time in each idle state."""


@dataclass(frozen=True)
class Drawn:
    """A sweep under every variant of a plan."""

    how: Curve
    axis: Axis
    points: tuple[Point, ...]
    states: tuple[str, ...]
    """The idle states that were counted, shallow ones first."""
    residencies: Mapping[str, float]
    """Their target residencies in us, as far as the machine has them."""

    def of(self, variant: str) -> list[Point]:
        """Return the points of a variant, by rising value."""
        return [point for point in self.points if point.variant == variant]


def curve_of(axis: Axis) -> Curve | None:
    """Return how the benchmark of an axis shows it; None if as any other."""
    if axis.benchmark not in registered():
        return None
    own = registered()[axis.benchmark].curves
    return next((curve for curve in own if curve.parameter == axis.parameter), None)


def curves(report: Report) -> list[Drawn]:
    """Return the sweeps of a report that their benchmarks show in their own way."""
    axes = find_axes([case.info for case in report.cases])
    return [_drawn(report, curve, axis) for axis in axes if (curve := curve_of(axis))]


def _drawn(report: Report, how: Curve, axis: Axis) -> Drawn:
    points = []
    runs_of = {case.info.label: case.runs for case in report.cases}
    for case, value in zip(axis.cases, axis.values, strict=True):
        for variant in report.plan.variant:
            runs = [
                run
                for run in runs_of[case.label]
                if run.key.variant == variant.name and run.status == "ok"
            ]
            if runs:
                points.append(_point(how, value, variant.name, runs))
    states = dict.fromkeys(state for point in points for state in point.shares)
    residencies = {
        state.name: microseconds(state.residency)
        for state in report.store.machine.idle.state
        if microseconds(state.residency)
    }
    return Drawn(how, axis, tuple(points), tuple(states), residencies)


def _point(how: Curve, value: int, variant: str, runs: Sequence[RunRecord]) -> Point:
    metrics = {
        metric: math.exp(sum(map(math.log, values)) / len(values))
        for metric in how.columns
        if (values := [run.metrics[metric.name] for run in runs if metric.name in run.metrics])
    }
    counted = {name: _mean(runs, name) for run in runs for name in run.counters}
    shares = {
        state: share or 0.0 for name, share in counted.items() if (state := how.share_of(name))
    }
    held, beside = (counted.get(counter) for _, counter in (how.held, how.beside))
    return Point(value, variant, metrics, held, beside, shares)


def _mean(runs: Sequence[RunRecord], counter: str) -> float | None:
    values = [run.counters[counter] for run in runs if counter in run.counters]
    return sum(values) / len(values) if values else None


def curve_tables(report: Report) -> list[Exhibit]:
    """Return a table for each way of showing, a row for each value and variant of its sweeps."""
    found = curves(report)
    ways = {curve.how.title: curve.how for curve in found}
    return [
        _table(report, how, [curve for curve in found if curve.how == how]) for how in ways.values()
    ]


def _table(report: Report, how: Curve, found: Sequence[Drawn]) -> Exhibit:
    states = tuple(dict.fromkeys(state for curve in found for state in curve.states))
    rows = tuple(_cells(how, point, states) for curve in found for point in curve.points)
    headings = (
        *(f"{how.parameter.capitalize()} ({how.unit})", "Variant", how.held[0]),
        *how.columns.values(),
        *(how.beside[0], *(f"{state} (%)" for state in states)),
    )
    notes = [*_notes(report, found[0]), *(line for c in found for line in _verdicts(report, c))]
    return Exhibit(how.title, tuple(notes), headings, rows, names=2)


def _cells(how: Curve, point: Point, states: Sequence[str]) -> tuple[str, ...]:
    return (
        f"{point.value}",
        point.variant,
        number(point.held),
        *(number(point.metrics.get(metric)) for metric in how.columns),
        number(point.beside),
        *(f"{point.shares[s]:.2f}" if s in point.shares else "" for s in states),
    )


def _notes(report: Report, curve: Drawn) -> Iterator[str]:
    how = curve.how
    yield how.note + (how.note_shares if curve.states else "")
    if curve.residencies:
        residencies = (f"{state} {us:g} us" for state, us in curve.residencies.items())
        yield f"Target residencies: {listing(list(residencies))}."
    elif not curve.states:
        yield how.note_without
    yield from how.remarks(curve.axis.cases[0].params, report.store.machine)


def _verdicts(report: Report, curve: Drawn) -> Iterator[str]:
    """Yield, for each variant and metric, at which values it is better, worse, or neither."""
    value_of = dict(zip((c.label for c in curve.axis.cases), curve.axis.values, strict=True))
    for variant in report.others:
        for metric in curve.axis.cases[0].metrics:
            words = sorted(
                (value_of[outcome.case.label], outcome.verdict.word)
                for outcome in report.outcomes_in(variant)
                if outcome.metric == metric and outcome.case.label in value_of
            )
            spans = []
            for word, group in groupby(words, key=lambda pair: pair[1]):
                values = [value for value, _ in group]
                upto = f" to {values[-1]}" if len(values) > 1 else ""
                spans.append(f"{word} at {values[0]}{upto} {curve.how.unit}")
            yield f"{variant} against {report.baseline}, {metric.name}: {', '.join(spans)}."
