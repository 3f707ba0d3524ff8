"""What the lab knows of published benchmarks: which of its own they are like."""

import re

from schedlab.benchmarks.benchmark import REGISTRY
from schedlab.benchmarks.metric import Metric

_ALIKE = {
    "hackbench": "HackbenchPipeThreads",
    "schbench": "SchbenchOld",
    "tbench": "Tbench",
    "stream": "Stream",
    "netperf": "Netperf",
    "unixbench": "UnixbenchSyscall",
    "ycsb": "YcsbMongodb",
    "deathstarbench": "DeathStarBench",
    "specjbb2015": "Specjbb2015MultiJvm",
}
"""Beginnings of published names, and the lab's benchmark whose metrics they share."""


def known_metric(benchmark: str, name: str) -> Metric | None:
    """Return the metric of a published benchmark, by its printed name if there are several."""
    folded = _folded(benchmark)
    by_name = {_folded(own): own for own in REGISTRY}
    own = by_name.get(folded) or next((_ALIKE[k] for k in _ALIKE if folded.startswith(k)), None)
    if own is None:
        return None
    metrics = REGISTRY[own].metrics
    if not name:
        return metrics[0]
    named = (m for m in metrics if _folded(name) in (_folded(m.name), _folded(m.label)))
    return next(named, None)


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
