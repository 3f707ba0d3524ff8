"""What the user should know of a plan on a host, before its first run."""

from collections.abc import Iterator, Mapping, Sequence

from schedlab.base.system import System
from schedlab.benchmarks import Case, Command
from schedlab.settings.kinds.cgroup import Cgroup
from schedlab.settings.variant import Variant
from schedlab.targets.disturbance import BusyWindow

_BUSY_SHARE = 0.05
_LOOK_BEFORE_START_SECONDS = 0.5


def notes(cases: Sequence[Case], commands: Mapping[str, Command]) -> list[str]:
    """Return the notes of the commands, each note once with the cases it is for."""
    by_note: dict[str, dict[str, None]] = {}
    for case in cases:
        if note := commands[case.label].note:
            by_note.setdefault(note, {})[case.sweep or case.label] = None
    return [f"{', '.join(labels)}: {note}" for note, labels in by_note.items()]


def served(variants: Sequence[Variant], commands: Mapping[str, Command]) -> Iterator[str]:
    """Yield what a variant does not reach: of what is around a command, servers have its cgroup."""
    servers = [label for label, command in commands.items() if command.server]
    for variant in variants if servers else ():
        around = variant.model_copy(update={Cgroup.key: None}).around
        if around.prefix or around.env:
            yield (
                f"{variant.name}: prefix and env go with the benchmark's own command, not with its"
                f" server ({', '.join(servers)})"
            )


def busy_notice(system: System, cpus: int) -> list[str]:
    """Return a notice if the machine is at work for others before the first run."""
    window = BusyWindow(system, cpus)
    system.pause(_LOOK_BEFORE_START_SECONDS)
    share = window.others_share()
    if share < _BUSY_SHARE:
        return []
    return [
        f"this host was busy before the start: other work took {share:.0%} of its CPUs; "
        "results will be noisy, or need many blocks"
    ]
