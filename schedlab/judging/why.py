"""Why a result changed: where the tasks' time went, per operation, a variant against the baseline.

In every block the time of all tasks per operation is the sum of its parts. A part's contribution is
what it changed by, as a share of the baseline's whole, in the mean of the blocks: contributions add
up to the change of the whole. Each is judged as a metric is, on (whole + what the part changed by)
/ whole (docs/internals/statistics.md).
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum
from itertools import chain, pairwise
from statistics import fmean

from schedlab.benchmarks.metric import RUN_TIME, Metric, is_run_time
from schedlab.counters.times import GONE, MEASURED, time_counter, times
from schedlab.judging.analysis import RunTable, counted_runs, timed_runs, too_short
from schedlab.judging.meanings import meaning_of
from schedlab.judging.stats import judge_families
from schedlab.judging.verdict import Comparison, Verdict
from schedlab.plan.design import Design
from schedlab.plan.plan import Plan
from schedlab.result.record import RunRecord
from schedlab.result.store import CaseInfo, Store

ASLEEP = "asleep_"
"""How the states begin in which a task waits for another one or for a time."""
_NOT_PART_OF_IT = f"{ASLEEP}process"
"""A task that only waits for the tasks it started does none of the work."""

_MOST_GONE = 0.5
"""If more of all tasks' time is before they start or after they end, it says nothing: they come and
go all the time, and that they do is the work."""


class Per(Enum):
    """What the tasks' time is divided by."""

    OPERATION = "operation"
    RUN = "run"
    """Of a benchmark that has no rate: its runs do the same work, or last as long."""


@dataclass(frozen=True)
class Part:
    """One state: its ns per operation in both, and what it contributes to the change."""

    state: str
    base: float
    other: float
    contribution: float
    """Its change as a share of the baseline's whole, in the mean of the blocks."""
    verdict: Verdict
    """Whose intervals are of the contribution."""

    @property
    def words(self) -> str:
        """What the tasks did in this state."""
        return meaning_of(time_counter(self.state)).words if self.state else "all"

    @property
    def is_asleep(self) -> bool:
        """Whether a task in it waits for another task or for a time."""
        return self.state.startswith(ASLEEP)

    @property
    def is_gone(self) -> bool:
        """Whether it is the time before a task starts and after it has ended."""
        return self.state == GONE

    @property
    def stands_out(self) -> bool:
        """Whether its interval excludes 0."""
        bounds = self.verdict.interval_adjusted
        return bounds is not None and (bounds.low > 0 or bounds.high < 0)


@dataclass(frozen=True)
class TimeSpent:
    """Where the time of a benchmark's tasks went in a variant, against the baseline."""

    case: CaseInfo
    variant: str
    per: Per
    whole: Part
    parts: tuple[Part, ...]
    """Those with any time, the largest contributions first."""
    roles: dict[str, tuple[Part, ...]] = field(default_factory=dict)
    """The same of each role, as shares of all roles' time; empty where there is one role."""


def explain(
    plan: Plan, design: Design, cases: Sequence[CaseInfo], table: RunTable
) -> list[TimeSpent]:
    """Return where the time went in every benchmark that has it counted, for each variant."""
    if not plan.judging.paired:
        return []
    found = [
        account
        for case in cases
        for variant in plan.variant[1:]
        if (account := _Account.of(plan, case, variant.name, table))
    ]
    # What is read first is judged apart from its details, which would widen its intervals.
    families = [
        list(chain.from_iterable(account.comparisons("") for account in found)),
        list(chain.from_iterable(a.comparisons(role) for a in found for role in a.roles)),
    ]
    judged = judge_families(families, design)
    verdicts = {verdict.key: verdict for family in judged for verdict in family}
    return [account.judged(verdicts) for account in found]


def explain_steps(store: Store) -> list[TimeSpent]:
    """Return where the time went in every benchmark, each variant against the one before it."""
    table = timed_runs(store)
    steps = pairwise(store.plan.variant)
    plans = [store.plan.model_copy(update={"variant": pair}) for pair in steps]
    return [spent for plan in plans for spent in explain(plan, store.design, store.cases, table)]


@dataclass(frozen=True)
class Overhead:
    """What a benchmark's first metric is with its tasks' time recorded, against without."""

    case: CaseInfo
    ratio: float


def overheads(store: Store) -> list[Overhead]:
    """Return what recording cost each benchmark, in the baseline; none where all runs have it."""
    judged, recorded = counted_runs(store), timed_runs(store)
    found = []
    for case in store.cases:
        metric, baseline = case.metrics[0].name, store.plan.baseline.name
        without = judged.measured(case.label, baseline).values()
        having = [r for r in recorded.measured(case.label, baseline).values() if _counted(r)]
        plain = [r.metrics[metric] for r in without if not _counted(r) and metric in r.metrics]
        slow = [r.metrics[metric] for r in having if metric in r.metrics]
        if plain and slow and fmean(plain):
            found.append(Overhead(case, fmean(slow) / fmean(plain)))
    return found


