"""The report in the shape of Intel's scheduler mails: case, load, relative figure and spread."""

from itertools import groupby

from schedlab.base.printable import printable
from schedlab.judging.analysis import Outcome
from schedlab.report.content import CaseReport, Report
from schedlab.report.plain import Page, close_mail, open_mail
from schedlab.report.shape import shape
from schedlab.report.wording import NONE, described, fitted, points, row_name
from schedlab.result.store import CaseInfo

_FIGURE = 18
"""Columns of `-12.34 (  1.23)` and of a name over it."""


@shape("intel", suffix="txt")
def render(report: Report) -> str:
    """Plain text, `case load baseline(std%) compare%( std%)`: relative, positive is better."""
    page = Page()
    open_mail(page, report)
    for variant in report.others:
        if len(report.others) > 1:
            page.heading(f"{variant} against {report.baseline}")
        for benchmark, cases in groupby(report.cases, key=lambda case: case.info.benchmark):
            _table(page, report, benchmark, variant, list(cases))
    page.gap()
    page.items(_legend(report))
    for variant in report.others:
        if remarks := report.remarks(variant):
            page.heading(f"Open and special results of {variant}")
            page.items(remarks)
    page.heading("What was measured")
    page.items(
        f"{name}: {text}"
        for name, text in dict.fromkeys(
            (_full_name(o), described(o.metric)) for o in report.analysis.outcomes
        )
    )
    close_mail(page, report)
    return str(page)


def _table(
    page: Page, report: Report, benchmark: str, variant: str, cases: list[CaseReport]
) -> None:
    """Add a table; its columns are as wide as they must be, whatever the width of a mail."""
    outcomes = [outcome for case in cases for outcome in case.outcomes_in(variant)]
    rows = [(*case_and_load(outcome), *_figures(outcome)) for outcome in outcomes]
    base = fitted(report.baseline, _FIGURE - 6) + "(std%)"
    other = fitted(variant, _FIGURE - 8) + "%( std%)"
    lines = [("case", "load", base, other, "verdict"), *rows]
    widths = [max(len(line[i]) for line in lines) for i in range(4)]
    name = printable(benchmark)
    page.lines += ["", name, "=" * max(3, len(name)), ""]
    for case, load, first, second, verdict in lines:
        page.lines.append(
            f"{case:<{widths[0]}}  {load:<{widths[1]}}  {first:>{widths[2]}}"
            f"  {second:>{widths[3]}}  {verdict}"
        )


def case_and_load(outcome: Outcome) -> tuple[str, str]:
    """Part a result's name into what was run and how much of it."""
    case = outcome.case
    load = _load(case)
    name = row_name(case.label, case.benchmark)
    name = name.removesuffix(load).rstrip(" -_/") if load else name
    metric = outcome.metric.name if len(case.metrics) > 1 or not name else ""
    return printable(" ".join(f"{name} {metric}".split())), load or NONE


def _full_name(outcome: Outcome) -> str:
    """Return the name of a row below its heading: benchmark, case and load."""
    case, load = case_and_load(outcome)
    return " ".join([outcome.case.benchmark, case, *([] if load == NONE else [load])])


def _load(case: CaseInfo) -> str:
    """Return the parameter that ends a label, `4-groups`."""
    loads = (f"{v}-{k}" for k, v in case.params.items() if isinstance(v, int))
    return next((load for load in loads if case.label.endswith(load)), "")


def _figures(outcome: Outcome) -> tuple[str, str, str]:
    verdict = outcome.verdict
    if verdict.effect is None or not verdict.base_mean or not verdict.other_mean:
        return NONE, NONE, verdict.word
    base = f"1.00 ({_spread(verdict.base_sd, verdict.base_mean):>6})"
    change = points(verdict.effect_better)
    return base, f"{change} ({_spread(verdict.other_sd, verdict.other_mean):>6})", verdict.word


def _spread(deviation: float | None, mean: float) -> str:
    return NONE if deviation is None else f"{100 * deviation / mean:.2f}"


def _legend(report: Report) -> list[str]:
    return [
        f"All figures are relative to {report.baseline}, whose mean is 1.00; the change is in"
        " percent, positive is better.",
        "std%: the standard deviation of the runs over their mean, in percent.",
        "verdict: schedlab's, as described below; without one the change is not evidence.",
    ]
