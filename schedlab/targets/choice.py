"""Targets by name: `host`, `emulated:FOLDER`, `sim:MACHINE`, `vm:KERNEL`, `ssh:HOST`.

A kind's module has `named`, which makes a target of what is behind the colon, and `system`, which
makes the system of a host, unless the machine is created for the runs; a module of guests has
`guest`, which boots one.
"""

import importlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from schedlab.base.errors import UsageError
from schedlab.base.system import System
from schedlab.kernels.progress import Watch
from schedlab.plan.targets import TARGETS, TargetKind, kind_of, known, split
from schedlab.settings.kinds import check_place
from schedlab.settings.variant import Variant
from schedlab.targets.client import Asked
from schedlab.targets.host import HostTarget
from schedlab.targets.target import Target


def find_system(name: str) -> System:
    """Return the system of a host target; UsageError for any other."""
    kind, which = known(name)
    if kind.created:
        raise UsageError(f"{name} is not a host: it is created for each run.")
    system: System = _module(kind).system(which)
    return system


@contextmanager
def opened_system(
    name: str, machine: str | None, programs: Sequence[str], watch: Watch
) -> Iterator[System]:
    """Yield the system of a host, which nobody else may use meanwhile, or of a guest.

    A guest is booted for the caller, is shown the machine, and has these programs of this host's.

    Raises:
        UsageError: it is neither.
    """
    kind, which = _known(name, machine)
    if kind.shows_machine:
        with _module(kind).guest(which, machine, programs, watch) as guest:
            yield guest
    else:
        system = find_system(name)
        with system.held():
            yield system


def find_target(
    name: str,
    machine: str | None = None,
    variants: Sequence[Variant] = (),
    watch: Watch | None = None,
    client: Asked | None = None,
) -> Target:
    """Return a target by name; UsageError where there is none, or a variant has no meaning there.

    A guest is shown a machine, and made ready for what the variants boot and call. `watch` learns
    of what takes long, such as a build. The load comes from `client`, if that is given.
    """
    kind, which = _known(name, machine)
    for variant in variants:
        check_place(variant, kind.place)
    if client:
        _check_client(client, name)
    target: Target = _module(kind).named(which, machine, variants, watch)
    return asked_from(target, client)


def asked_from(target: Target, client: Asked | None) -> Target:
    """Return a target whose load comes from a client, if there is one.

    Raises:
        UsageError: its servers cannot be asked from another machine.
    """
    if client:
        _check_client(client, target.name)
        assert isinstance(target, HostTarget)
        target.load_from(client)
    return target


def _check_client(client: Asked, name: str) -> None:
    if client.name == name:
        raise UsageError(f"client: {name} is the target itself; name another machine, ssh:HOST.")
    if not kind_of(name).serves:
        raise UsageError(
            f"client: a load generator on {client.name} needs servers on another machine, a target"
            f" {' or '.join(other.syntax for other in TARGETS if other.serves)}; not {name}."
        )


def _known(name: str, machine: str | None) -> tuple[TargetKind, str]:
    kind, which = split(name)
    if machine and not (kind.shows_machine and kind.fits(which)):
        showing = " or ".join(other.syntax for other in TARGETS if other.shows_machine)
        raise UsageError(f"--machine {machine}: only the target {showing} takes a machine.")
    return known(name)


def _module(kind: TargetKind) -> Any:
    return importlib.import_module(f"schedlab.targets.{kind.module}")
