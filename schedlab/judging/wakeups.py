"""Verdicts on percentiles of the tasks' wakeup latency: from being woken to running.

They are metrics beside a benchmark's own: a family of their own in the correction, and no
benchmark goes on for their sake (docs/internals/statistics.md).
"""

from collections.abc import Callable, Sequence

from schedlab.benchmarks.metric import Metric
from schedlab.counters.wakeups import PERCENTS, percentile_counter
from schedlab.judging.analysis import Outcome, RunTable
from schedlab.judging.stats import judge
from schedlab.plan.design import Design
from schedlab.plan.plan import Plan
from schedlab.result.record import RunRecord
from schedlab.result.store import CaseInfo

NAME = "wakeup_latency"

WAKEUPS = {
    percent: Metric(
        f"{NAME}_p{percent:g}".replace(".", "_"),
        unit="us",
        better="lower",
        label=f"Wakeup latency, p{percent:g} (us)",
    )
    for percent in PERCENTS
}


def judge_wakeups(
    plan: Plan, design: Design, cases: Sequence[CaseInfo], table: RunTable
) -> list[Outcome]:
    """Judge the percentiles of every benchmark that were counted in both, for each variant."""
    asked = []
    comparisons = []
    for case in cases:
        for variant in plan.variant[1:]:
            for percent, metric in WAKEUPS.items():
                comparison = table.comparison(
                    (case.label, metric.name, variant.name),
                    _reads(percent),
                    metric.better,
                    beside=True,
                )
                if comparison.base and comparison.other:
                    asked.append((case, metric, variant.name))
                    comparisons.append(comparison)
    verdicts = judge(comparisons, design)
    return [Outcome(*what, verdict) for what, verdict in zip(asked, verdicts, strict=True)]


def _reads(percent: float) -> Callable[[RunRecord], float | None]:
    """Return what reads a percentile in us of a run."""
    counter = percentile_counter(percent)
    return lambda run: ns / 1e3 if (ns := run.counters.get(counter, 0.0)) > 0 else None
