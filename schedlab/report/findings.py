"""What a result found, in plain sentences: one over all of it, and one for each of its figures."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from schedlab.base.words import listing, plural
from schedlab.judging.analysis import Outcome
from schedlab.judging.verdict import Interval, Verdict
from schedlab.report.content import Report
from schedlab.report.wording import CLAIMED, outlook, points, share, tally


@dataclass(frozen=True)
class Finding:
    """A sentence about one figure, and the verdict it speaks of."""

    sentence: str
    verdict: Verdict


def findings(report: Report) -> list[Finding]:
    """Return a sentence for every figure that has one, those with a verdict first."""
    outcomes = sorted(filter(_has_sentence, report.analysis.outcomes), key=_is_open)
    return [Finding(sentence(report, outcome), outcome.verdict) for outcome in outcomes]


def further(report: Report) -> str:
    """Return how many figures have no sentence of their own, by verdict; empty if none."""
    rest = [o.verdict.word for o in report.analysis.outcomes if not _has_sentence(o)]
    counted = [f"{number} {word}" for word, number in sorted(Counter(rest).items())]
    of = plural(len(rest), "further figure")
    return f"Of {of}, in the table below: {listing(counted)}." if rest else ""


def _has_sentence(outcome: Outcome) -> bool:
    """Return whether a figure is its benchmark's first, or better or worse."""
    return outcome.metric == outcome.case.metrics[0] or outcome.verdict.word in CLAIMED


def _is_open(outcome: Outcome) -> bool:
    return not outcome.verdict.settled


def headline(report: Report) -> str:
    """Return one sentence about all of a result."""
    outcomes = report.analysis.outcomes
    if report.plan.aa:
        return _noise_floor(report, outcomes)
    if len(outcomes) == 1:
        return sentence(report, outcomes[0])
    parts = [
        f"{variant} against {report.baseline}: {_verdicts_of(report, variant)}"
        for variant in report.others
    ]
    claimed = [o for o in outcomes if o.verdict.word in CLAIMED]
    if claimed:
        most = max(claimed, key=lambda o: abs(o.verdict.effect or 0.0))
        parts.append(f"most of all, {sentence(report, most)}")
    return "; ".join(parts)


def _verdicts_of(report: Report, variant: str) -> str:
    return tally(report.outcomes_in(variant), zeros=False) or "no result"


def plot_range(found: Sequence[Finding], margin: float) -> float:
    """Return how far the axis of a result's plots reaches to either side, as a ratio - 1."""
    ends = [abs(end) for f in found for end in f.verdict.interval_adjusted_better or ()]
    ends += [abs(f.verdict.effect_better or 0.0) for f in found]
    return min(1.0, max([2 * margin, *ends]))


def sentence(report: Report, outcome: Outcome) -> str:
    """Return what one figure found, with its change, its interval and what would settle it."""
    verdict, name = outcome.verdict, report.name_of(outcome)
    variant, baseline = outcome.variant, report.baseline
    effect, interval = verdict.effect_better, verdict.interval_adjusted_better
    if effect is None:
        return f"{name}: nothing was measured"
    if verdict.word in CLAIMED:
        size = f"{points(abs(effect), plus=False)} %{_between(interval, turned=effect < 0)}"
        return f"{name}: {variant} is {verdict.word} than {baseline} by {size}"
    if verdict.word == "no effect":
        return f"{name}: {variant} has no effect in this run: {verdict.note}"
    change = f"{points(effect)} %{_between(interval)}"
    if verdict.settled:
        same = f"are the same within {share(report.design.margin)}"
        return f"{name}: {variant} and {baseline} {same}: {change}"
    more = outlook(verdict)
    return (
        f"{name}: {variant} against {baseline}, can't tell: {change}{f'; {more}' if more else ''}"
    )


def _between(interval: Interval | None, turned: bool = False) -> str:
    if interval is None:
        return ""
    low, high = interval.mirrored() if turned else interval
    return f" ({points(low)} to {points(high)} %)"


def _noise_floor(report: Report, outcomes: Sequence[Outcome]) -> str:
    """Return what an A/A run shows: how small a change this host can tell from its noise."""
    claimed = sum(o.verdict.word in CLAIMED for o in outcomes)
    alarms = f"{plural(claimed, 'false alarm')} among {plural(len(outcomes), 'result')}"
    widths = sorted(
        ((i.high - i.low) / 2, report.name_of(o))
        for o in outcomes
        if (i := o.verdict.interval_adjusted) is not None
    )
    if not widths:
        return f"the host against itself: {alarms}"
    (least, quietest), (most, loudest) = widths[0], widths[-1]
    blocks = max(o.verdict.blocks_done for o in outcomes)
    floor = f"±{points(least, plus=False)} % ({quietest})"
    if len(widths) > 1:
        floor += f" to ±{points(most, plus=False)} % ({loudest})"
    return (
        f"the host against itself: {alarms}; its noise after {plural(blocks, 'block')}: {floor};"
        " a smaller difference cannot be seen here"
    )
