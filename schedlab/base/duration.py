"""Durations as users write them: `50us`, `200ms`, `90s`, `10min`, `2h`."""

import re

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(us|ms|s|min|h)")
_SECONDS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_MOST_HOURS = 10_000


def seconds(duration: str) -> float:
    """Return a duration such as `10min` in seconds.

    Raises:
        ValueError: it is not a duration, or too long.
    """
    match = _DURATION.fullmatch(duration)
    if not match:
        raise ValueError(f"'{duration}' is not a duration; write it as 200ms, 90s, 10min or 2h")
    found = float(match[1]) * _SECONDS[match[2]]
    if found > _MOST_HOURS * _SECONDS["h"]:
        raise ValueError(f"'{duration}' is too long; the most is {_MOST_HOURS}h")
    return found
