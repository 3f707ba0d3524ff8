"""What decided a result: the few counters that carry the change, each in a user's words."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

from schedlab.base.words import plural
from schedlab.counters.meaning import Topic
from schedlab.counters.simulated import CPU_TIME, ENTRIES
from schedlab.counters.times import times
from schedlab.judging.analysis import CounterOutcome, Outcome, RunTable, counted_runs
from schedlab.judging.decisive import Ranked, rank
from schedlab.judging.meanings import meaning_of
from schedlab.report.content import CaseReport, Report, by_variant
from schedlab.report.wording import counter_unit, interval, mean_count, points
from schedlab.result.record import RunRecord
from schedlab.settings.kinds.cpuidle import Cpuidle
from schedlab.settings.kinds.idle_governor import IdleGovernor

MOST = 8
"""Lines of a report."""
_OF_A_TOPIC = 2
"""Lines of one topic, so that the many counters of one function leave room for others."""
_LEAST_SIZE = 0.25
"""A counter that changed by less than this part of what the result did has no line."""
_LEAST_VISIBLE = 0.05
"""Nor has a time that moved by less than this part of what the tasks' time changed by."""
_AS_LONG = 0.02
"""Runs of two variants that differ by less in length are compared by the second."""
_TIMES = {"ns": 1.0, "us": 1e3, "s": 1e9}
_TOPICS = list(Topic)
_NOTHING = "No counter stands out that carries a visible part of what changed."


@dataclass(frozen=True)
class Decided:
    """The counters of one benchmark in one variant that a report shows."""

    case: str
    variant: str
    ranked: tuple[Ranked, ...]
    lines: tuple[str, ...]
    """Each of these in words."""


@dataclass(frozen=True)
class Decision:
    """What a report says of its counters."""

    title: str
    parts: tuple[Decided, ...]
    more: int
    """Counters that changed and are not shown."""
    nothing: str = ""
    """What is said where results changed and no counter carries a visible part of that."""

    @property
    def rest(self) -> str:
        """Return how to see the counters that are left out; empty if none is."""
        if not self.more:
            return ""
        shown = f"{plural(self.more, 'further counter')} changed"
        return f"{shown}: `schedlab report DIR --counters all` lists them by topic."


def decision(report: Report) -> Decision:
    """Return the weightiest counters of a report, those of claimed results if there are any."""
    table = counted_runs(report.store)
    found = [
        (case, variant, ranked)
        for case in report.cases
        for variant in report.others
        if (ranked := _ranked(report, case, variant, table))
    ]
    claimed = [each for each in found if _is_claimed(each[0], each[1])]
    are_claimed = any(
        _is_claimed(case, variant) and case.counters_in(variant)
        for case in report.cases
        for variant in report.others
    )
    shown = _most(report, claimed or found)
    parts = []
    for case, variant, ranked in found:
        lines = [each for each in shown if each in ranked]
        if lines:
            topics = list(dict.fromkeys(each.topic for each in lines))  # the leading one first
            lines.sort(key=lambda each: topics.index(each.topic))
            words = tuple(in_words(report, case, each.outcome) for each in lines)
            parts.append(Decided(case.info.label, variant, tuple(lines), words))
    moved = sum(len(case.moved_in(v)) for case in report.cases for v in report.others)
    title = "What decided it" if are_claimed else "What the scheduler did differently"
    nothing = _NOTHING if are_claimed and not parts else ""
    return Decision(title, tuple(parts), moved - len(shown), nothing)


def leading(report: Report, outcome: Outcome) -> str:
    """Return the line of the counter that carries most of a benchmark's change; empty if none."""
    [case] = (case for case in report.cases if case.info == outcome.case)
    ranked = _ranked(report, case, outcome.variant, counted_runs(report.store))
    first = next(iter(_spread(report, ranked)), None)
    return in_words(report, case, first.outcome) if first else ""


def _ranked(report: Report, case: CaseReport, variant: str, table: RunTable) -> list[Ranked]:
    outcomes = case.outcomes_in(variant)
    if all(outcome.verdict.word == "no effect" for outcome in outcomes):
        return []
    ranked = rank(
        outcomes,
        case.moved_in(variant),
        table,
        report.plan.judging.paired,
        report.design.margin,
    )
    return [
        each
        for each in ranked
        if _can_carry(each.outcome, outcomes) and _is_visible(report, case, each.outcome)
    ]


def _can_carry(counter: CounterOutcome, outcomes: Sequence[Outcome]) -> bool:
    """Return whether what is counted can be why: less of what only takes time is not a loss."""
    if not meaning_of(counter.counter).is_effort:
        return True
    is_more = (counter.verdict.other_mean or 0.0) > (counter.verdict.base_mean or 0.0)
    word = outcomes[0].verdict.word
    return word not in ("better", "worse") or is_more == (word == "worse")


def _is_visible(report: Report, case: CaseReport, counter: CounterOutcome) -> bool:
    """Return whether a time moved by a visible part of what the tasks' time changed by."""
    unit, verdict = counter_unit(counter.counter), counter.verdict
    runs = [r for r in by_variant(case.runs, report.baseline) if r.status == "ok"]
    spent = [sum(times(run.counters).get("", {}).values()) for run in runs]
    effects = [o.verdict.effect for o in case.outcomes_in(counter.variant) if o.verdict.effect]
    if unit not in _TIMES or not any(spent) or not effects:
        return True
    moved = abs((verdict.other_mean or 0.0) - (verdict.base_mean or 0.0)) * _TIMES[unit]
    change = max(abs(math.log1p(max(effect, -0.999))) for effect in effects)
    return moved >= _LEAST_VISIBLE * change * sum(spent) / len(spent)


