"""One page for a decision: what got better, worse, stayed the same, or is not known."""

from collections.abc import Iterator, Sequence

from schedlab.base.words import listing, plural
from schedlab.judging.analysis import Outcome
from schedlab.judging.verdict import Interval, Verdict
from schedlab.report import several
from schedlab.report.cause import cause
from schedlab.report.content import Report
from schedlab.report.plain import Page
from schedlab.report.several import Place
from schedlab.report.shape import shape
from schedlab.report.wording import direction, number, outlook, share

_DIGITS = 3

_KINDS = {
    "better": ("Better", 5),
    "worse": ("Worse", 5),
    "equivalent": ("The same", 2),
    "no effect": ("Not touched by the change", 1),
    "can't tell": ("Not known", 2),
}
"""What a kind of results is called, and how many of it are named: those that moved most."""


def pages(reports: Sequence[Report]) -> str:
    """Write one page of results that share their benchmarks and variants."""
    page = Page()
    found = several.places(reports)
    page.say(several.title(reports))
    page.gap()
    for banner in several.banners(reports):
        page.say(banner, "*** ", "*** ")
    others = dict.fromkeys(name for report in reports for name in report.others)
    for variant in others:
        _variant(page, found, variant)
    page.gap()
    for name, sets in several.variants(reports).items():
        page.say(f"{name} is: {sets}", "", "  ")
    for names, text in several.patches(reports):
        page.say(f"{names} is patched: {text}", "", "  ")
    machines = listing([place.name for place in found])
    page.say(f"Tried on {machines}.", "", "  ")
    page.gap()
    _how_sure(page, reports)
    page.gap()
    version = listing(list(dict.fromkeys(report.store.version for report in reports)))
    page.say(f"Made with schedlab {version}; `schedlab report DIR` has the evidence.")
    return str(page)


@shape("summary", suffix="txt", several=pages)
def render(report: Report) -> str:
    """One page of plain text for a decision; of several results too."""
    return pages([report])


def _variant(page: Page, found: Sequence[Place], variant: str) -> None:
    of = [(place, outcome) for place in found for outcome in place.report.outcomes_in(variant)]
    baseline = found[0].report.baseline
    counted = [
        f"{n} {'is' if n == 1 else 'are'} {heading.lower()}"
        for word, (heading, _) in _KINDS.items()
        if (n := sum(outcome.verdict.word == word for _, outcome in of))
    ]
    page.gap()
    results = plural(len(of), "result")
    counts = listing(counted) or "none is there"
    # What stands at the left again ends the list, for who imports it.
    page.say(f"{variant} against {baseline}: of {results} {counts}.", "", "  ")
    for word, (heading, most) in _KINDS.items():
        mine = [each for each in of if each[1].verdict.word == word]
        mine.sort(key=_weight)
        if not mine:
            continue
        page.gap()
        page.say(f"{heading}:")
        page.items(_sentence(place, outcome, len(found) > 1) for place, outcome in mine[:most])
        if len(mine) > most:
            page.item(f"and {len(mine) - most} more")


def _weight(each: tuple[Place, Outcome]) -> tuple[bool, bool, float]:
    """Return what results are sorted by: a benchmark's first metric first, then what moved most."""
    outcome = each[1]
    effect = outcome.verdict.effect_better
    return effect is None, outcome.metric != outcome.case.metrics[0], -abs(effect or 0.0)


def _sentence(place: Place, outcome: Outcome, on: bool) -> str:
    """Return what one figure did: `Hackbench: time (lower is better) went from 5 to 4 s: ...`."""
    verdict, metric = outcome.verdict, outcome.metric
    where = f"{outcome.case.label}{f' on {place.name}' if on else ''}"
    if verdict.effect is None:
        return f"{where}: {metric.words} was not measured{_why_not(verdict)}"
    base, other = (number(m, _DIGITS) for m in (verdict.base_mean, verdict.other_mean))
    went = f"went from {base} to {other} {metric.unit}"
    said = f"{where}: {metric.words} ({direction(metric)}) {went}: {'; '.join(_judged(verdict))}"
    is_changed = verdict.word in ("better", "worse")
    return f"{said}. {cause(place.report, outcome)}" if is_changed else said


def _why_not(verdict: Verdict) -> str:
    return f": {verdict.notes[0]}" if verdict.withheld else ""


def _judged(verdict: Verdict) -> Iterator[str]:
    effect, bounds = verdict.effect_better or 0.0, verdict.interval_adjusted_better
    way = "worse" if effect < 0 else "better"
    size = f"{_percent(effect)} % {way}"
    if bounds is not None:
        size += f", {_span(bounds)}"
    yield size
    if verdict.withheld:
        yield f"not judged: {verdict.notes[0].partition(': ')[0]}"
    elif verdict.word == "can't tell":
        more = outlook(verdict).replace(f"{verdict.unit}s", "repetitions")
        yield more or "not enough was measured"


def _span(bounds: Interval) -> str:
    low, high = bounds
    if low >= 0 or high <= 0:
        least, most = sorted((low, high), key=abs)
        return f"between {_percent(least)} and {_percent(most)} %"
    return f"between {_percent(low)} % worse and {_percent(high)} % better"


def _percent(ratio: float) -> str:
    """Return the size of a change: whole percents, tenths of what is small."""
    size = 100 * abs(ratio)
    return f"{size:,.0f}" if round(size, 1) >= 10 else f"{size:.1f}"


def _how_sure(page: Page, reports: Sequence[Report]) -> None:
    design = reports[0].design
    verdicts = [outcome.verdict for report in reports for outcome in report.analysis.outcomes]
    times = [verdict.blocks_done for verdict in verdicts if verdict.blocks_done]
    often = ""
    if times:
        least, most = min(times), max(times)
        spread = str(most) if least == most else f"{least} to {most}"
        often = f"Each was tried {spread} times with and without, in turn. "
    page.say(
        f"{often}Better and worse mean that chance is ruled out, but for at most"
        f" {share(design.alpha)} of such statements; the same means within"
        f" {share(design.margin)}. What is not known may be better, worse or the same."
    )
