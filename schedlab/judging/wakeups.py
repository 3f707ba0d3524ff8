"""Verdicts on percentiles of the tasks' wakeup latency: from being woken to running.

They are metrics beside a benchmark's own: a family of their own in the correction, and no
benchmark goes on for their sake (docs/internals/statistics.md).
"""

from collections.abc import Mapping, Sequence

from schedlab.benchmarks.metric import Metric
from schedlab.counters.wakeups import PERCENTS, percentile_counter
from schedlab.judging.analysis import Outcome, RunTable, too_short
from schedlab.judging.stats import judge
from schedlab.judging.verdict import Comparison
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
        before = table.measured(case.label, plan.baseline.name)
        for variant in plan.variant[1:]:
            after = table.measured(case.label, variant.name)
            for percent, metric in WAKEUPS.items():
                base, other = _counted(before, percent), _counted(after, percent)
                if not base or not other:
                    continue
                asked.append((case, metric, variant.name))
                comparisons.append(
                    Comparison(
                        key=(case.label, metric.name, variant.name),
                        base=base,
                        other=other,
                        better=metric.better,
                        paired=plan.judging.paired,
                        unit=plan.judging.unit,
                        blocks_done=table.blocks_done(case.label),
                        withheld=too_short(before, after),
                    )
                )
    verdicts = judge(comparisons, design)
    return [Outcome(*what, verdict) for what, verdict in zip(asked, verdicts, strict=True)]


def _counted(runs: Mapping[int, RunRecord], percent: float) -> dict[int, float]:
    """Return a percentile in us of each run that has it."""
    counter = percentile_counter(percent)
    found = {block: run.counters.get(counter, 0.0) for block, run in runs.items()}
    return {block: ns / 1e3 for block, ns in found.items() if ns > 0}
