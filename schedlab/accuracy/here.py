"""This host as a machine the simulator takes: its topology from sysfs, its costs measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from schedlab.accuracy.calibration import LINES, PASSES, Calibrated, Costs, calibrate
from schedlab.accuracy.worlds import QUIET, Native, Outcome, Simulated
from schedlab.machine import Idle, IdleState, Machine
from schedlab.system import System
from schedlab.topology.here import describe
from schedlab.topology.levels import Level
from schedlab.topology.simulator import description
from schedlab.topology.standin import completed

_HALTS = Idle(
    governor="menu",
    state=(IdleState(name="HLT", latency="1us", residency="1us", exit="0ns"),),
)
"""What CPUs without cpuidle do; the exit is part of the measured way of an interrupt."""

_ROUNDS = 300
_SIMULATED_ROUNDS = 5


@dataclass(frozen=True)
class CalibratedHost:
    """The machine, where its figures come from, and how well they fit."""

    machine: Machine
    sources: Mapping[str, str]
    off: Mapping[str, float]
    """By operation: how far the simulated one is off, in percent."""
    others: float
    """The share of this host's CPUs that others had meanwhile."""

    def to_toml(self) -> str:
        """Write the machine's file."""
        worst = max(self.off, key=lambda name: abs(self.off[name]))
        header = (
            "Written by `schedlab machine --here --calibrate`. Simulated on it, single operations"
            f"\ntake what they take here; the worst is '{worst}', {self.off[worst]:+.1f} %."
        )
        if self.others > QUIET:
            header += (
                f"\nOthers had {self.others:.0%} of this host's CPUs meanwhile: what two CPUs do"
                "\ntogether may be too slow here; measure again when it is quiet."
            )
        return self.machine.to_toml(self.sources, header)


def calibrated(system: System, program: Path, told: Callable[[str], None]) -> CalibratedHost:
    """Measure this host and fit the costs of its description.

    Args:
        system: this host.
        program: a build of the simulator.
        told: is called with what is under way.
    """
    native = Native()
    described = completed(describe(system))
    machine = described.machine
    own = machine if machine.idle.state else machine.model_copy(update={"idle": _HALTS})
    told("timing single operations here")
    pairs = _pairs(machine)
    runs = {line: native.run("micro", _options(*pair)) for line, pair in pairs.items()}
    main = next(iter(runs.values())) if runs else native.run("micro", _options(0, 0))
    lines = {line: run.results["line"] for line, run in runs.items()}
    told(f"simulating them, {PASSES + 1} times")
    first, other = next(iter(pairs.values()), (0, 0))

    def simulate(costs: Costs) -> Outcome:
        simulated = Simulated(program, description(own.model_copy(update={"cost": costs})))
        return simulated.run("micro", {**_options(first, other), "rounds": _SIMULATED_ROUNDS})

    found = calibrate(main, simulate, own.cost, lines)
    fitted = own.model_copy(update={"cost": found.costs})
    others = max(run.others for run in (main, *runs.values()))
    return CalibratedHost(fitted, _sources(described.sources, own, found), found.off, others)


def _pairs(machine: Machine) -> dict[str, tuple[int, int]]:
    """Give, for each distance there is here, CPU 0's nearest partner at it; LLC mates first."""
    first = min(cpu for group in machine.groups("core") for cpu in group)
    pairs: dict[str, tuple[int, int]] = {}
    for cpu in sorted({cpu for group in machine.groups("core") for cpu in group} - {first}):
        pairs.setdefault(_distance(machine, first, cpu), (first, cpu))
    usual = ("line_llc", "line_cluster", *LINES)
    return dict(sorted(pairs.items(), key=lambda item: usual.index(item[0])))


def _distance(machine: Machine, one: int, other: int) -> str:
    """Name the constant for a line between two CPUs."""
    levels: tuple[Level, ...] = ("core", "cluster", "llc", "node", "package")
    for level, line in zip(levels, LINES, strict=False):
        if any({one, other} <= set(group) for group in machine.groups(level)):
            return line
    return LINES[-1]


def _options(cpu: int, other: int) -> dict[str, object]:
    return {"rounds": _ROUNDS, "cpu": cpu, "other": other}


def _sources(told: Mapping[str, str], own: Machine, found: Calibrated) -> dict[str, str]:
    """Say of each cost whether it was measured; the rest is told as the description tells it."""
    sources = {"idle": "no cpuidle: a halt"} if own.idle == _HALTS else {}
    sources |= {path: source for path, source in told.items() if path != "cost"}
    measured = f"measured here, {date.today().isoformat()}"
    for name in found.costs:
        sources[f"cost.{name}"] = measured if name in found.measured else told["cost"]
    return sources
