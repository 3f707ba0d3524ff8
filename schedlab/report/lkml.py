"""The report as kernel mailing lists read it: `tip  patch (pct)` tables in 72 columns."""

from collections.abc import Sequence
from itertools import groupby

from schedlab.base.printable import printable
from schedlab.judging.analysis import CounterOutcome, Outcome
from schedlab.report.content import CaseReport, Report
from schedlab.report.plain import WIDTH, Page, close_mail, open_mail
from schedlab.report.shape import shape
from schedlab.report.wording import (
    blocks_used,
    columns,
    counter_unit,
    described,
    fitted,
    interval,
    mean_count,
    number,
    points,
    remark,
    row_name,
    verdict_word,
)
from schedlab.result.store import CaseInfo

_FIGURE = 23
"""Columns of `12,345 (-12.34 pct)` and the gap before it."""
_VERDICT = 12


@shape("lkml", suffix="txt")
def render(report: Report) -> str:
    """Plain text of 72 columns, `tip / patch (pct)` tables: to paste in a mail."""
    page = Page()
    open_mail(page, report)
    page.gap()
    page.say(
        "In the tables pct is the change against the baseline's mean, positive is better (for a"
        " counter, positive is more); below it the interval of that change, and the"
        f" {report.unit}s behind it."
    )
    for name, cases in groupby(report.cases, key=lambda case: case.info.benchmark):
        page.box(name)
        _section(page, report, list(cases))
    close_mail(page, report)
    return str(page)


def _section(page: Page, report: Report, cases: Sequence[CaseReport]) -> None:
    for case in cases:
        several = len(cases) > 1 and bool(case.info.command)
        if several or not is_plain_label(case.info):
            page.say(f"{case.info.label}:")
        if case.info.command:
            page.say(case.info.command, "$ ", "      ")
    page.gap()
    for variant in report.others:
        outcomes = [outcome for case in cases for outcome in case.outcomes_in(variant)]
        if len(report.others) > 1:
            page.heading(variant)
        for metric in dict.fromkeys(outcome.metric for outcome in outcomes):
            _head(page, described(metric), report.baseline, variant)
            rows = [outcome for outcome in outcomes if outcome.metric == metric]
            shared = _shared_remark(rows)
            for outcome in rows:
                _result(page, _row_name(outcome), outcome, not shared)
            if shared:
                page.say(f"All rows: {shared}.", "    ")
            page.gap()
        changed = [c for case in cases for c in case.changed_in(variant)]
        if changed:
            _head(page, "Counters that changed", report.baseline, variant)
            for counter in changed:
                several = len(cases) > 1
                _counter(page, f"{counter.case.label} " if several else "", counter)
            page.gap()


def _row_name(outcome: Outcome) -> str:
    """Name a row by what tells it from the others under the same benchmark."""
    return row_name(outcome.case.label, outcome.case.benchmark) or outcome.metric.name


def is_plain_label(case: CaseInfo) -> bool:
    """Return whether a label is the benchmark's name, a blank and the row's name."""
    name = row_name(case.label, case.benchmark)
    return case.label == f"{case.benchmark} {name}".strip()


def _shared_remark(outcomes: Sequence[Outcome]) -> str:
    """Return what is to be said of every row of a table and of none more, if that is so."""
    remarks = {remark(outcome.verdict) for outcome in outcomes}
    bare = not any(outcome.verdict.interval_adjusted for outcome in outcomes)
    return remarks.pop() if len(outcomes) > 1 and len(remarks) == 1 and bare else ""


def _head(page: Page, what: str, baseline: str, variant: str) -> None:
    page.say(what)
    first, second = (fitted(name, _FIGURE - 2) for name in (baseline, variant))
    _cells(page, "Test:", first, second, "verdict")


def _result(page: Page, name: str, outcome: Outcome, with_details: bool) -> None:
    verdict = outcome.verdict
    base = f"{number(verdict.base_mean)} (0.00 pct)"
    change = points(verdict.effect_better, plus=False)
    other = f"{number(verdict.other_mean)} ({change} pct)"
    if verdict.effect is None:
        base = other = "-"
    _cells(page, f"{name}:", base, other, verdict_word(verdict))
    if not with_details:
        return
    details = [f"{blocks_used(verdict)} {verdict.unit}s", remark(verdict)]
    if verdict.interval_adjusted_better:
        details.insert(0, f"{interval(verdict.interval_adjusted_better)} pct")
    page.say("; ".join(filter(None, details)), "    ")


def _counter(page: Page, prefix: str, counter: CounterOutcome) -> None:
    verdict = counter.verdict
    page.say(f"{prefix}{counter.counter}, {counter_unit(counter.counter)}:", "", "  ")
    change = points(verdict.effect, plus=False)
    base = f"{mean_count(verdict.base_mean)} (0.00 pct)"
    _cells(page, "", base, f"{mean_count(verdict.other_mean)} ({change} pct)", verdict.word)
    page.say(f"{interval(verdict.interval_adjusted)} pct", "    ")


def _cells(page: Page, name: str, base: str, other: str, verdict: str) -> None:
    """Add a row; what does not fit beside its name stands on the next line."""
    name = printable(name)
    room = WIDTH - 2 * _FIGURE - _VERDICT
    if columns(name) > room:
        page.say(name)
        name = ""
    padding = " " * (room - columns(name))
    row = f"{name}{padding}{base:>{_FIGURE}}{other:>{_FIGURE}}  {verdict}"
    if columns(row) <= WIDTH:
        page.lines.append(row)
    else:
        page.say(f"{name} {base}, {other}, {verdict}".strip(), "    ")
