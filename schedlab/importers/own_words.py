"""Words of schedlab's own reports, read back: cases, metrics, and what is no notice."""

import re
import shlex

from schedlab.benchmarks.metric import Better, Metric

_DESCRIBED = re.compile(r"(?P<name>.+), (?P<unit>[^,]*), (?P<better>higher|lower) is better")
_DISTURBANCE = ("Other load during the runs", "Other processes took more")
_COUNT = re.compile(r"-?\d+")


def read_described(text: str) -> Metric | None:
    """Read `time, s, lower is better`; the label is not in it."""
    found = _DESCRIBED.fullmatch(text)
    if not found:
        return None
    better: Better = "lower" if found["better"] == "lower" else "higher"
    return Metric(found["name"], found["unit"], better, found["name"])


def read_case_words(text: str, label: str) -> tuple[str, dict[str, int | str]]:
    """Read benchmark and parameters, `hackbench groups=4`; the label's where there are none."""
    try:
        words = shlex.split(text)
    except ValueError:
        words = []
    benchmark, *rest = words or [label]
    pairs = (word.partition("=") for word in rest)
    return benchmark, {k: int(v) if _COUNT.fullmatch(v) else v for k, _, v in pairs}


def is_disturbance(text: str) -> bool:
    """Return whether a line is the sentence on other load, which every report makes anew."""
    return text.startswith(_DISTURBANCE)
