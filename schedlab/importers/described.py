"""Metrics as schedlab's own mails describe them."""

import re

from schedlab.benchmarks.metric import Better, Metric

_DESCRIBED = re.compile(r"(?P<name>.+), (?P<unit>[^,]*), (?P<better>higher|lower) is better")


def read_described(text: str) -> Metric | None:
    """Read `time, s, lower is better`; the label is not in it."""
    found = _DESCRIBED.fullmatch(text)
    if not found:
        return None
    better: Better = "lower" if found["better"] == "lower" else "higher"
    return Metric(found["name"], found["unit"], better, found["name"])
