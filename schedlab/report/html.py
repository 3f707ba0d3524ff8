"""The report as one HTML page that needs no network: summary, figures, every run, how and where."""

from dataclasses import replace

from markupsafe import Markup

from schedlab.base import words
from schedlab.base.printable import printable, printable_lines
from schedlab.benchmarks.metric import Metric
from schedlab.counters.meaning import Topic
from schedlab.judging.analysis import CounterOutcome
from schedlab.judging.axis import Axis
from schedlab.judging.meanings import meaning_of
from schedlab.machine.drawing import draw
from schedlab.report import wording
from schedlab.report.content import (
    CaseReport,
    Report,
    by_variant,
    describe_variant,
    run_name,
)
from schedlab.report.curve import curves
from schedlab.report.decided import by_topic, decision
from schedlab.report.exhibits import exhibits
from schedlab.report.grid import MANY, grid
from schedlab.report.page import environment
from schedlab.report.pictures import pictures
from schedlab.report.shape import shape
from schedlab.report.sweeps import along
from schedlab.report.wakeups import HEADING as WAKEUPS
from schedlab.report.wakeups import wakeups
from schedlab.report.why import HEADING, table, why
from schedlab.result.carried import in_html
from schedlab.result.record import RunRecord

_MOST_RUNS = 200
_MOST_COUNTERS = 2000
"""A page of more runs, or more results of counters, has no counter of each run and no mean of those
that did not change, draws the runs of first metrics only, and has the tasks' time without roles."""

_MOST_ROWS = 16
"""A table of more is folded below its plots or its heading."""


@shape("html", suffix="html")
def render(report: Report) -> str:
    """HTML: one self-contained page with figures, every run and every setting."""
    # Only here: matplotlib takes half a second to load, which no other shape should cost.
    from schedlab.report.drawings import plots

    names = {
        "wording": wording,
        "words": words,
        "plots": plots,
        "describe_variant": describe_variant,
        "run_name": run_name,
        "by_variant": by_variant,
        "forest_rows": lambda: [
            plots.Row(_forest_name(report, outcome.variant, report.name_of(outcome)), outcome)
            for outcome in report.analysis.outcomes
        ],
        "strip": lambda case, name, metric: plots.strip(
            case.all_runs,
            metric.name,
            [variant.name for variant in report.plan.variant],
            _means(report, case, metric.name),
            plots.Caption(
                name,
                f"{case.info.label}: {metric.label} of every run, in run order",
                f"{len(case.runs)} runs; the raw values are in the table below.",
            ),
        ),
        "topics": lambda case, variant: _topics(report, case, variant),
        "unchanged": lambda case, variant: _unchanged(report, case, variant),
        "is_large": _is_large(report),
        "raw_counters": lambda case: _raw_counters(report, case),
        "drawn_metrics": lambda case: case.info.metrics[: 1 if _is_large(report) else None],
        "meaning_of": meaning_of,
        "decision": decision(report),
        "is_long": any(len(report.outcomes_in(variant)) > MANY for variant in report.others),
        "most_rows": _MOST_ROWS,
        "grid": lambda variant: grid(report, variant),
        "why": lambda variant: _why(report, variant),
        "why_heading": HEADING,
        "wakeups": lambda variant: wakeups(report, variant),
        "wakeups_heading": WAKEUPS,
        "time_tables": lambda case, variant: [
            table(replace(spent, roles={}) if _is_large(report) else spent)
            for spent in report.times
            if (spent.case, spent.variant) == (case.info, variant)
        ],
        "exhibits": exhibits(report),
        "curves": curves(report),
        "draw_curve": lambda sweep, number, width: plots.curve(
            sweep,
            [variant.name for variant in report.plan.variant],
            f"curve{number}-{width}",
            width,
        ),
        "swept": lambda axis: [
            metric
            for metric in axis.cases[0].metrics
            if any(_series(report, axis, metric).values())
        ],
        "draw_sweep": lambda exhibit, number, metric, width: plots.sweep(
            _series(report, exhibit.axis, metric),
            exhibit.axis.parameter,
            plots.Caption(
                f"sweep{number}-{width}",
                f"{exhibit.title}: {metric.label}",
                "The figures are in the table below.",
            ),
            width,
        ),
        "pictures": pictures(report),
        "raw_rows": lambda case: _raw_rows(report, case),
        "machine": Markup.escape(printable_lines(draw(report.store.machine))),
        "result": Markup(in_html(report.store)),
        "plan_toml": Markup.escape(printable_lines(report.plan.to_toml())),
    }
    return environment().get_template("report.html.j2").render(report=report, **names)


