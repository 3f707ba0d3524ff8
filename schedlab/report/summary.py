"""One page for somebody who decides: what got better, worse, stayed the same, or is not known."""

from collections.abc import Iterator, Sequence

from schedlab.judging.analysis import Outcome
from schedlab.judging.stats import Verdict
from schedlab.report import several
from schedlab.report.content import Report
from schedlab.report.plain import Page
from schedlab.report.several import Place
from schedlab.report.shape import shape
from schedlab.report.wording import direction, listing, number, outlook, plural, points, share

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
    for name, texts in several.patches(reports).items():
        for text in texts:
            page.say(f"{name} has {text}", "", "  ")
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
    """One page of plain text for somebody who decides; of several results too."""
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
    page.say(f"{variant} against {baseline}: of {results} {listing(counted) or 'none is there'}.")
    for word, (heading, most) in _KINDS.items():
        mine = [each for each in of if each[1].verdict.word == word]
        mine.sort(key=lambda each: -abs(each[1].verdict.effect_better or 0.0))
        if not mine:
            continue
        page.gap()
        page.say(f"{heading}:")
        page.items(_sentence(place, outcome, len(found) > 1) for place, outcome in mine[:most])
        if len(mine) > most:
            page.item(f"and {len(mine) - most} more")


def _sentence(place: Place, outcome: Outcome, on: bool) -> str:
    """Return what one figure did: `Hackbench: time (lower is better) went from 5 to 4 s: ...`."""
    verdict, metric = outcome.verdict, outcome.metric
    where = f"{outcome.case.label}{f' on {place.name}' if on else ''}"
    if verdict.effect is None:
        return f"{where}: {metric.name} was not measured"
    went = f"went from {number(verdict.base_mean)} to {number(verdict.other_mean)} {metric.unit}"
    return f"{where}: {metric.name} ({direction(metric)}) {went}: {'; '.join(_judged(verdict))}"


def _judged(verdict: Verdict) -> Iterator[str]:
    effect, bounds = verdict.effect_better or 0.0, verdict.interval_adjusted_better
    way = "worse" if effect < 0 else "better"
    size = f"{points(abs(effect), plus=False)} % {way}"
    if bounds is not None:
        size += f", between {_end(bounds.low)} and {_end(bounds.high)}"
    yield size
    if verdict.word == "can't tell":
        more = outlook(verdict).replace(f"{verdict.unit}s", "repetitions")
        yield more or "not enough was measured"


def _end(value: float) -> str:
    return f"{points(abs(value), plus=False)} % {'worse' if value < 0 else 'better'}"


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
