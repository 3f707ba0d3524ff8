"""Targets by name: `host`, `emulated:FOLDER`, `sim:MACHINE`, `vm:KERNEL`, `ssh:HOST`."""

from collections.abc import Sequence
from pathlib import Path

from schedlab.base.errors import UsageError
from schedlab.settings.kinds import check_place
from schedlab.settings.setting import PLACES
from schedlab.settings.variant import Variant
from schedlab.system import LocalSystem, SshSystem, System
from schedlab.targets.emulated import EmulatedSystem
from schedlab.targets.host import HostTarget
from schedlab.targets.sim import SimTarget
from schedlab.targets.ssh import SshTarget
from schedlab.targets.target import Target
from schedlab.targets.vm import VmTarget


def find_system(name: str) -> System:
    """Return the system of a host target; UsageError for an unknown target."""
    kind, _, rest = name.partition(":")
    if kind == "host" and not rest:
        return LocalSystem()
    if kind == "emulated" and rest:
        return EmulatedSystem(Path(rest))
    if kind == "ssh" and rest:
        return SshSystem(rest)
    if kind in ("sim", "vm") and rest:
        raise UsageError(
            f"{name} is created for each run, so there is nothing to switch on it."
            "\n  Name the settings in --variant."
        )
    raise UsageError(
        f"no target is called '{name}'. There are: host, ssh:HOST, emulated:FOLDER,"
        " sim:MACHINE, vm:KERNEL."
    )


def find_target(name: str, machine: str | None = None, variants: Sequence[Variant] = ()) -> Target:
    """Return a target by name; UsageError where there is none, or a variant has no meaning there.

    A guest is shown a machine, and made ready for what the variants boot and call.
    """
    for variant in variants:
        check_place(variant, place_of(name))
    kind, _, rest = name.partition(":")
    if kind == "vm" and rest:
        return VmTarget(rest, machine, variants)
    if machine:
        raise UsageError(f"machine {machine}: only vm:KERNEL is shown another; see --target.")
    if kind == "sim" and rest:
        return SimTarget(rest)
    if kind == "ssh" and rest:
        return SshTarget(SshSystem(rest))
    return HostTarget(find_system(name))


def place_of(target: str) -> str:
    """Return the place in which a target's runs happen; an emulated or remote host is a host."""
    kind, _, _ = target.partition(":")
    return kind if kind in PLACES else "host"
