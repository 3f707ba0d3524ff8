"""This host as a machine the simulator takes: its topology from sysfs, its costs measured."""

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from tempfile import TemporaryDirectory

from schedlab.base.system import System
from schedlab.kernels.progress import Watch
from schedlab.lab.accuracy.calibration import CYCLES, LINES, PASSES, Calibrated, Costs, calibrate
from schedlab.lab.accuracy.disk import flushes, with_disk
from schedlab.lab.accuracy.single import QUIET, Outcome, held, load_case
from schedlab.machine.here import describe
from schedlab.machine.ledger import Entry, around, number
from schedlab.machine.levels import Level
from schedlab.machine.model import Core, Idle, IdleState, Machine
from schedlab.machine.standin import UNCERTAIN, completed
from schedlab.settings.variant import Variant
from schedlab.targets.host import HostTarget
from schedlab.targets.sim import SimTarget

_HALTS = Idle(
    governor="menu",
    state=(IdleState(name="HLT", latency="1us", residency="1us", exit="0ns"),),
)
"""What CPUs without cpuidle do; the exit is part of the measured way of an interrupt."""

MEASURED = 1.1
"""A measured figure is within a tenth (docs/manual/machines.md)."""

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


def calibrated(
    system: System, kernel: str | None, say: Callable[[str], None], watch: Watch | None = None
) -> CalibratedHost:
    """Measure this host and fit the costs of its description.

    Args:
        system: this host.
        kernel: whose simulator; None is the newest.
        say: a function that takes a description of each step.
        watch: who watches what takes long.
    """
    described = completed(describe(system))
    machine = described.machine
    own = machine if machine.idle.state else machine.model_copy(update={"idle": _HALTS})
    say("timing single operations here")
    pairs = _pairs(machine)
    runs = _timed_here(system, pairs)
    main = next(iter(runs.values()))
    lines = {line: run.results["line"] for line, run in runs.items() if line in pairs}
    say(f"simulating them, {PASSES + 1} times")
    first, other = next(iter(pairs.values()), (0, 0))

    def simulate(costs: Costs) -> Outcome:
        options = {**_options(first, other), "rounds": _SIMULATED_ROUNDS}
        return _simulated(_with(own, costs), kernel, options, watch)

    assert own.core
    start = {**own.cost, CYCLES: f"{1e6 / own.core.mhz:.0f}ns"}
    found = calibrate(main, simulate, start, lines)
    fitted = _with(own, found.costs).model_copy(update={"ledger": _entries(own, found)})
    with suppress(OSError):  # a folder that is not to be written to: the figure stays as it is
        fitted = with_disk(fitted, flushes(Path.cwd()))
    sources = {"idle": "no cpuidle: a halt"} if own.idle == _HALTS else {}
    sources |= described.sources
    others = max(run.others for run in (main, *runs.values()))
    return CalibratedHost(fitted, sources, found.off, others)


def _timed_here(system: System, pairs: Mapping[str, tuple[int, int]]) -> dict[str, Outcome]:
    """Return what operations take here between the CPUs of each pair; with no pair on CPU 0."""
    cases = {
        line: load_case("micro", _options(*pair)) for line, pair in (pairs or {"": (0, 0)}).items()
    }
    with held(HostTarget(system), list(cases.values()), counters=()) as bench:
        return {line: bench.run(case) for line, case in cases.items()}


def _simulated(
    machine: Machine, kernel: str | None, options: Mapping[str, object], watch: Watch | None
) -> Outcome:
    """Return what they take on a machine, whose costs may be out of their ranges yet."""
    machine = machine.model_copy(update={"ledger": {}})
    case, variant = load_case("micro", options), Variant(name="simulated", kernel=kernel)
    with TemporaryDirectory() as folder:
        file = Path(folder) / "machine.toml"
        file.write_text(machine.to_toml({}, ""), encoding="utf-8")
        target = SimTarget(str(file), watch)
        with held(target, [case], counters=(), variant=variant) as bench:
            return bench.run(case)


def _with(own: Machine, costs: Costs) -> Machine:
    """Return the machine with these costs, of which one says its core's frequency."""
    rest = {name: value for name, value in costs.items() if name != CYCLES}
    return own.model_copy(update={"cost": rest, "core": Core(mhz=_mhz(costs[CYCLES]))})


def _mhz(thousand_cycles: str | int) -> int:
    return round(1e6 / max(1.0, number(thousand_cycles)))


def _pairs(machine: Machine) -> dict[str, tuple[int, int]]:
    """Return, for each distance there is here, CPU 0's nearest partner at it; LLC mates first."""
    first = min(cpu for group in machine.groups("core") for cpu in group)
    pairs: dict[str, tuple[int, int]] = {}
    for cpu in sorted({cpu for group in machine.groups("core") for cpu in group} - {first}):
        pairs.setdefault(_distance(machine, first, cpu), (first, cpu))
    usual = ("line_llc", "line_cluster", *LINES)
    return dict(sorted(pairs.items(), key=lambda item: usual.index(item[0])))


def _distance(machine: Machine, one: int, other: int) -> str:
    """Return the constant for a line between two CPUs."""
    levels: tuple[Level, ...] = ("core", "cluster", "llc", "node", "package")
    for level, line in zip(levels, LINES, strict=False):
        if any({one, other} <= set(group) for group in machine.groups(level)):
            return line
    return LINES[-1]


def _options(cpu: int, other: int) -> dict[str, object]:
    return {"rounds": _ROUNDS, "cpu": cpu, "other": other}


def _entries(own: Machine, found: Calibrated) -> dict[str, Entry]:
    """Return the ledger: which costs were measured, and how far off the others may be."""
    measured = f"measured here, {date.today().isoformat()}"
    entries = dict(own.ledger)
    for name, value in found.costs.items():
        key, value = ("core.mhz", _mhz(value)) if name == CYCLES else (f"cost.{name}", value)
        if name in found.measured:
            entries[key] = Entry(range=around(value, MEASURED), source=measured)
        elif entries[key].range is not None:
            spread = {"range": around(value, UNCERTAIN)}
            entries[key] = entries[key].model_copy(update=spread)
    ranged = {key for key, entry in entries.items() if entry.range and not entry.moves_with}
    return {
        key: entry if entry.moves_with in ranged else entry.model_copy(update={"moves_with": None})
        for key, entry in entries.items()
    }
