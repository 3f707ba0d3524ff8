"""From recorded runs to verdicts: pairs runs by block, judges metrics and counters apart."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

from schedlab.benchmarks.metric import Better, Metric
from schedlab.benchmarks.replay import REPLAY_TIME, SMALL, doubts
from schedlab.counters.times import MEASURED, is_time
from schedlab.counters.wakeups import is_percentile
from schedlab.judging.readers import what_was_missing
from schedlab.judging.stats import finished, judge
from schedlab.judging.trend import Trend, find_trends
from schedlab.judging.two_states import two_states
from schedlab.judging.verdict import Comparison, Verdict, without_effect
from schedlab.plan.design import Design
from schedlab.plan.plan import Plan
from schedlab.result.boots import by_boot, share_boots
from schedlab.result.printed import Printed
from schedlab.result.record import RunRecord
from schedlab.result.store import CaseInfo, Store
from schedlab.settings.variant import Variant


@dataclass(frozen=True)
class Outcome:
    """What a metric of a benchmark did in a variant, against the baseline."""

    case: CaseInfo
    metric: Metric
    variant: str
    verdict: Verdict


@dataclass(frozen=True)
class CounterOutcome:
    """What a counter did in a variant while a benchmark ran, against the baseline."""

    case: CaseInfo
    counter: str
    variant: str
    verdict: Verdict


@dataclass(frozen=True)
class Analysis:
    """Everything judged of one result."""

    outcomes: list[Outcome]
    counters: list[CounterOutcome]
    trends: list[Trend]


class RunTable:
    """Recorded runs by benchmark, variant and block."""

    def __init__(
        self,
        plan: Plan,
        records: Sequence[RunRecord],
        environment: Mapping[str, str],
        warmup: bool = False,
    ) -> None:
        """Sort the runs that count, those that did not fail: of warm-up blocks, or of all others.

        The first warm-up block counts as block 0. `environment` is what they were made on.
        """
        self.environment = environment
        self.baseline = plan.baseline.name
        self._judging = plan.judging
        self._variants = [variant.name for variant in plan.variant]
        self._measured: dict[tuple[str, str], dict[int, RunRecord]] = {}
        self._attempted: dict[str, set[tuple[int, str]]] = {}
        self._errors: dict[tuple[str, str], list[str]] = {}
        for record in records:
            key = record.key
            if key.warmup != warmup:
                continue
            block = -1 - key.block if warmup else key.block
            self._attempted.setdefault(key.case, set()).add((block, key.variant))
            if record.status == "ok":
                self._measured.setdefault((key.case, key.variant), {})[block] = record
            else:
                self._errors.setdefault((key.case, key.variant), []).append(record.error)

    def measured(self, case: str, variant: str) -> dict[int, RunRecord]:
        """Return the good runs of a benchmark in a variant, by block."""
        return self._measured.get((case, variant), {})

    def all_failed(self, case: str, *variants: str) -> str:
        """Return why, if every run of a benchmark failed in one of these variants; else nothing."""
        failed = {
            variant: self._errors[case, variant][0]
            for variant in variants
            if (case, variant) in self._errors and not self.measured(case, variant)
        }
        if not failed:
            return ""
        which = (
            "every run" if len(failed) == len(variants) else f"every run of {next(iter(failed))}"
        )
        return f"{which} failed: {next(iter(failed.values()))}"

    def blocks_done(self, case: str) -> int:
        """Count the blocks, from the first, in which every variant was run.

        A variant of which every run failed may have been left out of later ones.
        """
        attempted = self._attempted.get(case, set())
        variants = [name for name in self._variants if self.measured(case, name)]
        done = 0
        while all((done, variant) in attempted for variant in variants or self._variants):
            done += 1
        return done

    def comparison(
        self,
        key: tuple[str, str, str],
        value: Callable[[RunRecord], float | None],
        better: Better | None = None,
        *,
        baseline: str = "",
        counts: bool = False,
        beside: bool = False,
    ) -> Comparison:
        """Return what is judged of a benchmark, a metric or counter, and a variant.

        `value` reads a run's figure, None where it has none. What is counted `beside` the
        benchmark's own metrics is not capped with them.
        """
        case, _, variant = key
        baseline = baseline or self.baseline
        base, other = self.measured(case, baseline), self.measured(case, variant)
        return Comparison(
            key=key,
            base=_figures(base, value),
            other=_figures(other, value),
            better=better,
            paired=self._judging.paired,
            unit=self._judging.unit,
            blocks_done=self.blocks_done(case),
            counts=counts,
            flagged=not beside and flagged(base, other),
            withheld=(not beside and self.all_failed(case, baseline, variant))
            or too_short(base, other),
        )


def analyse(store: Store) -> Analysis:
    """Judge everything in a store."""
    of_boots = store.plan.judging.unit == "boot"
    table = counted_runs(store)
    judged = judge_metrics(store.plan, store.design, store.cases, table)
    beside = {(each.case, each.metric, each.variant): each for each in store.printed}
    outcomes = [
        _as_published(o, beside.get((o.case.label, o.metric.name, o.variant))) for o in judged
    ]
    outcomes = [_of_replay(outcome) for outcome in outcomes]
    if of_boots:
        outcomes = [_confounded(store, outcome) for outcome in outcomes]
    verdicts = {(o.case.label, o.metric.name, o.variant): o.verdict for o in outcomes}
    return Analysis(
        outcomes,
        _judge_counters(store.plan, store.design, store.cases, table),
        # The points of a sweep share their boots, and a trend takes them as independent.
        [] if of_boots else find_trends(store.cases, verdicts, store.design),
    )


def counted_runs(store: Store) -> RunTable:
    """Return what the evidence of a store consists of: its runs, or a value of each boot."""
    records = store.records()
    if store.plan.judging.unit == "boot":
        records = by_boot(records, store.boots, [variant.name for variant in store.plan.variant])
    return RunTable(store.plan, records, store.environment)


def timed_runs(store: Store) -> RunTable:
    """Return the runs whose tasks' time was counted: on a host in warm-up blocks, else in all.

    What a host records costs time of the run, so it is kept out of the runs that are judged.
    """
    records = store.records()
    if any(MEASURED in record.counters for record in records if not record.key.warmup):
        return counted_runs(store)
    return RunTable(store.plan, records, store.environment, warmup=True)


def _confounded(store: Store, outcome: Outcome) -> Outcome:
    """Note, for variants with one boot each, that the boot may be all they differ in."""
    verdict, baseline = outcome.verdict, store.plan.baseline.name
    apart = not share_boots(store.records(), store.boots, baseline, outcome.variant)
    if verdict.n != (1, 1) or not apart:
        return outcome
    note = f"confounded: {baseline} and {outcome.variant} had one boot each, not the same"
    return replace(outcome, verdict=replace(verdict, notes=(note,)))


def _as_published(outcome: Outcome, beside: Printed | None) -> Outcome:
    """Explain why a published mean, which is not a run, cannot be judged."""
    if not beside:
        return outcome
    verdict = outcome.verdict
    described = replace(
        verdict,
        notes=(beside.why_no_verdict(),),
        base_sd=_times(beside.base_spread, verdict.base_mean),
        other_sd=_times(beside.other_spread, verdict.other_mean),
        screening=False,
    )
    return replace(outcome, verdict=described)


def _of_replay(outcome: Outcome) -> Outcome:
    """Note whether a replay's time is the clock's, and replays of its kind predict changes."""
    verdict = outcome.verdict
    if not outcome.case.replays or verdict.effect is None:
        return outcome
    if outcome.metric.name == REPLAY_TIME:
        clock = outcome.case.recording.about_time(verdict.base_mean)
        outcome = _noted(outcome, clock) if clock else outcome
    if verdict.word == "no effect":
        return outcome
    if abs(verdict.effect) < SMALL:
        outcome = _noted(outcome, f"replays do not tell effects below {100 * SMALL:g} %")
    doubt = doubts(outcome.case.replays)
    return _noted(outcome, doubt) if doubt else outcome


def _times(spread: float | None, mean: float | None) -> float | None:
    return None if spread is None or mean is None else spread * mean


def judge_metrics(
    plan: Plan, design: Design, cases: Sequence[CaseInfo], table: RunTable
) -> list[Outcome]:
    """Judge every metric of every benchmark, each variant against the baseline."""
    pairs = [(plan.baseline, variant) for variant in plan.variant[1:]]
    return _judge_pairs(plan, design, cases, table, pairs)


def judge_steps(store: Store) -> list[Outcome]:
    """Judge every metric of every benchmark, each variant against the one before it."""
    pairs = list(pairwise(store.plan.variant))
    return _judge_pairs(store.plan, store.design, store.cases, counted_runs(store), pairs)


def _judge_pairs(
    plan: Plan,
    design: Design,
    cases: Sequence[CaseInfo],
    table: RunTable,
    pairs: Sequence[tuple[Variant, Variant]],
) -> list[Outcome]:
    asked = [(case, metric, pair) for case in cases for metric in case.metrics for pair in pairs]
    comparisons = [
        table.comparison(
            (case.label, metric.name, after.name),
            _reads_metric(metric.name),
            metric.better,
            baseline=before.name,
        )
        for case, metric, (before, after) in asked
    ]
    judged = []
    verdicts = judge(comparisons, design)
    for (case, metric, pair), of, verdict in zip(asked, comparisons, verdicts, strict=True):
        outcome = _with_states(Outcome(case, metric, pair[1].name, verdict), of, pair)
        if plan.simulated:
            outcome = _with_equal_runs(table, pair, outcome, plan.aa)
        judged.append(_too_small(outcome) if case.replays else outcome)
    return judged


def _too_small(outcome: Outcome) -> Outcome:
    """Take back the claim that a replay is better or worse by less than replays tell.

    More blocks would not settle it: what a replay is off by stays the same in all of them.
    """
    verdict = outcome.verdict
    known = verdict.interval_adjusted or verdict.interval
    if verdict.word not in ("better", "worse") or known is None:
        return outcome
    if max(-known.low, known.high) >= SMALL:
        return outcome
    undecided = replace(verdict, word="can't tell", settled=False, futile=True, blocks_needed=None)
    return replace(outcome, verdict=undecided)


def _with_states(outcome: Outcome, of: Comparison, pair: tuple[Variant, Variant]) -> Outcome:
    """Note which of two variants' runs fall into two groups."""
    for variant, figures in zip(pair, (of.base, of.other), strict=True):
        values = figures.values() if isinstance(figures, Mapping) else figures
        if found := two_states([*values]):
            outcome = _noted(outcome, found.note(variant.name))
    return outcome


