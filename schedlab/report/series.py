"""The mail of a patch series: what each patch changed, against the one before and the base.

What a patch changed has a row; of the other figures a line says how the whole series compares with
the base.
"""

from collections.abc import Iterator, Sequence

from schedlab.judging.analysis import Outcome, judge_steps
from schedlab.judging.why import explain_steps
from schedlab.report.content import Report, outlooks
from schedlab.report.plain import Page
from schedlab.report.why import sentence
from schedlab.report.wording import (
    CLAIMED,
    fitted,
    interval,
    outlook,
    points,
    remark,
)
from schedlab.result.series import Tried, TriedSeries

_NAME = 27
_CHANGE = 8
_INTERVAL = 19
_WARNINGS = 3
"""Of a patch that are shown; the rest is counted."""


def series_mail(tried: TriedSeries, reports: Sequence[Report]) -> str:
    """Return the mail, in 72 columns, with its subject on top.

    Args:
        tried: the series.
        reports: of its results, one for each machine.
    """
    page = Page()
    steps = {name: list(_steps(name, reports)) for name in tried.kernels}
    page.say(_subject(tried, steps), "", " ")
    page.gap()
    for index, patch in enumerate(tried.patches, 1):
        page.say(patch.subject, f"{index:>3}  ", " " * 5)
        for line in _became(patch, steps.get(tried.name(index), [])):
            page.say(line, " " * 7, " " * 9)
        for line in _failures(tried.name(index), reports) if patch.state == "run" else ():
            page.say(line, " " * 7, " " * 9)
    for report in reports:
        page.box(report.store.machine.name)
        for banner in report.banners:
            page.say(banner)
        page.gap()
        _tables(page, tried, report)
    page.heading("How it was measured")
    store = reports[0].store
    page.say(
        f"Every patch is built on those before it, the first on {tried.base}, and runs in every"
        " block, with the block's seed and costs; it is judged, pair by pair, against the last one"
        f" before it that ran, and against the base. Differences within {store.design.margin:.0%}"
        f" count as none. Of the claims in either column at most {store.design.alpha:.0%} are"
        " expected to be false (Benjamini-Hochberg); intervals are as wide as that asks for."
    )
    page.gap()
    page.say(f"Made with schedlab {store.version}:")
    page.say(store.invocation, "  ", "      ")
    return str(page)


def _subject(tried: TriedSeries, steps: dict[str, list[Outcome]]) -> str:
    """Return the mail's subject: an answer to the series, with what it comes to."""
    failing = [str(n) for n, patch in enumerate(tried.patches, 1) if patch.state == "fails"]
    said = [f"{_patches(failing)} {'fail' if len(failing) > 1 else 'fails'}"] if failing else []
    for word in CLAIMED:
        found = [
            str(index)
            for index in range(1, len(tried.patches) + 1)
            if any(o.verdict.word == word for o in steps.get(tried.name(index), []))
        ]
        if found:
            said.append(f"{word} with {_patches(found)}")
    not_run = [patch for patch in tried.patches if patch.state not in ("run", "fails", "skipped")]
    said += [f"{len(not_run)} of {len(tried.patches)} not run"] if not_run else []
    what = "; ".join(said) or "no change shown"
    return f"Subject: Re: [PATCH 0/{len(tried.patches)}] {tried.title}: {what}"


def _patches(numbers: Sequence[str]) -> str:
    return f"{'patches' if len(numbers) > 1 else 'patch'} {', '.join(numbers)}"


def _became(patch: Tried, steps: Sequence[Outcome]) -> Iterator[str]:
    """Yield what became of a patch: its results in a line, or why it has none."""
    if patch.state != "run":
        # Where make's words lie is of no use to who reads a mail.
        said = patch.why.partition("\n")[0] if patch.state == "does not build" else patch.why
        why = " ".join(said.split())
        yield f"{patch.state}: {why}" if why else patch.state
    elif steps:
        words = [outcome.verdict.name for outcome in steps]
        counts = (f"{words.count(word)} {word}" for word in dict.fromkeys(words))
        yield f"against the one before: {', '.join(counts)}"
    yield from patch.notices
    yield from (f"warning: {text}" for text in patch.warnings[:_WARNINGS])
    if len(patch.warnings) > _WARNINGS:
        yield f"and {len(patch.warnings) - _WARNINGS} more warnings"