def _why(report: Report, variant: str) -> tuple[list[str], list[str]]:
    """Return where the tasks' time went; of many benchmarks apart: the claimed, the others."""
    outcomes = report.outcomes_in(variant)
    if len(outcomes) <= MANY:
        return why(report, variant), []
    labels = {case.info.label for case in report.cases}
    claimed = {o.case.label for o in outcomes if o.verdict.word in wording.CLAIMED}
    return why(report, variant, claimed), why(report, variant, labels - claimed)


def _forest_name(report: Report, variant: str, name: str) -> str:
    return name if len(report.others) == 1 else f"{name}, {variant}"


def _means(report: Report, case: CaseReport, metric: str) -> dict[str, float | None]:
    """Return the means that the verdicts compare, by variant."""
    means: dict[str, float | None] = {}
    for outcome in case.outcomes:
        if outcome.metric.name == metric:
            means.setdefault(report.baseline, outcome.verdict.base_mean)
            means[outcome.variant] = outcome.verdict.other_mean
    return means


def _series(report: Report, axis: Axis, metric: Metric) -> dict[str, list[tuple[int, float]]]:
    """Return the means of a sweep, by variant."""
    value_of = dict(zip((case.label for case in axis.cases), axis.values, strict=True))
    series: dict[str, dict[int, float]] = {variant.name: {} for variant in report.plan.variant}
    for variant in report.others:
        for outcome in along(report, axis, metric, variant):
            value, verdict = value_of[outcome.case.label], outcome.verdict
            for name, mean in (
                (report.baseline, verdict.base_mean),
                (variant, verdict.other_mean),
            ):
                if mean is not None:
                    series[name][value] = mean
    return {name: list(measured.items()) for name, measured in series.items()}


def _is_large(report: Report) -> bool:
    counters = sum(len(case.lively_counters) for case in report.cases) * len(report.others)
    return len(report.records) > _MOST_RUNS or counters > _MOST_COUNTERS


def _topics(
    report: Report, case: CaseReport, variant: str
) -> list[tuple[Topic, list[CounterOutcome]]]:
    """Sort a variant's counters by what the scheduler does, without those always zero."""
    left_out = {*case.silent_counters, *_unchanged(report, case, variant)}
    return by_topic([c for c in case.counters_in(variant) if c.counter not in left_out])


def _unchanged(report: Report, case: CaseReport, variant: str) -> list[str]:
    """Return the counters that a large page only names: those without a change."""
    if not _is_large(report):
        return []
    moved = {counter.counter for counter in case.moved_in(variant)}
    silent = set(case.silent_counters)
    names = (counter.counter for counter in case.counters_in(variant))
    return [name for name in names if name not in moved and name not in silent]


def _raw_counters(report: Report, case: CaseReport) -> list[str]:
    return [] if _is_large(report) else case.lively_counters


def _raw_rows(report: Report, case: CaseReport) -> list[tuple[str, Markup, str]]:
    """Return a style class, the cells and the remark of every run, in run order."""
    metrics = [metric.name for metric in case.info.metrics]
    counters = _raw_counters(report, case)
    rows: list[tuple[str, Markup, str]] = []
    for run in case.all_runs:
        cells = [f"{run.position}", run.key.variant, f"{run.key.block}"]
        cells += [report.boot(run) for _ in report.boot_headings]
        cells += [wording.exact(run.metrics[n]) if n in run.metrics else "" for n in metrics]
        cells += [wording.count(run.counters[n]) if n in run.counters else "" for n in counters]
        cells.append(f"{run.seconds:.4g}")
        cells.append("" if run.busy_during is None else f"{100 * run.busy_during:.3g}")
        # Joined here: as a loop of the template it would be most of a large report's time.
        joined = Markup("</td><td>").join(map(printable, cells))
        rows.append(("warmup" if run.key.warmup else run.status, joined, _remark(run)))
    return rows


def _remark(run: RunRecord) -> str:
    parts = ["warm-up" if run.key.warmup else "", run.error, *run.caveats]
    return "; ".join(filter(None, parts))
