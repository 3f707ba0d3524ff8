"""One result of many benchmarks as a picture: a row for each, a cell for each point of a sweep."""

from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.base.words import listing
from schedlab.benchmarks.metric import Metric
from schedlab.judging.analysis import Outcome
from schedlab.judging.axis import Axis, find_axes
from schedlab.report.content import Report
from schedlab.report.findings import sentence
from schedlab.report.sweeps import along
from schedlab.report.wording import CLAIMED

MANY = 12
"""More results of a variant than these are shown as a picture first, and their table folds."""


@dataclass(frozen=True)
class Cell:
    """A result at one point of a sweep; the point is empty for a benchmark without a sweep."""

    point: str
    outcome: Outcome


@dataclass(frozen=True)
class Row:
    """A metric of a benchmark, or of all benchmarks of a sweep."""

    name: str
    detail: str
    cells: tuple[Cell, ...]


@dataclass(frozen=True)
class Grid:
    """What a variant did to each benchmark, and what to see in it."""

    rows: tuple[Row, ...]
    sentence: str


def grid(report: Report, variant: str) -> Grid | None:
    """Return the picture of a variant's results; None for so few that their table is one look.

    Metrics beside a benchmark's first have a row where a change of them is claimed.
    """
    outcomes = report.outcomes_in(variant)
    if len(outcomes) <= MANY:
        return None
    axes = {axis.cases[0].label: axis for axis in find_axes([case.info for case in report.cases])}
    swept = {case.label for axis in axes.values() for case in axis.cases}
    rows = []
    for case in report.cases:
        label = case.info.label
        axis = axes.get(label)
        if axis is None and label in swept:
            continue
        for metric in case.info.metrics:
            cells = (
                _along(report, axis, metric, variant)
                if axis
                else [Cell("", o) for o in case.outcomes_in(variant) if o.metric == metric]
            )
            claimed = any(cell.outcome.verdict.word in CLAIMED for cell in cells)
            if cells and (metric == case.info.metrics[0] or claimed):
                name = _common_name(axis) if axis else label
                over = f" by {axis.parameter}" if axis else ""
                rows.append(Row(name, f"{metric.name}{over}", tuple(cells)))
    return Grid(tuple(rows), _sentence(report, outcomes))


def _along(report: Report, axis: Axis, metric: Metric, variant: str) -> list[Cell]:
    values = {case.label: f"{v:,}" for case, v in zip(axis.cases, axis.values, strict=True)}
    found = along(report, axis, metric, variant)
    return [Cell(values[outcome.case.label], outcome) for outcome in found]


def _common_name(axis: Axis) -> str:
    """Return what the labels of a sweep share, such as `hackbench`; else the benchmark's name."""
    parts = [case.label.split("-") for case in axis.cases]
    same = 0
    while all(len(p) > same for p in parts) and len({p[same] for p in parts}) == 1:
        same += 1
    return "-".join(parts[0][:same]) or axis.name


def _sentence(report: Report, outcomes: Sequence[Outcome]) -> str:
    """Name the largest changes that are claimed, one of each direction."""
    most = []
    for word in CLAIMED:
        claimed = [outcome for outcome in outcomes if outcome.verdict.word == word]
        if claimed:
            largest = max(claimed, key=lambda outcome: abs(outcome.verdict.effect or 0.0))
            most.append(sentence(report, largest))
    return f"Most of all {listing(most)}." if most else "No change is shown."