def _with_equal_runs(
    table: RunTable, pair: tuple[Variant, Variant], outcome: Outcome, aa: bool
) -> Outcome:
    """Mark simulated runs that were identical, run for run, as "no effect in this run"."""
    base, other = (table.measured(outcome.case.label, variant.name) for variant in pair)
    blocks = base.keys() & other.keys()
    equal = sum(_equal(base[block], other[block]) for block in blocks)
    verdict = outcome.verdict
    if not equal:
        return outcome
    if equal == len(blocks):
        missing = "" if aa else what_was_missing(*pair, table.environment)
        all_of_them = f"all {equal} blocks" if equal > 1 else "the only block"
        why = f"the scheduler took the same decisions in {all_of_them}"
        why += f": {missing}" if missing else ""
        return replace(outcome, verdict=without_effect(verdict, why))
    some = f"the scheduler took the same decisions in {equal} of {len(blocks)} blocks"
    return _noted(outcome, some)


def _noted(outcome: Outcome, note: str) -> Outcome:
    verdict = outcome.verdict
    return replace(outcome, verdict=replace(verdict, notes=(*verdict.notes, note)))


def _equal(one: RunRecord, other: RunRecord) -> bool:
    """Return whether two runs were the same, by all that is recorded of them."""
    if one.trace and other.trace:
        return one.trace == other.trace
    return (one.metrics, one.counters) == (other.metrics, other.counters)


