"""Targets by name: `host`, `emulated:FOLDER`, or `sim:MACHINE`."""

from pathlib import Path

from schedlab.errors import UsageError
from schedlab.system import LocalSystem
from schedlab.targets.emulated import EmulatedSystem
from schedlab.targets.host import HostTarget
from schedlab.targets.sim import SimTarget
from schedlab.targets.target import Target


def find_system(name: str) -> LocalSystem:
    """Give the system a host target stands on; UsageError for an unknown target."""
    kind, _, rest = name.partition(":")
    if kind == "host" and not rest:
        return LocalSystem()
    if kind == "emulated" and rest:
        return EmulatedSystem(Path(rest))
    if kind == "sim" and rest:
        raise UsageError(f"{name} is simulated: it has nothing to switch but what variants name.")
    raise UsageError(
        f"no target is called '{name}'. There are: host, emulated:FOLDER, sim:MACHINE."
    )


def find_target(name: str) -> Target:
    """Give a target by name; UsageError where there is none."""
    kind, _, rest = name.partition(":")
    if kind == "sim" and rest:
        return SimTarget(rest)
    return HostTarget(find_system(name))
