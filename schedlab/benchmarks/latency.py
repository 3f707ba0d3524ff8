"""Latencies of requests as metrics, and percentiles from single figures or a histogram."""

import math
from collections.abc import Iterable, Mapping

from schedlab.base.errors import IncompleteRun
from schedlab.benchmarks.metric import Metric

LATENCY_P50 = Metric("latency_p50", unit="us", better="lower", label="Latency 50% (us)")
LATENCY_P99 = Metric("latency_p99", unit="us", better="lower", label="Latency 99% (us)")

PERCENTILES = {LATENCY_P50: "latency p50", LATENCY_P99: "latency p99"}
"""By metric, the name of a workload's result."""


def percentile(counts: Mapping[float, int], percent: float) -> float:
    """Return the smallest latency that so many percent do not exceed.

    Raises:
        IncompleteRun: no latency was counted.
    """
    left = math.ceil(sum(counts.values()) * percent / 100)
    for latency in sorted(counts):
        left -= counts[latency]
        if left <= 0 < counts[latency]:
            return latency
    raise IncompleteRun("the output has no latencies")


def percentiles(counts: Mapping[float, int]) -> dict[Metric, float]:
    """Return the percentiles that are metrics, of latencies in microseconds; as `percentile`."""
    return {LATENCY_P50: percentile(counts, 50), LATENCY_P99: percentile(counts, 99)}


def counted(latencies: Iterable[float]) -> dict[float, int]:
    """Return how often each latency is there."""
    counts: dict[float, int] = {}
    for latency in latencies:
        counts[latency] = counts.get(latency, 0) + 1
    return counts
