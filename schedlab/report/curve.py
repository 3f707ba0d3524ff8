"""The curve of a sweep over the wakeup period: throughput, wakeup latency, idle states."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby

from schedlab.base.cpulist import parse_cpulist
from schedlab.benchmarks import cpuidle_smt
from schedlab.benchmarks.cpuidle_smt import THROUGHPUT, WAKEUP, WAKEUP_P50, WAKEUP_P99
from schedlab.benchmarks.metric import Metric
from schedlab.judging.axis import Axis, find_axes
from schedlab.machine.model import microseconds
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import listing, number
from schedlab.result.record import RunRecord

_SHOWN = {
    THROUGHPUT: "Mops/s",
    WAKEUP: "Latency, mean (us)",
    WAKEUP_P50: "p50 (us)",
    WAKEUP_P99: "p99 (us)",
}


@dataclass(frozen=True)
class Point:
    """What one variant gave at one period; what no run told is missing."""

    period: int
    variant: str
    metrics: Mapping[Metric, float]
    held: float | None
    """The period as the waker held it, us."""
    sleep: float | None
    shares: Mapping[str, float]
    """Percent of the irritators' time in each idle state."""


@dataclass(frozen=True)
class Curve:
    """A sweep under every variant of a plan."""

    axis: Axis
    points: tuple[Point, ...]
    states: tuple[str, ...]
    """The idle states that were counted, shallow ones first."""
    residencies: Mapping[str, float]
    """Their target residencies in us, as far as the machine tells them."""

    def of(self, variant: str) -> list[Point]:
        """Return the points of a variant, by rising period."""
        return [point for point in self.points if point.variant == variant]


def curves(report: Report) -> list[Curve]:
    """Return the sweeps over the period that a report holds."""
    axes = find_axes([case.info for case in report.cases])
    return [
        _curve(report, axis)
        for axis in axes
        if axis.benchmark == cpuidle_smt.NAME and axis.parameter == "period"
    ]


def _curve(report: Report, axis: Axis) -> Curve:
    points = []
    runs_of = {case.info.label: case.runs for case in report.cases}
    for case, period in zip(axis.cases, axis.values, strict=True):
        for variant in report.plan.variant:
            runs = [
                run
                for run in runs_of[case.label]
                if run.key.variant == variant.name and run.status == "ok"
            ]
            if runs:
                points.append(_point(period, variant.name, runs))
    states = dict.fromkeys(state for point in points for state in point.shares)
    residencies = {
        state.name: microseconds(state.residency)
        for state in report.store.machine.idle.state
        if microseconds(state.residency)
    }
    return Curve(axis, tuple(points), tuple(states), residencies)


def _point(period: int, variant: str, runs: Sequence[RunRecord]) -> Point:
    metrics = {
        metric: math.exp(sum(map(math.log, values)) / len(values))
        for metric in _SHOWN
        if (values := [run.metrics[metric.name] for run in runs if metric.name in run.metrics])
    }
    counted = {name: _mean(runs, name) for run in runs for name in run.counters}
    shares = {
        state: value or 0.0
        for name, value in counted.items()
        if (state := cpuidle_smt.share_of(name))
    }
    held, sleep = counted.get(cpuidle_smt.PERIOD), counted.get(cpuidle_smt.SLEEP)
    return Point(period, variant, metrics, held, sleep, shares)


def _mean(runs: Sequence[RunRecord], counter: str) -> float | None:
    values = [run.counters[counter] for run in runs if counter in run.counters]
    return sum(values) / len(values) if values else None


def curve_table(report: Report) -> Exhibit | None:
    """Return the curves as a table, a row for each period and variant; None without a sweep."""
    found = curves(report)
    if not found:
        return None
    states = tuple(dict.fromkeys(state for curve in found for state in curve.states))
    rows = tuple(_cells(point, states) for curve in found for point in curve.points)
    headings = (
        *("Period (us)", "Variant", "Held (us)"),
        *_SHOWN.values(),
        *("Sleep (us)", *(f"{state} (%)" for state in states)),
    )
    notes = [*_notes(report, found[0]), *(line for c in found for line in _verdicts(report, c))]
    return Exhibit("Wakeup period", tuple(notes), headings, rows, names=2)


def _cells(point: Point, states: Sequence[str]) -> tuple[str, ...]:
    return (
        f"{point.period}",
        point.variant,
        number(point.held),
        *(number(point.metrics.get(metric)) for metric in _SHOWN),
        number(point.sleep),
        *(f"{point.shares[s]:.2f}" if s in point.shares else "" for s in states),
    )


def _notes(report: Report, curve: Curve) -> Iterator[str]:
    yield (
        "The waker pauses for the period after each round of wakes; what it came to is beside it"
        " (held). Latency is that of the wakeups."
        + (" Idle states: percent of the irritators' time." if curve.states else "")
    )
    if curve.residencies:
        told = (f"{state} {us:g} us" for state, us in curve.residencies.items())
        yield f"Target residencies: {listing(list(told))}."
    elif not curve.states:
        yield "This machine shows no idle states: the curve is that of the wakeups alone."
    params = curve.axis.cases[0].params
    core = next((c for c in report.store.machine.groups("core") if int(params["wcpu"]) in c), ())
    apart = set(parse_cpulist(str(params["icpus"]))) - set(core)
    if apart:
        yield (
            "The irritators are no SMT siblings of the workload: no idle state of theirs gives it"
            " more of a core."
        )


def _verdicts(report: Report, curve: Curve) -> Iterator[str]:
    """Yield, for each variant and metric, at which periods it is better, worse, or neither."""
    period_of = dict(zip((c.label for c in curve.axis.cases), curve.axis.values, strict=True))
    for variant in report.others:
        for metric in curve.axis.cases[0].metrics:
            words = sorted(
                (period_of[outcome.case.label], outcome.verdict.word)
                for outcome in report.outcomes_in(variant)
                if outcome.metric == metric and outcome.case.label in period_of
            )
            spans = []
            for word, group in groupby(words, key=lambda pair: pair[1]):
                periods = [period for period, _ in group]
                upto = f" to {periods[-1]}" if len(periods) > 1 else ""
                spans.append(f"{word} at {periods[0]}{upto} us")
            yield f"{variant} against {report.baseline}, {metric.name}: {', '.join(spans)}."