def flagged(*samples: Mapping[int, RunRecord]) -> bool:
    """Return whether a run has a caveat, such as a cap: then nothing is certified equivalent."""
    runs = (run for sample in samples for run in sample.values())
    return any(len(run.caveats) > bool(run.too_short) + bool(run.brief) for run in runs)


def too_short(*samples: Mapping[int, RunRecord]) -> str:
    """Return why runs are not judged whose slow state had not settled; empty if it had."""
    runs = [run for sample in samples for run in sample.values()]
    short = [run.too_short for run in runs if run.too_short]
    if not short:
        return ""
    which = f"{len(short)} of {len(runs)} runs"
    return f"{which} too short for the scheduler's state to settle: {short[0]}"


def settled_cases(design: Design, outcomes: Sequence[Outcome]) -> set[str]:
    """Return the benchmarks that need no more blocks: all their metrics are finished."""
    open_cases = {
        outcome.case.label for outcome in outcomes if not finished(outcome.verdict, design)
    }
    return {outcome.case.label for outcome in outcomes} - open_cases


def _judge_counters(
    plan: Plan, design: Design, cases: Sequence[CaseInfo], table: RunTable
) -> list[CounterOutcome]:
    asked = []
    for case in cases:
        base = table.measured(case.label, plan.baseline.name)
        for variant in plan.variant[1:]:
            runs = [*base.values(), *table.measured(case.label, variant.name).values()]
            names = dict.fromkeys(name for run in runs for name in run.counters)
            asked += [
                (case, counter, variant.name)
                for counter in names
                if not (is_time(counter) or is_percentile(counter))
            ]
    comparisons = [
        table.comparison(
            (case.label, counter, variant), _reads_counter(counter), counts=True, beside=True
        )
        for case, counter, variant in asked
    ]
    verdicts = judge(comparisons, design)
    return [CounterOutcome(*what, verdict) for what, verdict in zip(asked, verdicts, strict=True)]


def _reads_metric(name: str) -> Callable[[RunRecord], float | None]:
    return lambda run: run.metrics.get(name)


def _reads_counter(name: str) -> Callable[[RunRecord], float | None]:
    return lambda run: max(run.counters[name], 0.0) if name in run.counters else None


def _figures(
    runs: Mapping[int, RunRecord], value: Callable[[RunRecord], float | None]
) -> dict[int, float]:
    found = ((block, value(run)) for block, run in runs.items())
    return {block: figure for block, figure in found if figure is not None}
