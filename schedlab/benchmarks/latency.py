"""Latencies of requests as metrics, and percentiles from single figures or a histogram."""

import math
from collections.abc import Iterable, Mapping
from pathlib import Path

from schedlab.base.errors import IncompleteRun, writing
from schedlab.benchmarks.metric import Metric

LATENCY_P50 = Metric("latency_p50", unit="us", better="lower", label="Latency 50% (us)")
LATENCY_P99 = Metric("latency_p99", unit="us", better="lower", label="Latency 99% (us)")

HISTOGRAM = "latencies.csv"
"""The file of a run in which latencies are counted that the program logs one by one."""

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


def keep_histogram(file: Path, counts: Mapping[float, int]) -> None:
    """Write how often each latency is there; IncompleteRun if that cannot be written."""
    rows = (f"{latency:.15g},{counts[latency]}\n" for latency in sorted(counts))
    with writing(file, IncompleteRun):
        file.write_text("microseconds,count\n" + "".join(rows))