class _Account:
    """The parts of a benchmark's time in two variants, block by block, per operation."""

    def __init__(
        self,
        case: CaseInfo,
        variant: str,
        per: Per,
        base: Mapping[int, Mapping[str, Mapping[str, float]]],
        other: Mapping[int, Mapping[str, Mapping[str, float]]],
        **judged: object,
    ) -> None:
        self.case = case
        self.variant = variant
        self.per = per
        self._base = base
        self._other = other
        self._judged = judged
        runs = [*base.values(), *other.values()]
        names = dict.fromkeys(role for run in runs for role in run if role)
        self.roles = tuple(names) if len(names) > 1 else ()

    @classmethod
    def of(cls, plan: Plan, case: CaseInfo, variant: str, table: RunTable) -> "_Account | None":
        """Return a benchmark's account; None where the time was not counted in both."""
        base = table.measured(case.label, plan.baseline.name)
        other = table.measured(case.label, variant)
        blocks = [b for b in base.keys() & other.keys() if _counted(base[b]) and _counted(other[b])]
        if not blocks:
            return None
        per, metric = _per([*base.values(), *other.values()], case.metrics)
        scaled = plan.simulated and any(is_run_time(each) for each in case.metrics)
        left_out = {_NOT_PART_OF_IT}
        if per is Per.OPERATION or any(
            _comes_and_goes(run) for block in blocks for run in (base[block], other[block])
        ):
            left_out.add(GONE)
        return cls(
            case,
            variant,
            per,
            {block: _per_operation(base[block], metric, scaled, left_out) for block in blocks},
            {block: _per_operation(other[block], metric, scaled, left_out) for block in blocks},
            unit=plan.judging.unit,
            blocks_done=table.blocks_done(case.label),
            withheld=too_short(base, other),
        )

    def _states(self, role: str) -> list[str]:
        runs = [*self._base.values(), *self._other.values()]
        return list(dict.fromkeys(state for run in runs for state in run.get(role, {})))

    def _key(self, role: str, state: str) -> tuple[str, ...]:
        return (self.case.label, self.variant, role, state)

    def comparisons(self, role: str) -> list[Comparison]:
        """Return what is judged: the whole, and the whole as each part alone would change it."""
        changes = {state: self._changes(role, state) for state in self._states(role)}
        if not role:
            changes[""] = {
                block: sum(change[block] for change in changes.values()) for block in self._base
            }
        return [
            Comparison(
                key=self._key(role, state),
                base={block: self._whole(block) for block in self._base},
                # A part that was all there was, and is gone, leaves nothing to take a logarithm of.
                other={
                    block: max(whole + change[block], whole * 1e-9)
                    for block in self._base
                    for whole in [self._whole(block)]
                },
                better=None,
                **self._judged,  # type: ignore[arg-type]
            )
            for state, change in changes.items()
        ]

    def _whole(self, block: int) -> float:
        return sum(self._base[block][""].values())

    def _changes(self, role: str, state: str) -> dict[int, float]:
        return {
            block: self._other[block].get(role, {}).get(state, 0.0)
            - self._base[block].get(role, {}).get(state, 0.0)
            for block in self._base
        }

    def judged(self, verdicts: Mapping[object, Verdict]) -> TimeSpent:
        """Return the account with the verdicts on it."""
        parts = self._parts("", verdicts)
        whole = Part(
            "",
            sum(part.base for part in parts),
            sum(part.other for part in parts),
            sum(part.contribution for part in parts),
            verdicts[self._key("", "")],
        )
        roles = {role: self._parts(role, verdicts) for role in self.roles}
        return TimeSpent(self.case, self.variant, self.per, whole, parts, roles)

    def _parts(self, role: str, verdicts: Mapping[object, Verdict]) -> tuple[Part, ...]:
        parts = [
            Part(
                state,
                self._mean(self._base, role, state),
                self._mean(self._other, role, state),
                self._contribution(role, state),
                verdicts[self._key(role, state)],
            )
            for state in self._states(role)
        ]
        return tuple(sorted(parts, key=lambda part: -abs(part.contribution)))

    def _contribution(self, role: str, state: str) -> float:
        changes = self._changes(role, state)
        return sum(change / self._whole(block) for block, change in changes.items()) / len(changes)

    def _mean(
        self, runs: Mapping[int, Mapping[str, Mapping[str, float]]], role: str, state: str
    ) -> float:
        return sum(run.get(role, {}).get(state, 0.0) for run in runs.values()) / len(runs)


def _counted(run: RunRecord) -> bool:
    spent = times(run.counters).get("", {})
    works = any(ns for state, ns in spent.items() if state not in (_NOT_PART_OF_IT, GONE))
    return run.counters.get(MEASURED, 0.0) > 0 and works


def _per(runs: Sequence[RunRecord], metrics: Sequence[Metric]) -> tuple[Per, str]:
    """Return what the tasks' time is divided by, and the metric that counts it."""
    for metric in metrics:
        is_rate = metric.unit.endswith("/s") or metric.unit == "jOPS"
        least = min(run.metrics.get(metric.name, 0.0) for run in runs)
        if metric.better == "higher" and is_rate and least > 0:
            return Per.OPERATION, metric.name
    return Per.RUN, ""


def _comes_and_goes(run: RunRecord) -> bool:
    spent = times(run.counters)[""]
    return spent.get(GONE, 0.0) > _MOST_GONE * sum(
        ns for state, ns in spent.items() if state != _NOT_PART_OF_IT
    )


def _per_operation(
    run: RunRecord, metric: str, scaled: bool, left_out: Collection[str]
) -> dict[str, dict[str, float]]:
    """Return the parts of a run's time; without a rate, of the whole run.

    A simulated run's window may hold more than the run's work, and its time is scaled then.
    """
    seconds = run.counters[MEASURED] / 1e9
    operations = 1.0
    if metric:
        operations = run.metrics.get(metric, 1.0) * seconds
    elif scaled:
        operations = seconds / run.metrics[RUN_TIME]
    return {
        role: {state: ns / operations for state, ns in of.items() if state not in left_out}
        for role, of in times(run.counters).items()
    }
