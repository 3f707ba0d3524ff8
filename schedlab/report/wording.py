"""How figures and verdicts are written, alike in every shape: numbers, percent, intervals, words.

Nothing is worked out here: all figures come from the verdicts and the runs.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable
from unicodedata import east_asian_width

from schedlab.base.printable import printable
from schedlab.benchmarks.metric import Metric
from schedlab.counters import snapshot_groups
from schedlab.counters.meaning import CLIENT
from schedlab.judging.analysis import Outcome
from schedlab.judging.trend import Trend
from schedlab.judging.verdict import Interval, Verdict, Word

NONE = "-"
"""What stands where there is no figure."""

_LEAST_SHARE = 0.0001
"""A part of the whole of less is not written to three digits."""

_COUNTED: tuple[Word, ...] = ("better", "worse", "equivalent", "can't tell")
"""The verdicts that are counted though there be none."""

CLAIMED = ("better", "worse")
"""The verdicts that claim a change."""

MARKS = {
    **{"better": "▲", "worse": "▼", "up": "↑", "down": "↓"},
    **{"equivalent": "=", "no effect": "≡", "can't tell": "?"},
}
"""A sign for each verdict, so that none is recognised by its colour alone."""


def number(value: float | None, significant: int = 5) -> str:
    """Return a mean to so many significant digits."""
    if value is None:
        return NONE
    after = significant - 1
    size = abs(float(f"{value:.{after}e}"))
    if size == 0:
        return "0"
    if not 1e-4 <= size < 1e9:
        return f"{value:.{after}e}"
    digits = max(0, after - math.floor(math.log10(size)))
    return f"{value:,.{digits}f}"


def exact(value: float) -> str:
    """Return a figure as a tool printed it."""
    return f"{value:.0f}" if value.is_integer() and abs(value) < 1e15 else f"{value:.10g}"


def count(value: float) -> str:
    """Return a counter's figure of one run: whole numbers in full, seconds to the hundredth."""
    if abs(value) >= 1e15:
        return f"{value:.3e}"
    if 0 < value < 0.01:
        return "<0.01"
    return f"{value:,.0f}" if value.is_integer() else f"{value:,.2f}"


def mean_count(value: float | None) -> str:
    """Return the mean of a counter: five significant digits, large ones without a fraction."""
    if value is None or value >= 1e12:
        return number(value)
    if 0 < value < 0.01:
        return "<0.01"
    return count(float(round(value))) if value >= 1000 else f"{value:.2f}".removesuffix(".00")


def points(ratio: float | None, plus: bool = True) -> str:
    """Return a ratio - 1 in percent, as a bare figure with its sign."""
    if ratio is None:
        return NONE
    value = 100 * ratio
    size = abs(value)
    sign = "+" if plus else ""
    if not math.isfinite(value):
        return f"{value:{sign}f}"
    if round(size) >= 1e9:
        return f"{value:{sign}.1e}"
    text = f"{value:{sign},.2f}" if round(size, 2) < 100 else f"{value:{sign},.0f}"
    return "0.00" if text.strip("+-") == "0.00" else text


def percent(ratio: float | None) -> str:
    """Return a ratio - 1 in percent, with its sign."""
    return NONE if ratio is None else f"{points(ratio)} %"


def share(part: float) -> str:
    """Return a part of the whole in percent, without a sign."""
    if 0 < part < _LEAST_SHARE:
        return f"<{100 * _LEAST_SHARE:g} %"
    return f"{100 * part:.3g} %"


def interval(value: Interval | None) -> str:
    """Return an interval of a ratio - 1, in percent but without saying so."""
    return NONE if value is None else f"[{points(value.low)}, {points(value.high)}]"


def duration(seconds: float) -> str:
    """Return a time in the units people plan in."""
    if seconds < 120:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 120 else f"{minutes // 60} h {minutes % 60} min"


def brief_duration(seconds: float) -> str:
    """Return a time as short as a switch or as long as a run: `350 ns`, `3.4 ms`."""
    for unit, size in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= size:
            return f"{seconds / size:.3g} {unit}"
    return f"{1e9 * seconds:.3g} ns"


def direction(metric: Metric) -> str:
    """Return which way a metric improves."""
    return f"{metric.better} is better"


def row_name(label: str, benchmark: str) -> str:
    """Shorten a label to what follows the benchmark's name."""
    return label.removeprefix(benchmark).strip(" -_/")


def described(metric: Metric) -> str:
    """Return a metric in full: name, unit, direction."""
    return f"{metric.name}, {metric.unit}, {direction(metric)}"


def counter_unit(counter: str) -> str:
    """Return the unit of a counter, which its name ends with unless it counts events."""
    units = {"seconds": "s", "ns": "ns", "us": "us", "share": "%", "joules": "J"}
    return units.get(re.split("[:_-]", counter)[-1], "events")


