"""What a report shows of a benchmark beside its verdicts, as data: curves and completion times.

A benchmark names its curves (`curves=`). One that has metrics of its single tasks, made by
`task_time` and `round_time`, has a table of completion times in every report.
"""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from schedlab.benchmarks.metric import Metric

if TYPE_CHECKING:
    from schedlab.machine.model import Machine

TASK = "task_"
ROUND = "longest_"


def task_time(number: int) -> Metric:
    """Return the metric of one task's time: recorded, but not judged."""
    return Metric(f"{TASK}{number}", unit="s", better="lower", label=f"Task {number} (sec)")


def round_time(number: int) -> Metric:
    """Return the metric of a round's longest task: recorded, but not judged."""
    label = f"Longest of round {number} (sec)"
    return Metric(f"{ROUND}{number}", unit="s", better="lower", label=label)


@dataclass(frozen=True)
class Line:
    """A metric that is drawn."""

    metric: Metric
    called: str
    """What its points are called."""
    end: str = ""
    """What is written at its end, where several lines need names."""
    hollow: bool = False
    """It is dashed, and its marks are hollow."""


@dataclass(frozen=True)
class Panel:
    """One of the parts of a drawing, which lie above each other."""

    unit: str
    lines: tuple[Line, ...]
    logarithmic: bool = False


def _no_share(_: str) -> str | None:
    return None


def _no_remarks(_: Mapping[str, int | str], __: "Machine") -> Iterable[str]:
    return ()


@dataclass(frozen=True)
class Curve:
    """How a sweep over one of the parameters is shown: in a table and a drawing of its own."""

    parameter: str
    unit: str
    along: str
    """What the parameter is, for the drawing's axis."""
    title: str
    """The table's title."""
    heading: str
    """The drawing's heading."""
    content: str
    """What it shows, for those who cannot see it."""
    legend: str
    legend_shares: str
    """What follows where the time in idle states is drawn too."""
    columns: Mapping[Metric, str]
    """The metrics in the table, with their headings."""
    held: tuple[str, str]
    """The heading and the counter of the parameter's value as it came to be."""
    beside: tuple[str, str]
    """Those of a figure behind the metrics."""
    panels: tuple[Panel, ...]
    note: str
    note_shares: str
    """What follows where there are idle states."""
    note_without: str
    """What stands there where there are none."""
    share_of: Callable[[str], str | None] = _no_share
    """Returns the idle state whose share of the time, in percent, a counter is, if it is one."""
    remarks: Callable[[Mapping[str, int | str], "Machine"], Iterable[str]] = _no_remarks
    """Returns notes about a case with these parameters on a machine."""
