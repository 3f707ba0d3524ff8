"""Why a result came out as it did: a sentence under its verdict, and a table with all parts."""

from collections.abc import Collection, Sequence

from schedlab.base.words import listing
from schedlab.counters.sched_trace import RUNNING
from schedlab.judging.analysis import Outcome
from schedlab.judging.why import Part, Per, TimeSpent, overheads
from schedlab.report.content import Report
from schedlab.report.exhibit import Exhibit
from schedlab.report.wording import interval, number, points

HEADING = "Where the tasks' time went, in percent of the baseline's:"
NAMED = 3
"""Parts that a sentence names."""
_LEAST = 0.0005
"""A contribution that is written as 0.0 % is not named."""
_LEAST_OF_LARGEST = 0.08
"""Nor is one that is next to nothing beside the largest, whether that stands out or not."""
_NOT_SPLIT = (
    "Recorded on a host: running is user code and kernel at whatever speed, undivided; waiting"
    " may be throttling by cpu.max; what tasks slept for is not known."
)

NOTES = (
    "Each row is one thing the tasks' time went to: its mean time of all tasks together, in ns, and"
    " what its change contributes, in percent of all the baseline's time. The contributions add up"
    " to that of all; time asleep until started tasks end is left out.",
)


def why(report: Report, variant: str, labels: Collection[str] | None = None) -> list[str]:
    """Return a sentence for each benchmark whose tasks' time was counted, in a variant.

    With `labels` only of these benchmarks.
    """
    found = [
        spent
        for spent in report.times
        if spent.variant == variant and (labels is None or spent.case.label in labels)
    ]
    lines = [f"{spent.case.label}: {sentence(spent)}" for spent in found if _tells(spent)]
    calm = [spent.case.label for spent in found if not _tells(spent)]
    if calm:
        lines.append(f"{listing(calm)}: {_nothing(found)}")
    if any(part.state == RUNNING for spent in found for part in spent.parts):
        lines += [_NOT_SPLIT, *_recording(report)]
    return lines


def _recording(report: Report) -> list[str]:
    """Return what recording cost, where it was kept out of the judged runs."""
    costs = [
        f"{each.case.label} {each.case.metrics[0].name} {100 * (each.ratio - 1):+.1f} %"
        for each in overheads(report.store)
    ]
    if not costs:
        return []
    said = (
        "It was recorded in warm-up blocks, which are not judged. What recording cost there, in the"
    )
    return [f"{said} baseline, against the judged runs: {listing(costs)}."]


def why_of(report: Report, outcome: Outcome) -> list[str]:
    """Return the sentence for one benchmark in one variant, if something stands out."""
    asked = (outcome.case, outcome.variant)
    return [sentence(s) for s in report.times if (s.case, s.variant) == asked and _tells(s)]


def weightiest(report: Report, outcome: Outcome) -> tuple[Part, float] | None:
    """Return what made most of a result's change, and which part of it; None if nothing did.

    The account is of the benchmark's first metric: more time is worse. Of another metric, and where
    the tasks' time went the other way than the metric, it says nothing.
    """
    if outcome.metric != outcome.case.metrics[0]:
        return None
    asked = (outcome.case, outcome.variant)
    is_worse = (outcome.verdict.effect_better or 0.0) < 0
    for spent in report.times:
        whole = spent.whole.contribution
        if (spent.case, spent.variant) != asked or not whole or (whole > 0) != is_worse:
            continue
        for part in _named(spent):
            if part.contribution / whole > 0:
                return part, part.contribution / whole
    return None


def sentence(spent: TimeSpent) -> str:
    """Return what the change of the tasks' time is made of, as far as it stands out from noise."""
    if not _tells(spent):
        return _nothing([spent])
    parts = [f"{_signed(part)} {part.words}" for part in _named(spent)[:NAMED]]
    groups = [parts, _what_follows(spent)]
    if hidden := _largest_in_noise(spent):
        groups.append([f"largest, but within noise: {_signed(hidden)} {hidden.words}"])
    elif _is_mostly_noise(spent):
        groups.append(["the rest cannot be told from noise"])
    said = "; ".join(", ".join(group) for group in groups if group)
    if _signed(spent.whole) == "0.0":
        return f"{_basis(spent.per)} is as long as before: {said}"
    return f"of {_signed(spent.whole)} % {_basis(spent.per)}: {said}"


