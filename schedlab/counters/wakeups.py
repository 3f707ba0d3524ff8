"""How long a benchmark's tasks waited from being woken to running: `wakeup-latency:p99:ns`.

These counters are judged as metrics are (`schedlab/judging/wakeups.py`), not among the counters.
"""

import math
from collections.abc import Iterable, Mapping

_FIRST, _LAST = "wakeup-latency:p", ":ns"
_BEYOND = 10
"""Wakeups that lie beyond a percentile at least: with fewer it says more of chance."""

PERCENTS = (50.0, 90.0, 99.0, 99.9)


def percentile_counter(percent: float) -> str:
    """Return the name of a percentile's counter."""
    return f"{_FIRST}{percent:g}{_LAST}"


def is_percentile(counter: str) -> bool:
    """Return whether a counter is one of these."""
    return counter.startswith(_FIRST) and counter.endswith(_LAST)


def of_simulated(waits: Mapping[str, float]) -> dict[str, float]:
    """Return the counters of a simulated run: its `count` and percentiles such as `p99.9_ns`."""
    known = _known(int(waits.get("count", 0)))
    found = {percent: float(waits[f"p{percent:g}_ns"]) for percent in known}
    return {percentile_counter(percent): ns for percent, ns in found.items() if ns > 0}


def of_waits(waits: Iterable[float]) -> dict[str, float]:
    """Return the counters of single waits, in ns."""
    rising = sorted(waits)
    found = {
        percent: float(rising[math.ceil(len(rising) * percent / 100) - 1])
        for percent in _known(len(rising))
    }
    return {percentile_counter(percent): ns for percent, ns in found.items() if ns > 0}


def _known(number: int) -> list[float]:
    """Return the percentiles that so many wakeups have."""
    return [percent for percent in PERCENTS if round(number * (100 - percent)) >= 100 * _BEYOND]
