"""The mail of a patch series: what each patch changed, against the one before and the base."""

from collections.abc import Sequence

from schedlab.judging.analysis import Outcome, judge_steps
from schedlab.judging.why import explain_steps
from schedlab.report.content import Report
from schedlab.report.plain import Page
from schedlab.report.why import sentence
from schedlab.report.wording import (
    described,
    interval,
    number,
    points,
    remark,
    verdict_word,
)
from schedlab.result.series import TriedSeries

_CHANGE = 8
_INTERVAL = 19
_VERDICT = 12


def series_mail(tried: TriedSeries, reports: Sequence[Report]) -> str:
    """Return the mail, in 72 columns.

    Args:
        tried: the series.
        reports: of its results, one for each machine.
    """
    page = Page()
    page.say(f"{tried.title}: patches 1 to {len(tried.patches)} on {tried.base}")
    page.gap()
    for name in list(tried.kernels)[1:]:
        page.item(f"{name} against the one before: {_found(name, reports)}")
    page.heading("Patches")
    for index, patch in enumerate(tried.patches, 1):
        page.say(patch.subject, f"{index:>4}  ", " " * 6)
        if patch.state != "run":
            why = f": {patch.why}" if patch.why else ""
            page.say(f"{patch.state}{why}", " " * 8)
        for notice in patch.notices:
            page.say(notice, " " * 8)
    for report in reports:
        page.box(report.store.machine.name)
        for banner in report.banners:
            page.say(banner)
        page.gap()
        _tables(page, tried, report)
    page.heading("How it was measured")
    design = reports[0].store.design
    page.say(
        "Every patch is built on those before it and runs in every block, with the block's seed and"
        " costs; it is judged, pair by pair, against the last one before it that ran, and against"
        f" the base. Differences within {design.margin:.0%} count as none. Of the claims in either"
        f" column at most {design.alpha:.0%} are expected to be false (Benjamini-Hochberg);"
        " intervals are as wide as that asks for."
    )
    return str(page)


def _found(variant: str, reports: Sequence[Report]) -> str:
    """Return what a patch changed on all machines, in a line."""
    steps = [o for report in reports for o in judge_steps(report.store) if o.variant == variant]
    words = [verdict_word(outcome.verdict) for outcome in steps]
    return ", ".join(f"{words.count(word)} {word}" for word in dict.fromkeys(words))


def _tables(page: Page, tried: TriedSeries, report: Report) -> None:
    steps = {_key(outcome): outcome for outcome in judge_steps(report.store)}
    reasons = {(spent.case.label, spent.variant): spent for spent in explain_steps(report.store)}
    notes: list[str] = []
    for case in report.cases:
        for metric in case.info.metrics:
            base = next((o for o in case.outcomes if o.metric == metric), None)
            if base is None:
                continue
            page.say(f"{case.info.label} {described(metric)}")
            page.say(f"{tried.name(0)}: {number(base.verdict.base_mean)}", "  ")
            head = f"{'patch':<7}{'change, %, against the one before':<40}against the base"
            page.lines.append(head)
            for index, patch in enumerate(tried.patches, 1):
                name = tried.name(index)
                against_base = next(
                    (o for o in case.outcomes if (o.metric, o.variant) == (metric, name)), None
                )
                if not patch.kernel or against_base is None:
                    page.lines.append(f"{index:<7}{patch.state}")
                    continue
                step = steps[_key(against_base)]
                _row(page, index, step, against_base, notes)
                spent = reasons.get((case.info.label, name))
                if spent and step.verdict.word in ("better", "worse"):
                    page.say(sentence(spent), " " * 8)
            page.gap()
    for place, note in enumerate(notes, 1):
        page.say(note, f"({place}) ", "    ")


def _row(page: Page, index: int, step: Outcome, against_base: Outcome, notes: list[str]) -> None:
    """Add a row; what is to be said of its verdict is a note, which others may share."""
    verdict, whole = step.verdict, against_base.verdict
    cells = (
        f"{points(verdict.effect_better):>{_CHANGE - 1}} "
        f"{interval(verdict.interval_adjusted_better):<{_INTERVAL}}"
        f"{verdict_word(verdict):<{_VERDICT}}"
        f" {points(whole.effect_better):>{_CHANGE}} {verdict_word(whole)}"
    )
    place = ""
    if said := remark(verdict):
        if said not in notes:
            notes.append(said)
        place = f"({notes.index(said) + 1})"
    page.lines.append(f"{index:<6}{cells:<60} {place}".rstrip())


def _key(outcome: Outcome) -> tuple[str, str, str]:
    return outcome.case.label, outcome.metric.name, outcome.variant
