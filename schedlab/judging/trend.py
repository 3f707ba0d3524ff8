"""Trends: whether the change rises or falls along an axis, judged over all points of a sweep.

Single points may be too noisy, or published without any spread, and still line up: that is
evidence of its own. The test is Mann and Kendall's, its p by permutation of the points.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import factorial
from typing import Any, Literal

import numpy as np
import scipy
from numpy.typing import NDArray

from schedlab.benchmarks.metric import Metric
from schedlab.judging.axis import Axis, find_axes
from schedlab.judging.stats import adjusted
from schedlab.judging.verdict import Verdict
from schedlab.plan.design import Design
from schedlab.result.store import CaseInfo

Direction = Literal["rises", "falls", "can't tell"]

_RESAMPLES = 9999
"""Up to 7 points this is every order there is."""


@dataclass(frozen=True)
class Trend:
    """How the change of a metric in a variant goes along an axis."""

    axis: Axis
    metric: Metric
    variant: str
    effects: tuple[float, ...]
    """The change at each point, positive = better."""
    direction: Direction
    tau: float
    """Kendall's rank correlation: 1 if every point is above the one before, -1 if below."""
    p: float
    p_adjusted: float


def find_trends(
    cases: Sequence[CaseInfo], verdicts: dict[tuple[str, str, str], Verdict], design: Design
) -> list[Trend]:
    """Test every axis that has points enough; verdicts are by case, metric and variant."""
    found = []
    variants = dict.fromkeys(variant for _, _, variant in verdicts)
    for axis in find_axes(cases):
        for metric in axis.cases[0].metrics:
            for variant in variants:
                effects = [
                    verdict.effect_better
                    for case in axis.cases
                    if (verdict := verdicts.get((case.label, metric.name, variant)))
                ]
                known = tuple(effect for effect in effects if effect is not None)
                if len(known) == len(axis.cases) and enough_points(len(known), design.alpha):
                    found.append((axis, metric, variant, known, *_mann_kendall(known)))
    corrected = adjusted([p for *_, p in found], design)
    return [
        Trend(
            axis,
            metric,
            variant,
            effects,
            _direction(tau, corrected_p, design),
            tau,
            p,
            corrected_p,
        )
        for (axis, metric, variant, effects, tau, p), corrected_p in zip(
            found, corrected, strict=True
        )
    ]


def enough_points(points: int, alpha: float) -> bool:
    """Return whether so many points could show a trend at all."""
    return 2 / factorial(points) <= alpha


def _direction(tau: float, p: float, design: Design) -> Direction:
    if p > design.alpha:
        return "can't tell"
    return "rises" if tau > 0 else "falls"


def _mann_kendall(effects: Sequence[float]) -> tuple[float, float]:
    """Return Kendall's tau of the effects with their order, and the p of both directions."""
    values = np.asarray(effects)
    tau = float(scipy.stats.kendalltau(np.arange(len(values)), values).statistic)
    test = scipy.stats.permutation_test(
        (values,),
        _rises_less_falls,
        permutation_type="pairings",
        vectorized=True,
        n_resamples=_RESAMPLES,
        alternative="two-sided",
        random_state=0,
    )
    return (tau if np.isfinite(tau) else 0.0), float(test.pvalue)


def _rises_less_falls(values: NDArray[np.float64], axis: int) -> Any:
    """Count the pairs of points in which the later is above, less those in which it is below."""
    points = np.moveaxis(values, axis, -1)
    later, earlier = np.tril_indices(points.shape[-1], -1)
    return np.sign(points[..., later] - points[..., earlier]).sum(axis=-1)
