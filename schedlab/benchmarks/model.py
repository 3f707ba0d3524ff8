"""A model: the workload that behaves as a benchmark does, and where the metrics are found."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from schedlab.benchmarks.enclosure import Enclosure
from schedlab.benchmarks.metric import Metric


@dataclass(frozen=True)
class Model:
    """A workload of a scenario, by kind and parameters (docs/internals/engine.md lists them)."""

    workload: Mapping[str, object]
    figures: Mapping[Metric, str]
    """For each metric the name of its figure in the simulator's result, e.g. `hackbench.time`."""
    enclosures: tuple[Enclosure, ...] = ()
    """Files beside the scenario."""
    besides: tuple[Metric, ...] = ()
    """What is measured of any workload."""
    beside: Mapping[str, object] = field(default_factory=dict)
    """What the scenario has beside the workload: other tasks, control groups."""
    count: Callable[[Mapping[str, float]], Mapping[str, float]] = field(default=lambda _: {})
    """Returns further figures by their counters' names, from the workload's results by name."""
