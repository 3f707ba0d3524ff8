"""Machines that the lab boots: a module for each kind of target that `boots`.

Such a module has `machine`, which returns the machine of a plan, and `wanted`, which returns how a
variant wants it booted.
"""

import importlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from schedlab.base.errors import UsageError
from schedlab.base.system import System
from schedlab.base.validation import Data
from schedlab.kernels.progress import Watch
from schedlab.plan.plan import Plan
from schedlab.plan.targets import TARGETS, known
from schedlab.settings.kinds import check_place
from schedlab.targets.target import Target


@dataclass(frozen=True)
class Wanted:
    """How a machine is to be booted for a variant."""

    variant: str
    release: str = ""
    """The kernel's release; that of the usual kernel if empty."""
    options: tuple[str, ...] = ()
    """Words of the kernel's command line beside the usual ones."""


@dataclass(frozen=True)
class Seen:
    """How a machine is booted."""

    boot_id: str
    release: str
    line: str

    def differs(self, wanted: Wanted, others: Sequence[Wanted]) -> str:
        """Return in words what is not as it is wanted; empty if all is.

        `others` are what other variants want: without a release of its own a variant takes the
        usual kernel, which is none of theirs, and of their options none may be there.
        """
        if wanted.release and self.release != wanted.release:
            return f"kernel {self.release} in place of {wanted.release}"
        if not wanted.release and self.release in {other.release for other in others}:
            return f"kernel {self.release}, which is another variant's"
        words = self.line.split()
        if missing := [option for option in wanted.options if option not in words]:
            return f"no {' '.join(missing)} on its command line"
        foreign = {option for other in others for option in other.options} - {*wanted.options}
        if there := sorted(foreign & {*words}):
            return f"{' '.join(there)} on its command line, which is another variant's"
        return ""


class Usual(Data):
    """How a machine was booted when its series began, without what variants ask for."""

    release: str = ""
    options: tuple[str, ...] = ()


class BootedMachine(Protocol):
    """A machine that the lab boots."""

    name: str

    def check(self, wanted: Sequence[Wanted], usual: Usual | None = None) -> Usual:
        """Refuse, before the first boot, what the machine cannot be booted into.

        Return how it is usually booted: as given by a series that goes on, or as it is now.
        """

    def seen(self) -> Seen:
        """Return how it is booted; SystemLost where it is not there."""

    def boot(self, wanted: Wanted) -> None:
        """Boot it once like this; return without waiting for it."""

    def power(self) -> bool:
        """Switch its power, if the user has said how; return whether that is so."""

    def target(self) -> Target:
        """Return the machine, as it is booted, as a place for runs."""


def machine_of(plan: Plan, watch: Watch) -> tuple[BootedMachine, list[Wanted]]:
    """Return the machine of a plan, and how each variant wants it booted.

    Raises:
        UsageError: the lab does not boot such a target, or a variant has no meaning there.
    """
    kind, _ = known(plan.target)
    if not kind.boots:
        booted = " and ".join(other.syntax for other in TARGETS if other.boots)
        raise UsageError(
            f"the lab boots {booted}, not {plan.target}; give one of them as --target."
        )
    for variant in plan.variant:
        check_place(variant, kind.place)
    module: Any = importlib.import_module(f"{__name__}.{kind.module}")
    return module.machine(plan, watch), [module.wanted(variant) for variant in plan.variant]


def seen_on(system: System) -> Seen:
    """Return how a system is booted."""
    return Seen(system.boot_id(), system.kernel_release(), system.read_or("/proc/cmdline", ""))