def is_tracepoint(counter: str) -> bool:
    """Return whether a counter is a tracepoint, such as `sched:sched_migrate_task`."""
    subsystem, colon, event = counter.partition(":")
    others = {group.subsystem for group in snapshot_groups().values()}
    here = not counter.startswith(CLIENT)
    return here and bool(colon) and subsystem not in others and ":" not in event


def tally(outcomes: Iterable[Outcome], *, zeros: bool = True) -> str:
    """Count verdicts: `2 better, 0 worse, 5 equivalent, 4 can't tell`; or leave out the zeros."""
    found = Counter(
        "not judged" if outcome.verdict.withheld else outcome.verdict.word for outcome in outcomes
    )
    always = _COUNTED if zeros else ()
    return ", ".join(
        f"{found[word]} {word}"
        for word in (*_COUNTED, "no effect", "not judged")
        if found[word] or word in always
    )


def mark(verdict: Verdict) -> str:
    """Return the sign of the verdict."""
    return MARKS[verdict.word] if verdict.name == verdict.word else "·"


def is_evidence(verdict: Verdict) -> bool:
    """Return whether a verdict may be coloured: it is settled, and on enough blocks."""
    return verdict.settled and not verdict.screening


def outlook(verdict: Verdict) -> str:
    """Return how many blocks would settle what is open; empty for counters."""
    if verdict.better is None or verdict.settled or verdict.withheld or min(verdict.n) < 2:
        return ""
    if verdict.blocks_needed is None:
        return f"as it stands, no number of {verdict.unit}s would settle it"
    what = f"{verdict.unit}s" if verdict.extendable else "values of each"
    beyond = "; more than this plan has" if verdict.futile else ""
    return f"about {verdict.blocks_needed:,} {what} would settle it{beyond}"


def remark(verdict: Verdict) -> str:
    """Return what would settle it, and what keeps it from being an ordinary verdict."""
    return "; ".join(filter(None, [outlook(verdict), *verdict.notes]))


def verdict_phrase(verdict: Verdict) -> str:
    """Return the verdict with its remark."""
    return ": ".join(filter(None, [verdict.name, remark(verdict)]))


def trend_line(trend: Trend) -> str:
    """Return how a change goes along an axis."""
    axis, values = trend.axis, trend.axis.values
    several = f" {trend.metric.name}" if len(axis.cases[0].metrics) > 1 else ""
    found = (
        "no trend shown"
        if trend.direction == "can't tell"
        else f"the change {trend.direction} with {axis.parameter}"
    )
    return (
        f"{axis.name}{several}: {percent(trend.effects[0])} at {values[0]:,} {axis.parameter} to"
        f" {percent(trend.effects[-1])} at {values[-1]:,}: {found}"
        f" (tau {trend.tau:+.2f}, p {trend.p_adjusted:.2g}, {len(values)} points)"
    )


def blocks_used(verdict: Verdict) -> str:
    """Return the number of pairs, and of blocks where failed runs took pairs away."""
    n, other = verdict.n
    if not verdict.extendable:
        return f"{n}+{other}"
    return f"{n}" if n == verdict.blocks_done else f"{n}/{verdict.blocks_done}"


def figures_of(verdict: Verdict) -> tuple[str, ...]:
    """Return both means, the change, its interval, the blocks and the word."""
    return (
        number(verdict.base_mean),
        number(verdict.other_mean),
        points(verdict.effect_better),
        interval(verdict.interval_adjusted_better),
        blocks_used(verdict),
        verdict.name,
    )


def columns(text: str) -> int:
    """Count the columns a text takes on a terminal and in a mail; never less than its length."""
    if text.isascii():
        return len(text)
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def fitted(text: str, width: int) -> str:
    """Shorten a text in its middle, so that both ends can still tell it from others."""
    if columns(text) <= width:
        return text
    head, tail = (width - 2 + 1) // 2, (width - 2) // 2
    return _cut(text, head) + ".." + _cut(text[::-1], tail)[::-1]


def wrapped(text: str, width: int, first: str = "", rest: str | None = None) -> list[str]:
    """Break a text into lines of at most `width` columns, indented by `first`, then by `rest`."""
    rest = first if rest is None else rest
    lines: list[str] = []
    line, is_empty = first, True
    # A figure keeps its sign: `210 %` is not broken.
    words = re.split(" (?!%)", printable(text))
    for piece in _pieces(words, width - max(len(first), len(rest))):
        if not is_empty and columns(line) + 1 + columns(piece) > width:
            lines.append(line)
            line, is_empty = rest, True
        line += piece if is_empty else f" {piece}"
        is_empty = False
    return [each.rstrip() for each in [*lines, line]]


def _pieces(words: Iterable[str], width: int) -> Iterable[str]:
    """Yield the words, those that are too long in parts."""
    for word in words:
        part = word
        while columns(part) > width:
            head = _cut(part, width)
            yield head
            part = part[len(head) :]
        yield part


def _cut(text: str, width: int) -> str:
    """Return as much of a text as fits."""
    used = 0
    for at, character in enumerate(text):
        used += columns(character)
        if used > width:
            return text[:at]
    return text