def _is_claimed(case: CaseReport, variant: str) -> bool:
    return any(o.verdict.word in ("better", "worse") for o in case.outcomes_in(variant))


def _most(report: Report, found: Sequence[tuple[CaseReport, str, list[Ranked]]]) -> list[Ranked]:
    """Return the first of every benchmark and variant, then the second of each, up to the most."""
    spread = [_spread(report, ranked) for _, _, ranked in found]
    rows = [
        sorted((r[place] for r in spread if place < len(r)), key=lambda each: -each.weight)
        for place in range(max(map(len, spread), default=0))
    ]
    return [each for row in rows for each in row][:MOST]


def _spread(report: Report, ranked: Sequence[Ranked]) -> list[Ranked]:
    """Put what the scheduler decides before what follows from it.

    What explains nothing is left out, and all of a topic but the weightiest.
    """
    shown: list[Ranked] = []
    for each in sorted(ranked, key=lambda each: _follows(report, each)):
        of_topic = sum(other.topic == each.topic for other in shown)
        explains = _has_words(report, each) and each.size >= _LEAST_SIZE
        if explains and of_topic < _OF_A_TOPIC:
            shown.append(each)
    return shown


def _has_words(report: Report, ranked: Ranked) -> bool:
    """Return whether a reader learns from a counter's line what the scheduler did.

    The name of a tracepoint says it to nobody but those who asked for that tracepoint.
    """
    if ranked.topic is Topic.BOOKKEEPING:
        return False
    name, asked_for = ranked.outcome.counter, report.plan.counters
    return meaning_of(name).words != name or (asked_for != "all" and name in asked_for)


def _follows(report: Report, ranked: Ranked) -> bool:
    """Return whether a counter is a consequence; idle states are none where a variant sets them."""
    if ranked.topic is Topic.IDLE:
        kinds = (Cpuidle, IdleGovernor)
        return not any(kind.of(variant) for kind in kinds for variant in report.plan.variant)
    return meaning_of(ranked.outcome.counter).is_consequence


def by_topic(counters: Sequence[CounterOutcome]) -> list[tuple[Topic, list[CounterOutcome]]]:
    """Sort counters under what the scheduler does, in the order of the topics."""

    def place(counter: CounterOutcome) -> int:
        return _TOPICS.index(meaning_of(counter.counter).topic)

    return [(_TOPICS[at], list(of)) for at, of in groupby(sorted(counters, key=place), key=place)]


def counter_line(counter: CounterOutcome) -> str:
    """Return a counter in full: its name, what it says, its figures as they were judged."""
    verdict, name = counter.verdict, counter.counter
    means = f"{mean_count(verdict.base_mean)} -> {mean_count(verdict.other_mean)}"
    words = meaning_of(name).words
    said = f"{name} ({words})" if words != name else name
    return (
        f"{said}: {means} {counter_unit(name)}, {points(verdict.effect)} %"
        f" {interval(verdict.interval_adjusted)}, {verdict.word}"
    )


def in_words(report: Report, case: CaseReport, counter: CounterOutcome) -> str:
    """Return a counter as a sentence: `newidle balance pulled a task: 1,240 -> 310 a second`."""
    verdict, unit = counter.verdict, counter_unit(counter.counter)
    words = meaning_of(counter.counter).words
    seconds = [
        _mean_seconds(report, case, variant) for variant in (report.baseline, counter.variant)
    ]
    means = [verdict.base_mean or 0.0, verdict.other_mean or 0.0]
    first, second = seconds
    if first and second and abs(math.log(second / first)) < _AS_LONG:
        means, per = [means[0] / first, means[1] / second], "a second"
    else:
        per = "a run"
    if unit == "%":
        return f"{words}: {_figure(means[0])} -> {_figure(means[1])} %"
    before, after = _amounts(means, unit)
    return f"{words}: {before} -> {after} {per}"


def _mean_seconds(report: Report, case: CaseReport, variant: str) -> float:
    """Return how long the counters of a run counted; 0 where that is not known."""
    runs = [r for r in case.runs if r.key.variant == variant and r.status == "ok"]
    lengths = [_seconds(report, run) for run in runs]
    return sum(lengths) / len(lengths) if lengths and min(lengths) > 0 else 0.0


def _seconds(report: Report, run: RunRecord) -> float:
    if not report.plan.simulated:
        return run.seconds
    whole = [f"{CPU_TIME}:{what}:ns" for what in ("user", "idle", *ENTRIES)]
    if not all(name in run.counters for name in whole):
        return 0.0
    return sum(run.counters[name] for name in whole) / 1e9 / report.store.machine.nr_cpus


def _amounts(means: Sequence[float], unit: str) -> list[str]:
    """Write two amounts in one unit."""
    if unit not in _TIMES:
        first, second = map(_figure, means)
        return [first, second if unit == "events" else f"{second} {unit}"]
    ns = [mean * _TIMES[unit] for mean in means]
    scale, name = next(
        (s, n) for s, n in ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (0, "ns")) if max(ns) >= s
    )
    return [_figure(ns[0] / (scale or 1)), f"{_figure(ns[1] / (scale or 1))} {name}"]


def _figure(value: float) -> str:
    """Return a figure to three digits; more only before the point."""
    if value >= 100:
        return f"{value:,.0f}"
    return "<0.01" if 0 < value < 0.005 else f"{value:.3g}"
