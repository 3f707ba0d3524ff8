"""The report on a terminal: verdicts first, then what needs attention."""

import io
from collections.abc import Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from schedlab.analysis import Analysis
from schedlab.metric import Metric
from schedlab.record import RunRecord
from schedlab.report.content import Report, describe_variant
from schedlab.report.exhibit import Exhibit
from schedlab.report.exhibits import exhibits
from schedlab.report.shape import shape
from schedlab.report.wording import (
    blocks_used,
    counter_unit,
    interval,
    is_evidence,
    mark,
    mean_count,
    number,
    points,
    printable,
    share,
    verdict_word,
    wrapped,
)
from schedlab.stats import Verdict
from schedlab.store import DATABASE, Store

_STYLES = {"better": "bold green", "worse": "bold red", "equivalent": "cyan"}
_WIDE = 100
"""Columns from which on a result needs no second line for its unit."""
_SHOWN = 8
"""Lines of a list that is only there to draw attention."""


@shape("terminal", suffix="txt")
def render(report: Report) -> str:
    """Verdicts and what needs attention, for a terminal of 100 columns."""
    page = io.StringIO()
    _print(report, Console(file=page, width=_WIDE, no_color=True, highlight=False))
    return "".join(f"{line.rstrip()}\n" for line in page.getvalue().splitlines())


def print_report(store: Store, analysis: Analysis, console: Console) -> None:
    """Print the report as wide as the console is, in colour where it can."""
    if isinstance(console.file, io.TextIOWrapper):
        # A terminal that is not UTF-8 shows our signs as escapes, rather than not at all.
        console.file.reconfigure(errors="backslashreplace")
    _print(Report(store, analysis), console)


def _print(report: Report, console: Console) -> None:
    _say(console, report.title, "bold")
    for banner in report.banners:
        _say(console, banner, "bold yellow")
    _say(console, report.run_count())
    for variant in report.plan.variant:
        _say(console, f"{variant.name}: {describe_variant(variant)}")
    for name in report.others:
        _section(console, f"{name} against {report.baseline}: {report.tally(name)}")
        console.print(_verdicts(report, name, narrow=console.width < _WIDE))
        _list(console, report.remarks(name))
        if trends := report.trends(name):
            _section(console, f"Trends of {name} along its sweeps")
            _list(console, trends)
    for name in report.others:
        _counters(report, name, console)
    for exhibit in exhibits(report):
        _exhibit(exhibit, console)
    if report.failed:
        _section(console, f"Failed runs ({len(report.failed)})")
        _list(console, [_failure(record) for record in report.failed], _SHOWN)
    if report.notices:
        _section(console, "Notices")
        _list(console, report.notices)
    _section(console, "Disturbance")
    _say(console, report.disturbance())
    _list(console, [_disturbed(record) for record in report.disturbed], _SHOWN)
    _section(console, "Method")
    _list(console, report.method())
    _section(console, "Origin")
    seed = report.plan.blocks.seed
    _say(console, f"schedlab {report.store.version}, kernel {report.kernel}, seed {seed}")
    _say(console, f"command: {report.store.invocation}")
    _say(console, f"raw data: {report.store.folder}/raw, {report.store.folder}/{DATABASE}")


def _verdicts(report: Report, variant: str, narrow: bool) -> Table:
    """One row a result; where columns are few, two lines a row."""
    table = _table()
    table.add_column(
        "benchmark\nunit, better" if narrow else "benchmark, unit, better", overflow="fold"
    )
    change = "change, %\n+ = better"
    figures = [f"{change}\ninterval, %"] if narrow else [change, "interval, %"]
    _add_figures(table, report.baseline, variant, *figures, f"{report.unit}s")
    table.add_column("verdict", no_wrap=True)
    for outcome in report.outcomes_in(variant):
        verdict = outcome.verdict
        effect = points(verdict.effect_better)
        bounds = interval(verdict.interval_adjusted_better)
        name, unit = printable(report.name_of(outcome)), _unit(outcome.metric)
        table.add_row(
            Text(f"{name}\n{unit}" if narrow else f"{name}, {unit}"),
            number(verdict.base_mean),
            number(verdict.other_mean),
            *([Text(f"{effect}\n{bounds}")] if narrow else [effect, Text(bounds)]),
            blocks_used(verdict),
            _verdict(verdict),
        )
    return table


def _unit(metric: Metric) -> str:
    return printable(f"{metric.unit}, {metric.better}")


def _counters(report: Report, variant: str, console: Console) -> None:
    changed, checks = report.changed_counters(variant), report.manipulation_checks(variant)
    if changed or checks:
        _section(console, f"Counters that changed in {variant}")
    if changed:
        table = _table("benchmark", "counter")
        _add_figures(table, report.baseline, variant, "change, %\n+ = more", "interval, %")
        table.add_column("verdict", no_wrap=True)
        for counter in changed:
            verdict = counter.verdict
            table.add_row(
                Text(printable(counter.case.label)),
                Text(printable(f"{counter.counter}, {counter_unit(counter.counter)}")),
                mean_count(verdict.base_mean),
                mean_count(verdict.other_mean),
                points(verdict.effect),
                Text(interval(verdict.interval_adjusted)),
                _verdict(verdict),
            )
        console.print(table)
    _list(console, [f"manipulation check: {check}" for check in checks])


def _exhibit(exhibit: Exhibit, console: Console) -> None:
    _section(console, exhibit.title)
    _list(console, exhibit.notes)
    table = _table(*exhibit.headings[: exhibit.names])
    for heading in exhibit.headings[exhibit.names :]:
        table.add_column(Text(heading), justify="right", overflow="fold")
    for row in exhibit.rows:
        table.add_row(*(Text(printable(cell)) for cell in row))
    console.print(table)


def _verdict(verdict: Verdict) -> Text:
    style = _STYLES.get(verdict.word, "bold") if is_evidence(verdict) else ""
    return Text(f"{mark(verdict)} {verdict_word(verdict)}", style)


def _table(*names: str) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="dim")
    for name in names:
        table.add_column(name, overflow="fold")
    return table


def _add_figures(table: Table, *headings: str) -> None:
    for heading in headings:
        table.add_column(Text(heading), justify="right", no_wrap=True)


def _failure(record: RunRecord) -> str:
    key = record.key
    return f"{key.case}, {key.variant}, block {key.block}: {record.error}"


def _disturbed(record: RunRecord) -> str:
    key = record.key
    took = share(record.busy_during or 0)
    return f"{key.case}, {key.variant}, block {key.block}: others took {took} of all CPUs"


def _list(console: Console, lines: Sequence[str], most: int | None = None) -> None:
    shown = lines[:most]
    for line in shown:
        for part in wrapped(line, console.width, "- ", "  "):
            _say(console, part)
    if len(lines) > len(shown):
        _say(console, f"- and {len(lines) - len(shown):,} more")


def _section(console: Console, heading: str) -> None:
    console.print()
    _say(console, heading, "bold")


def _say(console: Console, text: str, style: str = "") -> None:
    console.print(Text(printable(text), style))
