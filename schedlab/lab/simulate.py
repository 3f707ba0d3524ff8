"""The simulator alone: a build of it, and one scenario on one machine, without plan or result."""

import json
from collections.abc import Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedlab.kernels.built import Build
from schedlab.kernels.progress import Watch
from schedlab.settings.variant import Variant
from schedlab.targets.sim import SimTarget
from schedlab.targets.sim_program import Call, Processes, read_result


def simulator_of(
    kernel: str | None = None, machine: str = "smp4", watch: Watch | None = None
) -> Build:
    """Return the simulator of a kernel that `schedlab kernel list` shows; it is built if need be.

    Raises:
        UsageError: there is no such kernel, or no such machine.
    """
    variant = Variant(name="base", kernel=kernel)
    return SimTarget(machine, watch).session([], [variant], limit=60.0).builds[variant.name]


def simulate(
    program: Path,
    machine: Mapping[str, Any],
    scenario: Mapping[str, Any],
    seed: int = 1,
    limit: float = 600.0,
) -> dict[str, Any]:
    """Return the result of a scenario on a machine, both as the simulator reads them.

    Args:
        program: the simulator.
        machine: `schedlab.machine.simulator.description()` returns it of a machine.
        scenario: docs/internals/engine.md has its keys.
        seed: of all that is random.
        limit: the longest it may work, in seconds.

    Raises:
        IncompleteRun: it failed, in the simulator's words.
    """
    with TemporaryDirectory() as name:
        folder = Path(name)
        call = Call(program, folder / "machine", folder / "scenario", folder / "result", seed)
        call.machine.write_text(json.dumps(machine))
        call.scenario.write_text(json.dumps(scenario))
        return read_result(Processes().run(call.argv, call.errors, limit), call.result)
