"""What the lab knows of published benchmarks: which of its own they are like."""

import re

from schedlab.benchmarks import all_benchmarks
from schedlab.benchmarks.energy import ENERGIES
from schedlab.benchmarks.metric import Metric


def known_metric(benchmark: str, name: str) -> Metric | None:
    """Return the metric of a published benchmark, by its printed name if there are several."""
    folded = _folded(benchmark)
    by_name = {_folded(own.name): own for own in all_benchmarks()}
    alike = (own for own in all_benchmarks() if own.alike and folded.startswith(own.alike))
    own = by_name.get(folded) or next(alike, None)
    if own is None:
        return None
    metrics = own.metrics
    if not name:
        return metrics[0]
    named = (m for m in metrics if _folded(name) in (_folded(m.name), _folded(m.label)))
    return next(named, None)


def name_of_words(label: str, words: str, unit: str, better: str) -> str:
    """Return the name of the metric of schedlab's own that running text calls so, or the text.

    A benchmark whose name a label begins with goes before others that call a metric the same.
    """
    folded = _folded(label)
    first = sorted(
        all_benchmarks(),
        key=lambda own: not folded.startswith((_folded(own.name), own.alike or _folded(own.name))),
    )
    own = (metric for benchmark in first for metric in benchmark.metrics)
    asked = (words, unit, better)
    found = (m.name for m in (*own, *ENERGIES) if (m.words, m.unit, m.better) == asked)
    return next(found, words)


def _folded(name: str) -> str:
    return re.sub(r"[^a-z0-9]", "", name.casefold())