def _failures(variant: str, reports: Sequence[Report]) -> Iterator[str]:
    """Yield how many runs of a patch failed, benchmark by benchmark, and how the first ended."""
    for report in reports:
        mine = [each for each in report.store.records() if each.key.variant == variant]
        for case in dict.fromkeys(each.key.case for each in mine):
            runs = [each for each in mine if each.key.case == case]
            failed = [each for each in runs if each.status != "ok"]
            if failed:
                why = " ".join(failed[0].error.split())
                yield f"{len(failed)} of {len(runs)} runs of {case} failed: {why}"


def _steps(variant: str, reports: Sequence[Report]) -> Iterator[Outcome]:
    for report in reports:
        yield from (o for o in judge_steps(report.store) if o.variant == variant)


def _tables(page: Page, tried: TriedSeries, report: Report) -> None:
    """Add a row for each claim on a patch, benchmark by benchmark, and one for what has none."""
    steps = {_key(outcome): outcome for outcome in judge_steps(report.store)}
    reasons = {(spent.case.label, spent.variant): spent for spent in explain_steps(report.store)}
    names = list(tried.kernels)
    others: list[Outcome] = []
    for case in report.cases:
        rows: list[tuple[Outcome, Outcome]] = []
        for metric in case.info.metrics:
            found = [o for o in case.outcomes if o.metric == metric]
            claimed = [o for o in found if _is_claim(steps[_key(o)])]
            claimed += [
                o for o in found if o.variant == names[-1] and _is_claim(o) and o not in claimed
            ]
            rows += [(steps[_key(o)], o) for o in claimed]
            if not claimed:
                others += [o for o in found if o.variant == names[-1]]
        if rows:
            page.say(case.info.label)
            page.lines.append(f"{'metric':<14}patch, against the one before, %{'and the base':>21}")
            for step, whole in rows:
                _row(page, tried, step, whole)
            changed = {step.variant for step, _ in rows if _is_claim(step)}
            for index in range(1, len(tried.patches) + 1):
                spent = reasons.get((case.info.label, tried.name(index)))
                if spent and tried.name(index) in changed:
                    page.say(f"patch {index}: {sentence(spent)}", "  ", "    ")
            page.gap()
    if others:
        _unchanged(page, others)


def _unchanged(page: Page, others: Sequence[Outcome]) -> None:
    """Add what no patch is shown to change: the last one against the base."""
    page.say("No change is shown by any patch in these; all patches against the base, %:")
    label, notes = "", list[str]()
    for outcome in others:
        case, metric = outcome.case, outcome.metric.name
        name = case.label if len(case.metrics) == 1 else f"  {metric}"
        if len(case.metrics) > 1 and case.label != label:
            page.say(case.label)
        label = case.label
        verdict = outcome.verdict
        found = f"{points(verdict.effect_better):>{_CHANGE}} "
        found += f"{interval(verdict.interval_adjusted_better):<{_INTERVAL}}{verdict.name}"
        if said := _said(outcome):
            if said not in notes:
                notes.append(said)
            found += f" ({notes.index(said) + 1})"
        page.lines.append(f"{fitted(name, _NAME):<{_NAME}}{found}")
    if open_ones := [o.verdict for o in others if outlook(o.verdict)]:
        page.say(outlooks(open_ones))
    for place, note in enumerate(notes, 1):
        page.say(note, f"({place}) ", "    ")
    page.gap()


def _row(page: Page, tried: TriedSeries, step: Outcome, against_base: Outcome) -> None:
    """Add a row of a metric and a patch, and below it what is to be said of the verdict."""
    verdict, whole = step.verdict, against_base.verdict
    index = next(n for n in range(len(tried.patches) + 1) if tried.name(n) == step.variant)
    page.lines.append(
        f"{fitted(step.metric.name, 13):<13}{index:>3}{points(verdict.effect_better):>8} "
        f"{interval(verdict.interval_adjusted_better):<18}{verdict.name:<11}"
        f"{points(whole.effect_better):>7} {whole.name}"
    )
    if said := _said(step):
        page.say(said, " " * 8)


def _is_claim(outcome: Outcome) -> bool:
    return outcome.verdict.word in CLAIMED


def _said(outcome: Outcome) -> str:
    """Return what is to be said of a verdict; how many blocks it takes stands elsewhere."""
    return remark(outcome.verdict).removeprefix(outlook(outcome.verdict)).removeprefix("; ")


def _key(outcome: Outcome) -> tuple[str, str, str]:
    return outcome.case.label, outcome.metric.name, outcome.variant
