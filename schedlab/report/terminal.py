"""The report on a terminal: verdicts first, then what needs attention."""

from schedlab.benchmarks.metric import Metric
from schedlab.judging.verdict import Verdict
from schedlab.report.content import CaseReport, Report, describe_variant
from schedlab.report.decided import by_topic, counter_line, decision
from schedlab.report.exhibit import Exhibit
from schedlab.report.exhibits import exhibits
from schedlab.report.screen import Screen, Styled
from schedlab.report.shape import shape
from schedlab.report.wakeups import HEADING as WAKEUPS
from schedlab.report.wakeups import wakeups
from schedlab.report.why import HEADING, why
from schedlab.report.wording import (
    figures_of,
    is_evidence,
    mark,
    share,
)
from schedlab.result.folder import DATABASE
from schedlab.result.record import RunRecord

_STYLES = {"better": "bold green", "worse": "bold red", "equivalent": "cyan"}
_WIDE = 100
"""Columns of a report that is written to a file."""
_METHOD = "The method in full: `schedlab report DIR --format markdown`."
_SHOWN = 8
"""Lines of a list that is only there to draw attention."""


@shape("terminal", suffix="txt")
def render(report: Report) -> str:
    """Verdicts and what needs attention, for a terminal of 100 columns."""
    return screen_of(report, _WIDE).plain


def screen_of(report: Report, width: int) -> Screen:
    """Return the report as lines of at most `width` columns."""
    screen = Screen(width)
    screen.say(report.title, "bold")
    for banner in report.banners:
        screen.say(banner, "bold yellow")
    screen.say(report.run_count())
    for variant in report.plan.variant:
        screen.say(f"{variant.name}: {describe_variant(variant, report.plan)}")
    for line in report.patches:
        screen.say(line)
    for name in report.others:
        screen.section(f"{name} against {report.baseline}: {report.tally(name)}")
        _verdicts(report, name, screen)
        screen.bullets(report.remarks(name))
        if reasons := why(report, name):
            screen.say(HEADING)
            screen.bullets(reasons)
        if latencies := wakeups(report, name):
            screen.say(WAKEUPS)
            screen.bullets(latencies, _SHOWN)
        if trends := report.trends(name):
            screen.section(f"Trends of {name} along its sweeps")
            screen.bullets(trends)
    _decision(report, screen)
    for exhibit in exhibits(report):
        if report.detail.counters or not exhibit.of_counters:
            _exhibit(exhibit, screen)
    if report.failed:
        screen.section(f"Failed runs ({len(report.failed)})")
        screen.bullets([_failure(record) for record in report.failed], _SHOWN)
    if report.notices:
        screen.section("Notices")
        screen.bullets(report.notices)
    if disturbance := report.disturbance():
        screen.section("Disturbance")
        screen.say(disturbance)
        screen.bullets([_disturbed(record) for record in report.disturbed], _SHOWN)
    screen.section("Method")
    screen.bullets([report.method_in_short(), _METHOD])
    screen.section("Origin")
    seed = report.plan.blocks.seed
    screen.say(f"Made with schedlab {report.store.version}, kernel {report.kernel}, seed {seed}")
    screen.say(f"command: {report.store.invocation}")
    screen.say(f"raw data: {report.store.folder}/raw, {report.store.folder}/{DATABASE}")
    return screen


def _verdicts(report: Report, variant: str, screen: Screen) -> None:
    """Print a row for each result."""
    figures = ("% better", "interval, %", f"{report.unit}s", "verdict")
    headings = ("benchmark, metric, unit, better", report.baseline, variant, *figures)
    rows = [
        (
            *_texts(
                f"{outcome.case.label}, {_described(outcome.metric)}",
                *figures_of(verdict)[:-1],
            ),
            _verdict(verdict),
        )
        for outcome in report.outcomes_in(variant)
        for verdict in [outcome.verdict]
    ]
    screen.table(headings, rows, last_is_word=True)


def _texts(*cells: str) -> tuple[Styled, ...]:
    return tuple(map(Styled, cells))


def _described(metric: Metric) -> str:
    return f"{metric.name}, {metric.unit}, {metric.better}"


def _decision(report: Report, screen: Screen) -> None:
    found = decision(report)
    if found.parts or found.nothing:
        screen.section(found.title)
    if found.nothing:
        screen.say(found.nothing)
    for part in found.parts:
        screen.say(f"{part.case}, {part.variant} against {report.baseline}:")
        screen.bullets(part.lines)
    if report.detail.counters:
        for case in report.cases:
            for name in report.others:
                _counters(case, name, report.baseline, screen)
    elif found.rest:
        screen.bullets([found.rest])
    checks = [check for name in report.others for check in report.manipulation_checks(name)]
    if checks:
        screen.section("Manipulation checks: the setting took; these are not results")
        screen.bullets(checks)


def _counters(case: CaseReport, variant: str, baseline: str, screen: Screen) -> None:
    """Print every counter that changed, under what the scheduler does."""
    changed = case.moved_in(variant)
    if changed:
        screen.section(f"Counters of {case.info.label}, {variant} against {baseline}")
    for topic, counters in by_topic(changed):
        screen.say(f"{topic}:", "dim")
        for counter in counters:
            screen.bullets([counter_line(counter)])


def _exhibit(exhibit: Exhibit, screen: Screen) -> None:
    screen.section(exhibit.title)
    screen.bullets(exhibit.notes)
    screen.table(exhibit.headings, [_texts(*row) for row in exhibit.rows], exhibit.names)


def _verdict(verdict: Verdict) -> Styled:
    style = _STYLES.get(verdict.word, "bold") if is_evidence(verdict) else ""
    return Styled(f"{mark(verdict)} {verdict.name}", style)


def _failure(record: RunRecord) -> str:
    key = record.key
    return f"{key.case}, {key.variant}, block {key.block}: {record.error}"


def _disturbed(record: RunRecord) -> str:
    key = record.key
    took = share(record.busy_during or 0)
    return f"{key.case}, {key.variant}, block {key.block}: others took {took} of all CPUs"
