"""What a benchmark measures: a name, a unit and which direction is better."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from schedlab.base.errors import IncompleteRun

Better = Literal["higher", "lower"]
SMALLEST, LARGEST = 1e-300, 1e300
"""Between these is every figure but zero, so that ratios and means of them are numbers too."""


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
