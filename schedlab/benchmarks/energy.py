"""Energy as a metric of every benchmark, where a simulated machine's file has all its powers.

Of a benchmark that counts operations a second it is that of one operation; of any other, whose work
is the same in each run, that of the run.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from schedlab.base.cpulist import parse_cpulist
from schedlab.benchmarks.metric import Metric, is_run_time

if TYPE_CHECKING:
    from schedlab.machine.model import Machine

ENERGY = Metric("energy", unit="J", better="lower", label="Energy (J)")
ENERGY_PER_OPERATION = Metric(
    "energy_per_operation", unit="mJ", better="lower", label="Energy per operation (mJ)"
)
ENERGIES = (ENERGY, ENERGY_PER_OPERATION)

_A_SECOND = ("1/s", "ops/s")
"""Units of rates of operations."""


def knows_energy(machine: "Machine") -> bool:
    """Return whether a machine's file has the power of each CPU, busy and in every idle state."""
    powered = [
        cpu for entry in machine.cpu if _has_powers(entry.opp) for cpu in parse_cpulist(entry.cpus)
    ]
    states = machine.idle.state
    return (
        len(powered) == machine.nr_cpus
        and bool(states)
        and all(state.power_mw is not None for state in states)
    )


def energy_metric(metrics: Sequence[Metric]) -> Metric:
    """Return which of the two a benchmark with these metrics has."""
    return ENERGY_PER_OPERATION if rate(metrics) else ENERGY


def rate(metrics: Sequence[Metric]) -> Metric | None:
    """Return the metric that counts a benchmark's operations a second, if one does."""
    return next((metric for metric in metrics if metric.unit in _A_SECOND), None)


def energy(
    metric: Metric, values: Mapping[Metric, float], result: Mapping[str, Any]
) -> float | None:
    """Return the metric's value in a simulated run's result, None where it has none."""
    domains = result.get("frequency_domains", [])
    if not domains or not all("joules" in domain for domain in domains):
        return None
    joules = float(sum(domain["joules"] for domain in domains))
    if metric == ENERGY:
        # The window may hold more than the run's work, and the run's time is scaled then.
        taken = next((value for each, value in values.items() if is_run_time(each)), None)
        return joules if taken is None else joules * taken / float(result["window_s"])
    operations = rate(tuple(values))
    assert operations, metric
    return joules / float(result["window_s"]) / values[operations] * 1e3


def _has_powers(points: Sequence[Any]) -> bool:
    return bool(points) and all(point.power_mw is not None for point in points)
