"""A sched_ext scheduler in place of EEVDF."""

import re
from collections.abc import Iterator

from schedlab.base.data import is_path
from schedlab.settings.setting import Simulated, WordSetting, because, setting
from schedlab.settings.text import Filled

ELSEWHERE = because("its own program loads it there; start that with `companion`", "host", "vm")
_SOURCE = ".bpf.c"
_NAME = re.compile(r"\w+")


def file_name(scheduler: str) -> str:
    """Return the name of the source file that `scx=` asks for, by name or by path."""
    if is_source(scheduler):
        return scheduler.rpartition("/")[2]
    return f"scx_{scheduler}{_SOURCE}"


def is_source(scheduler: str) -> bool:
    """Return whether a scheduler is given by its source's path."""
    return is_path(scheduler, _SOURCE)


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
        " a source `x.bpf.c` (docs/manual/scx.md)"
    )
    where = frozenset({"sim"})
    elsewhere = ELSEWHERE
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

    def simulated(self, value: str | None) -> Iterator[Simulated]:
        """Yield the source, and the name that the kernel runs it by."""
        file = file_name(value or "")
        yield Simulated("sched_ext", "scheduler", file, "scx", value or "", "sched_ext")
