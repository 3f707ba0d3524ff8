"""The kinds of targets: how each is named, and what holds of the runs that happen there.

What a target does is in the module of `schedlab/targets/` that its kind names. Here is what others
have to know of it without loading that: plans, sweeps, settings and reports.
"""

from dataclasses import dataclass

from schedlab.base.errors import UsageError


@dataclass(frozen=True)
class TargetKind:
    """A kind of target."""

    name: str
    """What its targets' names begin with: `sim` of `sim:MACHINE`."""
    place: str
    """The place whose settings have a meaning there, a key of schedlab.settings.setting.PLACES."""
    module: str = ""
    """The module of schedlab.targets with its class; none where nothing can be run."""
    takes: str = ""
    """What is behind the colon."""
    simulated: bool = False
    """Runs are predictions, and many can be made at a time."""
    remote: bool = False
    """Runs happen on another computer, so those of two targets do not disturb each other."""
    created: bool = False
    """The machine is there for the runs only: nothing can be switched on it beforehand."""
    serves: bool = False
    """Another machine can ask the servers of its benchmarks."""
    boots: bool = False
    """The lab boots its machine as variants ask: a module of schedlab.targets.booting does."""
    shows_machine: bool = False
    """It is shown a machine of the user's choice (`--machine`)."""
    banner: str = ""
    """What a reader must know of its results; has `{which}` and rows of the platform table."""

    @property
    def syntax(self) -> str:
        """Return how its targets are named."""
        return f"{self.name}:{self.takes}" if self.takes else self.name

    def target(self, which: str) -> str:
        """Return a target's name."""
        return f"{self.name}:{which}" if self.takes else self.name

    def fits(self, which: str) -> bool:
        """Return whether a name is complete: a colon and more behind it, or neither."""
        return bool(which) == bool(self.takes)


HOST = TargetKind("host", place="host", module="host", serves=True)
SSH = TargetKind(
    "ssh", place="host", module="ssh", takes="HOST", remote=True, serves=True, boots=True
)
EMULATED = TargetKind(
    "emulated",
    place="host",
    module="emulated",
    takes="FOLDER",
    banner="Emulated host: recorded outputs of tools, not a measurement.",
)
SIM = TargetKind(
    "sim",
    place="sim",
    module="sim",
    takes="MACHINE",
    simulated=True,
    created=True,
    banner="Simulated on {which}: a prediction, not a measurement.",
)
VM = TargetKind(
    "vm",
    place="vm",
    module="vm",
    takes="KERNEL",
    created=True,
    boots=True,
    shows_machine=True,
    banner="Measured in {environment[Kind]}.",
)
IMPORTED = TargetKind(
    "imported",
    place="host",
    banner="Imported: published by others; nothing of it was measured here.",
)
"""Results that were read from a publication."""

TARGETS = (HOST, SSH, EMULATED, SIM, VM)
"""The kinds that can be run."""

_UNKNOWN = TargetKind("", place="host")
_BY_NAME = {kind.name: kind for kind in (*TARGETS, IMPORTED)}


def split(target: str) -> tuple[TargetKind, str]:
    """Return the kind of a target and what is behind the colon of its name.

    A name that is none of ours is of a kind without a name.
    """
    name, _, which = target.partition(":")
    return _BY_NAME.get(name, _UNKNOWN), which


def kind_of(target: str) -> TargetKind:
    """Return the kind of a target."""
    return split(target)[0]


def known(target: str) -> tuple[TargetKind, str]:
    """Return the kind of a target that can be run, and what is behind the colon of its name.

    Raises:
        UsageError: it cannot be.
    """
    kind, which = split(target)
    if kind not in TARGETS or not kind.fits(which):
        syntaxes = ", ".join(other.syntax for other in TARGETS)
        raise UsageError(f"no target is called '{target}'. There are: {syntaxes}.")
    return kind, which
