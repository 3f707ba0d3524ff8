"""What a benchmark measures: a name, a unit and which direction is better."""

from dataclasses import dataclass
from typing import Literal

Better = Literal["higher", "lower"]


@dataclass(frozen=True)
class Metric:
    """One figure a benchmark reports.

    `label` is what a table's column says, e.g. `Time (sec)`.
    """

    name: str
    unit: str
    better: Better
    label: str