def _tells(spent: TimeSpent) -> bool:
    """Return whether a sentence has something to name: what makes a change, or that it is sleep."""
    return bool(_named(spent) or (spent.whole.stands_out and _what_follows(spent)))


def _what_follows(spent: TimeSpent) -> list[str]:
    """Return what follows from the other parts: sleep, and tasks that end early."""
    return [
        f"{points_of(sum(part.contribution for part in of))} {words}"
        for words, of in (
            ("asleep", [part for part in spent.parts if part.is_asleep and _is_named(part)]),
            ("ended early", [part for part in spent.parts if part.is_gone and _is_named(part)]),
        )
        if of
    ]


def _largest_in_noise(spent: TimeSpent) -> Part | None:
    """Return the part that weighs most, if it does not stand out and outweighs all that do."""
    largest = max(_acting(spent), key=_weight, default=None)
    least = max(_LEAST, _LEAST_OF_LARGEST * _weight(spent.whole))
    if not largest or largest.stands_out or _weight(largest) < least:
        return None
    return largest


def _is_mostly_noise(spent: TimeSpent) -> bool:
    """Return whether parts that do not stand out make at least half of the whole's change."""
    if _signed(spent.whole) == "0.0":
        return False
    noise = sum(part.contribution for part in spent.parts if not part.stands_out)
    return abs(noise) >= _LEAST and abs(noise) >= 0.5 * abs(spent.whole.contribution)


def _basis(per: Per) -> str:
    return f"tasks' time per {per.value}"


def _nothing(found: Sequence[TimeSpent]) -> str:
    if all(part.verdict.effect == 0 for spent in found for part in (spent.whole, *spent.parts)):
        return "the tasks' time went the same way in all runs of both"
    if all(spent.whole.verdict.interval is None for spent in found):
        return "too few blocks to tell where the time went from noise"
    return "nothing stands out from the noise in where the tasks' time went"


def _named(spent: TimeSpent) -> list[Part]:
    """Return the parts that make the change; sleep and the end of tasks follow from them."""
    sure = [part for part in _acting(spent) if _is_named(part)]
    least = _LEAST_OF_LARGEST * max(map(_weight, _acting(spent)), default=0.0)
    return [part for part in sure if _weight(part) >= least] or sorted(sure, key=_weight)[-1:]


def _acting(spent: TimeSpent) -> list[Part]:
    """Return the parts in which tasks do or want something."""
    return [part for part in spent.parts if not (part.is_asleep or part.is_gone)]


def _weight(part: Part) -> float:
    return abs(part.contribution)


def _is_named(part: Part) -> bool:
    return part.stands_out and abs(part.contribution) >= _LEAST


def _signed(part: Part) -> str:
    return points_of(part.contribution)


def points_of(share: float) -> str:
    """Return a contribution in percent, to the tenth, with its sign."""
    text = f"{100 * share:+.1f}"
    return "0.0" if text.strip("+-") == "0.0" else text


def table(spent: TimeSpent) -> Exhibit:
    """Return every part of the time with its contribution and interval; roles below all tasks."""
    rows = [("all tasks", spent.whole.words, *_figures(spent.whole))]
    rows += [("all tasks", part.words, *_figures(part)) for part in spent.parts]
    rows += [
        (role, part.words, *_figures(part)) for role, parts in spent.roles.items() for part in parts
    ]
    headings = ("tasks", "time went to", "baseline, ns", f"{spent.variant}, ns", "%", "interval, %")
    title = f"{spent.case.label}: {_basis(spent.per)}, {spent.variant}"
    return Exhibit(title, NOTES, headings, tuple(rows), names=2)


def _figures(part: Part) -> tuple[str, ...]:
    verdict = part.verdict
    bounds = interval(verdict.interval_adjusted)
    return (number(part.base), number(part.other), points(part.contribution), bounds)
