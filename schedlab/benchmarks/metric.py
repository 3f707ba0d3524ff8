"""What a benchmark measures: a name, a unit and which direction is better."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schedlab.base.errors import IncompleteRun

Better = Literal["higher", "lower"]
_IN_WORDS = (
    (r" \([^()]*\)$", ""),
    (r"/sec\b", " per second"),
    (r",? p?(\d\d(?:\.\d+)?)(?:%|th percentile)?$", r", \1th percentile"),
    (r"\bBW\b", "bandwidth"),
    (r"\bops\b", "operations"),
)
"""What a label has and running text does not, with what takes its place."""
SMALLEST, LARGEST = 1e-300, 1e300
"""Between these is every figure but zero, so that ratios and means of them are numbers too."""


NONE_OF_IT = "nothing, or too little, that it is taken of came to pass in this run"
"""Why a run lacks an optional metric."""


@dataclass(frozen=True)
class Metric:
    """One figure a benchmark reports.

    `label` is what a table's column says, e.g. `Time (sec)`.
    """

    name: str
    unit: str
    better: Better
    label: str
    signed: bool = False
    """Zero and less are figures too, though no ratio can be made of them."""
    optional: bool = False
    """A run may have none of it: nothing came that it is a mean of."""

    @property
    def words(self) -> str:
        """What it is called in running text: its label, without the unit; a name of a user's own.

        `Latency 99% (us)` is `latency, 99th percentile`.
        """
        if self.label in (self.name, f"{self.name} ({self.unit})"):
            return self.name
        text = self.label
        for pattern, instead in _IN_WORDS:
            text = re.sub(pattern, instead, text)
        return text[0].lower() + text[1:] if text[1:2].islower() else text


RUN_TIME = "time"
"""Under this name stands how long a fixed amount of work takes."""


def is_run_time(metric: Metric) -> bool:
    """Return whether a metric is how long a run's work takes, in seconds."""
    return metric.name == RUN_TIME and metric.unit == "s"


def in_bounds(figure: float) -> bool:
    """Return whether a figure can be reckoned with."""
    return figure == 0 or SMALLEST <= abs(figure) <= LARGEST


def comparable(values: Mapping[Metric, float]) -> tuple[dict[Metric, float], list[str]]:
    """Return the figures that can be compared by their ratio, and a caveat for each other one.

    Raises:
        IncompleteRun: one makes no sense.
    """
    kept, caveats = {}, []
    for metric, value in values.items():
        if SMALLEST <= value <= LARGEST:
            kept[metric] = float(value)
        elif metric.signed and -LARGEST <= value <= 0:
            caveats.append(f"{metric.name} is {value:g} {metric.unit}: no ratio can be made of it")
        else:
            raise IncompleteRun(
                f"{metric.name} is {value:g} {metric.unit}, which is not a result: changes are"
                " ratios, so a figure has to be positive and finite"
            )
    return kept, caveats
