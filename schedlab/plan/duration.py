"""Durations as plans write them: `200ms`, `90s`, `10min`, `2h`."""

import re
from typing import Annotated

from pydantic import AfterValidator

_DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)\s*(ms|s|min|h)")
_SECONDS = {"ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}
_LONGEST = "10000h"


def seconds(duration: str) -> float:
    """Return a duration such as `10min` in seconds."""
    match = _DURATION.fullmatch(duration)
    assert match, duration
    return float(match[1]) * _SECONDS[match[2]]


def _duration(text: str) -> str:
    if not _DURATION.fullmatch(text):
        raise ValueError(f"'{text}' is not a duration; write it as 200ms, 90s, 10min or 2h")
    if seconds(text) > seconds(_LONGEST):
        raise ValueError(f"'{text}' is too long; the most is {_LONGEST}")
    return text


def _some_time(text: str) -> str:
    if not seconds(text):
        raise ValueError(f"'{text}' leaves no time for a run")
    return text


Duration = Annotated[str, AfterValidator(_duration)]
SomeTime = Annotated[Duration, AfterValidator(_some_time)]
