"""This host as a machine the simulator takes: its topology from sysfs, its costs measured."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from schedlab.accuracy.calibration import LINES, PASSES, Calibrated, Costs, calibrate
from schedlab.accuracy.worlds import Native, Outcome, Simulated
from schedlab.machine import Idle, IdleState, Machine, find_machine
from schedlab.system import LocalSystem
from schedlab.topology.here import SOURCES, describe
from schedlab.topology.levels import Level
from schedlab.topology.simulator import description

ESTIMATES = "epyc-7713-2p-nps1"
"""The machine whose constants stand where nothing is measured here."""

_HALT = IdleState(name="HLT", latency="1us", residency="1us", exit="0ns")
"""What a CPU without cpuidle does; its exit is part of the measured way of an interrupt."""

_ROUNDS = 300
_SIMULATED_ROUNDS = 5


@dataclass(frozen=True)
class CalibratedHost:
    """The machine, where its figures come from, and how well they fit."""

    machine: Machine
    sources: Mapping[str, str]
    off: Mapping[str, float]
    """By operation: how far the simulated one is off, in percent."""

    def to_toml(self) -> str:
        """Write the machine's file."""
        worst = max(self.off, key=lambda name: abs(self.off[name]))
        header = (
            "Written by `schedlab machine --here --calibrate`. Simulated on it, single operations"
            f"\ntake what they take here; the worst is '{worst}', {self.off[worst]:+.1f} %."
        )
        return self.machine.to_toml(self.sources, header)


def calibrated(system: LocalSystem, program: Path, told: Callable[[str], None]) -> CalibratedHost:
    """Measure this host and fit the costs of its description.

    Args:
        system: this host.
        program: a build of the simulator.
        told: is called with what is under way.
    """
    native = Native()
    machine, estimates = describe(system).machine, find_machine(ESTIMATES)
    own = _completed(machine, estimates)
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

    found = calibrate(main, simulate, estimates.cost, lines)
    fitted = own.model_copy(update={"cost": found.costs})
    return CalibratedHost(fitted, _sources(machine, own, found), found.off)


def _completed(machine: Machine, estimates: Machine) -> Machine:
    """Add what the simulator needs and sysfs does not tell."""
    update: dict[str, object] = {}
    if not machine.idle.state:
        update["idle"] = Idle(governor="menu", state=(_HALT,))
    if machine.smt is None and len(machine.groups("core")) < machine.nr_cpus:
        update["smt"] = estimates.smt
    if machine.memory is None:
        update["memory"] = estimates.memory
    cache = machine.cache.model_dump(exclude_defaults=True)
    if not {"l2", "l3", "llc"} <= set(cache) | ({"llc"} if "l3" in cache else set()):
        update["cache"] = estimates.cache
    return machine.model_copy(update=update)


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


def _sources(machine: Machine, own: Machine, found: Calibrated) -> dict[str, str]:
    today = date.today().isoformat()
    sources = dict(SOURCES)
    for name in own.cost or found.costs:
        measured = name in found.measured
        sources[f"cost.{name}"] = (
            f"measured here, {today}" if measured else f"E taken from {ESTIMATES}"
        )
    for key in ("idle", "smt", "memory", "cache"):
        if getattr(own, key) != getattr(machine, key):
            sources[key] = f"E taken from {ESTIMATES}" if key != "idle" else "no cpuidle: a halt"
    return sources
