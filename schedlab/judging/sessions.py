"""Two results beside each other: two machines, or one at two dates.

What was measured in one session has in common what another session's runs have not: the boot, the
temperature, the versions of everything. So a difference between sessions never says why; the only
claims of a variant are those inside a session, and they can be compared.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from schedlab.base.errors import UsageError
from schedlab.benchmarks.metric import Metric
from schedlab.judging.analysis import Outcome, RunTable, analyse, counted_runs, flagged, too_short
from schedlab.judging.stats import judge
from schedlab.judging.verdict import Comparison, Verdict
from schedlab.result.record import RunRecord
from schedlab.result.store import CaseInfo, Store


@dataclass(frozen=True)
class Effects:
    """What a variant did in each session, and whether that differs."""

    label: str
    metric: Metric
    variant: str
    first: Verdict
    second: Verdict
    between: Verdict | None
    """Of the ratios to the baseline, block by block; None where the runs make no pairs."""


@dataclass(frozen=True)
class Levels:
    """What one variant gave in both sessions."""

    label: str
    metric: Metric
    variant: str
    between: Verdict


@dataclass(frozen=True)
class Sessions:
    """Everything there is to say of two results."""

    effects: list[Effects]
    levels: list[Levels]
    unlike: list[str]
    """Why a benchmark that both have is not compared, or only its effects are."""
    missing: tuple[list[str], list[str]]
    """Results that only the first has, and only the second."""
    platform: list[tuple[str, str, str]]
    """Rows of the platform tables that differ."""


def compare(first: Store, second: Store) -> Sessions:
    """Put two results side by side, judged by the rules of the first.

    Raises:
        UsageError: they have no result in common.
    """
    ours, theirs = (_by_name(analyse(store).outcomes) for store in (first, second))
    unlike = _unlike(first, second)
    common = [key for key in ours if key in theirs and ours[key].metric == theirs[key].metric]
    if not common:
        raise UsageError(
            f"{first.folder} and {second.folder} have no benchmark, metric and variant in common."
        )
    same_size = [key for key in common if key[0] not in unlike]
    tables = counted_runs(first), counted_runs(second)
    return Sessions(
        effects=_effects((first, second), tables, [(ours[key], theirs[key]) for key in common]),
        levels=_levels((first, second), tables, [ours[key] for key in same_size]),
        unlike=list(unlike.values()),
        missing=(_missing(ours, theirs), _missing(theirs, ours)),
        platform=_platform(first, second),
    )


_Name = tuple[str, str, str]


def _by_name(outcomes: Sequence[Outcome]) -> dict[_Name, Outcome]:
    return {(o.case.label, o.metric.name, o.variant): o for o in outcomes}


def _missing(ours: Mapping[_Name, Outcome], theirs: Mapping[_Name, Outcome]) -> list[str]:
    return list(dict.fromkeys(" ".join(key) for key in ours if key not in theirs))


def _unlike(first: Store, second: Store) -> dict[str, str]:
    """Return which cases of one name were not of one size."""
    others = {case.label: case for case in second.cases}
    return {
        case.label: f"{case.label} is of another size: {_size(case)} in the first result,"
        f" {_size(other)} in the second; only its effects are compared"
        for case in first.cases
        if (other := others.get(case.label))
        and (case.benchmark, case.params) != (other.benchmark, other.params)
    }


def _size(case: CaseInfo) -> str:
    return " ".join([case.benchmark, *(f"{k}={v}" for k, v in case.params.items())])


def _effects(
    stores: tuple[Store, Store],
    tables: tuple[RunTable, RunTable],
    pairs: Sequence[tuple[Outcome, Outcome]],
) -> list[Effects]:
    """Compare what each variant did against the baseline of its own session."""
    in_pairs = all(store.plan.judging.paired for store in stores)
    verdicts: list[Verdict | None] = [None] * len(pairs)
    if in_pairs:
        verdicts = [
            *judge(
                [
                    Comparison(
                        key=(ours.case.label, ours.metric.name, ours.variant),
                        base=_ratios(stores[0], tables[0], ours),
                        other=_ratios(stores[1], tables[1], theirs),
                        better=ours.metric.better,
                        paired=False,
                        flagged=flagged(
                            *_samples(stores[0], tables[0], ours),
                            *_samples(stores[1], tables[1], theirs),
                        ),
                        withheld=too_short(
                            *_samples(stores[0], tables[0], ours),
                            *_samples(stores[1], tables[1], theirs),
                        ),
                    )
                    for ours, theirs in pairs
                ],
                stores[0].plan.design(),
            )
        ]
    return [
        Effects(ours.case.label, ours.metric, ours.variant, ours.verdict, theirs.verdict, between)
        for (ours, theirs), between in zip(pairs, verdicts, strict=True)
    ]


def _levels(
    stores: tuple[Store, Store], tables: tuple[RunTable, RunTable], outcomes: Sequence[Outcome]
) -> list[Levels]:
    """Compare what the same variant gave in both sessions, the baselines too."""
    baselines = [store.plan.baseline.name for store in stores]
    asked: dict[_Name, tuple[CaseInfo, Metric]] = {}
    for outcome in outcomes:
        for variant in (baselines[0], outcome.variant):
            if variant != baselines[0] or baselines[0] == baselines[1]:
                asked[outcome.case.label, outcome.metric.name, variant] = (
                    outcome.case,
                    outcome.metric,
                )
    comparisons = [
        Comparison(
            key=key,
            base=_figures(tables[0], key),
            other=_figures(tables[1], key),
            better=metric.better,
            paired=False,
            flagged=flagged(*(table.measured(key[0], key[2]) for table in tables)),
            withheld=too_short(*(table.measured(key[0], key[2]) for table in tables)),
        )
        for key, (_, metric) in asked.items()
    ]
    verdicts = judge(comparisons, stores[0].plan.design())
    return [
        Levels(case.label, metric, key[2], verdict)
        for (key, (case, metric)), verdict in zip(asked.items(), verdicts, strict=True)
    ]


def _figures(table: RunTable, key: _Name) -> list[float]:
    case, metric, variant = key
    runs = table.measured(case, variant).values()
    return [run.metrics[metric] for run in runs if metric in run.metrics]


def _ratios(store: Store, table: RunTable, outcome: Outcome) -> list[float]:
    """Return the ratio of the variant to the baseline in each block."""
    name = outcome.metric.name
    base, other = _samples(store, table, outcome)
    return [
        run.metrics[name] / base[block].metrics[name]
        for block, run in other.items()
        if name in run.metrics and block in base and name in base[block].metrics
    ]


def _samples(store: Store, table: RunTable, outcome: Outcome) -> Sequence[dict[int, RunRecord]]:
    """Return the runs of the baseline and of the variant, by block."""
    variants = (store.plan.baseline.name, outcome.variant)
    return [table.measured(outcome.case.label, variant) for variant in variants]


def _platform(first: Store, second: Store) -> list[tuple[str, str, str]]:
    rows = dict.fromkeys([*first.environment, *second.environment])
    values = (
        (row, first.environment.get(row, "-"), second.environment.get(row, "-")) for row in rows
    )
    return [row for row in values if row[1] != row[2]]
