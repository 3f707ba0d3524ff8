"""The report on a terminal: verdicts first, then what needs attention."""

import io

from rich.console import Console
from rich.text import Text

from schedlab.base.printable import printable
from schedlab.benchmarks.metric import Metric
from schedlab.judging.analysis import Analysis
from schedlab.judging.stats import Verdict
from schedlab.report.content import CaseReport, Detail, Report, describe_variant
from schedlab.report.decided import by_topic, counter_line, decision
from schedlab.report.exhibit import Exhibit
from schedlab.report.exhibits import exhibits
from schedlab.report.screen import bullets, print_rows, say, section
from schedlab.report.shape import shape
from schedlab.report.why import HEADING, why
from schedlab.report.wording import (
    blocks_used,
    interval,
    is_evidence,
    mark,
    number,
    points,
    share,
    verdict_word,
)
from schedlab.result.record import RunRecord
from schedlab.result.store import DATABASE, Store

_STYLES = {"better": "bold green", "worse": "bold red", "equivalent": "cyan"}
_WIDE = 100
"""Columns of a report that is written to a file."""
_METHOD = "The method in full: `schedlab report DIR --format markdown`."
_SHOWN = 8
"""Lines of a list that is only there to draw attention."""


@shape("terminal", suffix="txt")
def render(report: Report) -> str:
    """Verdicts and what needs attention, for a terminal of 100 columns."""
    page = io.StringIO()
    _print(report, Console(file=page, width=_WIDE, no_color=True, highlight=False))
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def print_report(
    store: Store, analysis: Analysis, console: Console, detail: Detail | None = None
) -> None:
    """Print the report as wide as the console is, in colour where it can."""
    if isinstance(console.file, io.TextIOWrapper):
        # A terminal that is not UTF-8 shows our signs as escapes, rather than not at all.
        console.file.reconfigure(errors="backslashreplace")
    _print(Report(store, analysis, detail), console)


def _print(report: Report, console: Console) -> None:
    say(console, report.title, "bold")
    for banner in report.banners:
        say(console, banner, "bold yellow")
    say(console, report.run_count())
    for variant in report.plan.variant:
        say(console, f"{variant.name}: {describe_variant(variant, report.plan)}")
    for line in report.patches:
        say(console, line)
    for name in report.others:
        section(console, f"{name} against {report.baseline}: {report.tally(name)}")
        _verdicts(report, name, console)
        bullets(console, report.remarks(name))
        if reasons := why(report, name):
            say(console, HEADING)
            bullets(console, reasons)
        if trends := report.trends(name):
            section(console, f"Trends of {name} along its sweeps")
            bullets(console, trends)
    _decision(report, console)
    for exhibit in exhibits(report):
        if report.detail.counters or not exhibit.of_counters:
            _exhibit(exhibit, console)
    if report.failed:
        section(console, f"Failed runs ({len(report.failed)})")
        bullets(console, [_failure(record) for record in report.failed], _SHOWN)
    if report.notices:
        section(console, "Notices")
        bullets(console, report.notices)
    section(console, "Disturbance")
    say(console, report.disturbance())
    bullets(console, [_disturbed(record) for record in report.disturbed], _SHOWN)
    section(console, "Method")
    bullets(console, [report.method_in_short(), _METHOD])
    section(console, "Origin")
    seed = report.plan.blocks.seed
    say(console, f"schedlab {report.store.version}, kernel {report.kernel}, seed {seed}")
    say(console, f"command: {report.store.invocation}")
    say(console, f"raw data: {report.store.folder}/raw, {report.store.folder}/{DATABASE}")


def _verdicts(report: Report, variant: str, console: Console) -> None:
    """Print a row for each result."""
    figures = ("% better", "interval, %", f"{report.unit}s", "verdict")
    headings = ("benchmark, unit, better", report.baseline, variant, *figures)
    rows = [
        (
            *_texts(
                f"{report.name_of(outcome)}, {_unit(outcome.metric)}",
                number(verdict.base_mean),
                number(verdict.other_mean),
                points(verdict.effect_better),
                interval(verdict.interval_adjusted_better),
                blocks_used(verdict),
            ),
            _verdict(verdict),
        )
        for outcome in report.outcomes_in(variant)
        for verdict in [outcome.verdict]
    ]
    print_rows(console, headings, rows, last_is_word=True)


def _texts(*cells: str) -> tuple[Text, ...]:
    return tuple(Text(printable(cell)) for cell in cells)


def _unit(metric: Metric) -> str:
    return printable(f"{metric.unit}, {metric.better}")


def _decision(report: Report, console: Console) -> None:
    found = decision(report)
    if found.parts:
        section(console, found.title)
    for part in found.parts:
        say(console, f"{part.case}, {part.variant} against {report.baseline}:")
        bullets(console, part.lines)
    if report.detail.counters:
        for case in report.cases:
            for name in report.others:
                _counters(case, name, report.baseline, console)
    elif found.rest:
        bullets(console, [found.rest])
    checks = [check for name in report.others for check in report.manipulation_checks(name)]
    if checks:
        section(console, "Manipulation checks: the setting took; these are not results")
        bullets(console, checks)


def _counters(case: CaseReport, variant: str, baseline: str, console: Console) -> None:
    """Print every counter that changed, under what the scheduler does."""
    changed = case.moved_in(variant)
    if changed:
        section(console, f"Counters of {case.info.label}, {variant} against {baseline}")
    for topic, counters in by_topic(changed):
        say(console, f"{topic}:", "dim")
        for counter in counters:
            bullets(console, [counter_line(counter)])


def _exhibit(exhibit: Exhibit, console: Console) -> None:
    section(console, exhibit.title)
    bullets(console, exhibit.notes)
    print_rows(console, exhibit.headings, [_texts(*row) for row in exhibit.rows], exhibit.names)


def _verdict(verdict: Verdict) -> Text:
    style = _STYLES.get(verdict.word, "bold") if is_evidence(verdict) else ""
    return Text(f"{mark(verdict)} {verdict_word(verdict)}", style)


def _failure(record: RunRecord) -> str:
    key = record.key
    return f"{key.case}, {key.variant}, block {key.block}: {record.error}"


def _disturbed(record: RunRecord) -> str:
    key = record.key
    took = share(record.busy_during or 0)
    return f"{key.case}, {key.variant}, block {key.block}: others took {took} of all CPUs"
