"""Trends over a sweep: found where the points line up, at the rate of errors that is promised."""

import random

import pytest
from scipy import stats as scipy_stats

from schedlab.benchmarks.metric import Metric
from schedlab.judging.stats import judge
from schedlab.judging.trend import Trend, enough_points, find_trends
from schedlab.judging.verdict import Comparison, Verdict
from schedlab.plan.design import Design
from schedlab.result.store import CaseInfo

TIME = Metric("time", unit="s", better="lower", label="Time (sec)")


def trends_of(*sweeps: list[float]) -> list[Trend]:
    """Return the trends of sweeps with these factors on the time at each point."""
    cases = [
        CaseInfo(f"{s}-{n}", f"bench{s}", "", "", {"groups": n}, (TIME,))
        for s, factors in enumerate(sweeps)
        for n in range(len(factors))
    ]
    factors = [factor for sweep in sweeps for factor in sweep]
    comparisons = [
        Comparison((case.label, "time", "B"), [1.0], [factor], "lower", paired=False)
        for case, factor in zip(cases, factors, strict=True)
    ]
    verdicts: dict[tuple[str, str, str], Verdict] = {
        (c.label, "time", "B"): v for c, v in zip(cases, judge(comparisons, Design()), strict=True)
    }
    return find_trends(cases, verdicts, Design())


def test_a_sweep_that_gets_worse_point_by_point() -> None:
    (trend,) = trends_of([0.9, 0.95, 1.0, 1.1, 1.3])
    assert trend.direction == "falls", "positive is better, and the time grows"
    assert trend.tau == pytest.approx(-1)
    assert trend.p == pytest.approx(2 / 120)


def test_p_is_that_of_scipy_where_all_points_differ() -> None:
    factors = [1.02, 0.99, 1.0, 0.96, 0.97, 0.93]
    (trend,) = trends_of(factors)
    reference = scipy_stats.kendalltau(range(6), [-factor for factor in factors], method="exact")
    assert trend.tau == pytest.approx(reference.statistic)
    assert trend.p == pytest.approx(reference.pvalue)


def test_too_few_points_and_no_change_at_all() -> None:
    assert trends_of([0.7, 0.8, 0.9, 1.0]) == []
    assert not enough_points(4, 0.05)
    (flat,) = trends_of([1.0] * 6)
    assert (flat.direction, flat.p) == ("can't tell", 1.0)


def test_false_alarms_over_many_reports() -> None:
    rng = random.Random(1)
    alarms = 0
    for _ in range(150):
        found = trends_of(*([rng.lognormvariate(0, 0.05) for _ in range(6)] for _ in range(3)))
        alarms += any(trend.direction != "can't tell" for trend in found)
    assert alarms / 150 <= 0.05 + 3 * (0.05 * 0.95 / 150) ** 0.5
