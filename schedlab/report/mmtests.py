"""The report in the shape of mmtests' comparison tables, in 72 columns."""

from schedlab.base.printable import printable
from schedlab.judging.analysis import Outcome
from schedlab.report.content import Report
from schedlab.report.plain import WIDTH, Page, close_mail, open_mail
from schedlab.report.shape import shape
from schedlab.report.wording import (
    blocks_used,
    columns,
    described,
    fitted,
    interval,
    is_evidence,
    number,
    points,
)

_VALUE = 12
_CHANGE = 11
_NAME = WIDTH - 6 - 2 * (_VALUE + _CHANGE)


@shape("mmtests", suffix="txt")
def render(report: Report) -> str:
    """Plain text in the shape of mmtests, where a star is a verdict."""
    page = Page()
    open_mail(page, report)
    for variant in report.others:
        page.gap()
        names = (fitted(name, _VALUE + _CHANGE - 2) for name in (report.baseline, variant))
        heads = "".join(f"{name:>{_VALUE + _CHANGE}}" for name in names)
        page.lines += [" " * (WIDTH - columns(heads)) + heads]
        for outcome in report.outcomes_in(variant):
            _row(page, report, outcome)
    page.gap()
    page.items(_legend())
    for variant in report.others:
        remarks = report.remarks(variant)
        if remarks:
            page.heading(f"Open and special results of {variant}")
            page.items(remarks)
        page.heading(f"Metrics, {report.unit}s and intervals of {variant}")
        page.items(
            f"{report.name_of(o)}: {described(o.metric)};"
            f" {blocks_used(o.verdict)} {report.unit}s,"
            f" {interval(o.verdict.interval_adjusted_better)} %"
            for o in report.outcomes_in(variant)
        )
    close_mail(page, report)
    return str(page)


def _row(page: Page, report: Report, outcome: Outcome) -> None:
    """Add a row; a name or figures too wide for it stand on lines of their own."""
    verdict = outcome.verdict
    name = printable(report.name_of(outcome))
    left, right = "()"
    if is_evidence(verdict):
        left = right = "=" if verdict.word == "equivalent" else "*"
    change = f"{points(verdict.effect_better, plus=False)}%" if verdict.effect is not None else "-"
    base, other = number(verdict.base_mean), number(verdict.other_mean)
    figures = (
        f"{base:>{_VALUE}} {'(   0.00%)':>{_CHANGE - 1}}"
        f"{other:>{_VALUE}} {left}{change:>{_CHANGE - 3}}{right}"
    )
    label = f"Gmean {name}{' ' * (_NAME - columns(name))}"
    if columns(label + figures) <= WIDTH:
        page.lines.append(label + figures)
        return
    page.say(name, "Gmean ", "      ")
    if 6 + _NAME + columns(figures) <= WIDTH:
        page.lines.append(" " * (6 + _NAME) + figures)
    else:
        page.say(f"{base} (0.00%), {other} {left}{change}{right}", "      ")


def _legend() -> list[str]:
    return [
        "Percent is the change against the baseline, positive is better.",
        "*  pct%* is evidence: better or worse, as judged by schedlab (see below). It is not"
        " mmtests' own star, which compares two ranges of 1.96 standard deviations.",
        "=  pct%= is evidence that there is no difference beyond the margin.",
        "(  pct%) is not evidence either way: can't tell.",
        "Gmean: where mmtests gives a harmonic mean of rates (Hmean) and an arithmetic mean of"
        " times (Amean), here all means are geometric, so that the percentages are those of the"
        " verdicts.",
    ]
