"""A sched_ext scheduler in place of EEVDF."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator
from pathlib import Path

from schedlab.base.data import is_path
from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.settings.companion import Companion
from schedlab.settings.knob import Knob
from schedlab.settings.setting import (
    Around,
    Simulated,
    TableSetting,
    WordSetting,
    because,
    setting,
)
from schedlab.settings.text import Filled

_STATE = "/sys/kernel/sched_ext/state"
_NONE = "disabled"
_SOURCE = ".bpf.c"
_NAME = re.compile(r"\w+")
_BY_PROGRAM = ("host", "vm")
"""The places where a scheduler's own program loads it."""
_READY_SECONDS = 120.0
"""scx_pair makes 4096 maps before it begins: in an emulated guest, more than ten seconds."""


def file_name(scheduler: str) -> str:
    """Return the name of the source file that `scx=` asks for, by name or by path."""
    if is_source(scheduler):
        return scheduler.rpartition("/")[2]
    return f"scx_{scheduler}{_SOURCE}"


def is_source(scheduler: str) -> bool:
    """Return whether a scheduler is given by its source's path."""
    return is_path(scheduler, _SOURCE)


def from_anywhere(scheduler: str) -> str:
    """Return what `scx=` has, with the whole path of a source."""
    return str(Path(scheduler).expanduser().absolute()) if is_source(scheduler) else scheduler


@setting
class Scx(WordSetting):
    """A scheduler, by name or by the path of its source."""

    rank = 112
    name = key = "scx"
    value = Filled | None
    syntax = "scx=NAME|PATH"
    example = "scx=simple"
    toml = 'scx = "simple"'
    help = (
        "a sched_ext scheduler: one of the kernel tree's `tools/sched_ext` by name, or the path of"
        " a source `x.bpf.c` (docs/manual/scx.md); on a host and in a guest the program `scx_NAME`"
        " that loads it"
    )
    shared = False

    @property
    def head(self) -> str:
        """Return the name as an option has it."""
        return f"{self.name}="

    def check(self, value: str | None) -> None:
        """Refuse what is neither a name nor the path of a source."""
        if value and not _NAME.fullmatch(value) and not file_name(value).endswith(_SOURCE):
            raise ValueError(
                f"scx: '{value}' is neither a scheduler's name nor the path of a source (x.bpf.c)"
            )

    def check_in(self, place: str, value: str | None) -> None:
        """Refuse a path where a program loads the scheduler."""
        if value and is_source(value) and place in _BY_PROGRAM:
            raise ValueError(
                f"scx={value}: a source's path is for the simulator alone: on a host and in a guest"
                " a scheduler's own program loads it. Name it (scx=NAME starts `scx_NAME`), or"
                " start that with `companion`."
            )

    def knobs(self, system: System, value: str | None) -> Iterable[tuple[Knob, str]]:
        """Return nothing: its program loads it; refuse what has no sched_ext, or it in use.

        Raises:
            KnobError: the kernel has no sched_ext, or runs a scheduler already.
        """
        if not value:
            return ()
        if not system.exists(_STATE):
            raise KnobError(
                f"scx={value}: this kernel has no sched_ext: {_STATE} is missing; it takes Linux"
                " 6.12 or newer with CONFIG_SCHED_CLASS_EXT=y."
            )
        state = system.read(_STATE).strip()
        if state != _NONE:
            raise KnobError(
                f"scx={value}: this kernel's sched_ext is {state}: {_STATE}. End the program that"
                " loaded the scheduler there is first."
            )
        return ()

    def around(self, value: str | None) -> Around:
        """Return the scheduler's own program; a run begins when the kernel has enabled it."""
        if not value:
            return Around()
        program = Companion(
            command=(f"scx_{value}",),
            ready_file=_STATE,
            ready_value="enabled",
            ready_seconds=_READY_SECONDS,
        )
        return Around(beside=(program,))

    def simulated(self, value: str | None) -> Iterator[Simulated]:
        """Yield the source, and the name that the kernel runs it by."""
        file = file_name(value or "")
        yield Simulated("sched_ext", "scheduler", file, "scx", value or "", "sched_ext")


class OfScheduler(TableSetting):
    """A table about a simulated scheduler, whose own program would be told on a host."""

    where = frozenset({"sim"})
    shared = False

    @abstractmethod
    def one(self, name: str, wanted: str) -> Simulated:
        """Return what an entry writes into a scenario."""

    def simulated(self, value: dict[str, str]) -> Iterator[Simulated]:
        """Yield each, by name."""
        return (self.one(name, wanted) for name, wanted in sorted(value.items()))


def by_program(how: str) -> dict[str, str]:
    """Return why such a table means nothing where the scheduler's own program loads it."""
    return because(f"its own program loads it there; {how}", *_BY_PROGRAM)
