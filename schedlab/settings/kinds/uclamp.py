"""Bounds on the utilisation that a benchmark's tasks show: cpu.uclamp.min and max of a cgroup."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, model_validator

from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.base.validation import Data
from schedlab.settings.knob import FileKnob, Knob
from schedlab.settings.setting import Around, Setting, Simulated, because, setting

_CGROUPS = "/sys/fs/cgroup"
_GROUP = re.compile(r"[\w.@:-]+(/[\w.@:-]+)*")
_PERCENT = re.compile(r"\d{1,3}(\.\d{1,2})?")
_ALL = "max"


def _group(text: str) -> str:
    if not _GROUP.fullmatch(text) or {".", ".."} & set(text.split("/")):
        raise ValueError(f"'{text}' is not a cgroup below {_CGROUPS}, such as bench or a/b")
    return text


def _as_text(value: object) -> object:
    return str(value) if isinstance(value, int | float) and not isinstance(value, bool) else value


def _percent(text: str) -> str:
    """Return a bound as the kernel shows it: `20.00`, or `max` for all."""
    if text != _ALL and (not _PERCENT.fullmatch(text) or float(text) > 100):
        raise ValueError(f"'{text}' is not a percentage of 0 to 100 with two decimals, or max")
    return _ALL if text == _ALL or float(text) == 100 else f"{float(text):.2f}"


Percent = Annotated[str, BeforeValidator(_as_text), AfterValidator(_percent)]


class Uclamp(Data):
    """A cgroup that the benchmark runs in, and its bounds."""

    group: Annotated[str, AfterValidator(_group)]
    min: Percent
    max: Percent

    @model_validator(mode="after")
    def _in_order(self) -> "Uclamp":
        if self.max != _ALL and (self.min == _ALL or float(self.min) > float(self.max)):
            raise ValueError(f"the minimum {self.min} is above the maximum {self.max}")
        return self

    def files(self) -> Iterator[tuple[str, str, str]]:
        """Yield each file's name and path on a host, and what is written to it."""
        for name, value in (("min", self.min), ("max", self.max)):
            yield name, f"{_CGROUPS}/{self.group}/cpu.uclamp.{name}", value


@setting
class UclampSetting(Setting[Uclamp | None]):
    """Bounds of a benchmark's utilisation."""

    rank = 77
    name = key = "uclamp"
    value = Uclamp | None
    syntax = "uclamp CGROUP=MIN..MAX"
    example = "uclamp bench=20..80"
    toml = 'uclamp = { group = "bench", min = 20, max = 80 }'
    help = (
        "the benchmark runs in this cgroup; its cpu.uclamp.min and max, in percent, bound the"
        " utilisation that schedutil and EAS see of its tasks; on a host the group must exist"
    )

    where = frozenset({"host", "sim"})
    elsewhere = because("a guest has no cgroups", "vm")

    def parse(self, words: Sequence[str]) -> object:
        """Split `CGROUP=MIN..MAX` into its parts."""
        group, _, bounds = "".join(words).partition("=")
        least, dots, most = bounds.partition("..")
        whole = len(words) == 1 and group and least and dots and most
        return {"group": group, "min": least, "max": most} if whole else None

    def written(self, value: Uclamp | None) -> Iterable[str]:
        """Write it without the decimals that say nothing."""
        if not value:
            return []
        least, most = (bound.removesuffix(".00") for bound in (value.min, value.max))
        return [f"{value.group}={least}..{most}"]

    def knobs(self, system: System, value: Uclamp | None) -> Iterator[tuple[Knob, str]]:
        """Yield the group's two files; KnobError if there is no such group, or it has no bounds."""
        for name, path, wanted in value.files() if value else ():
            if not system.exists(path):
                raise KnobError(
                    f"uclamp: {path} is not there. Make the cgroup first (version 2, with the"
                    " controller cpu, on a kernel with CONFIG_UCLAMP_TASK_GROUP)."
                )
            yield FileKnob(path, _label(name)), wanted

    def around(self, value: Uclamp | None) -> Around:
        """Return a prefix that goes into the group."""
        if not value:
            return Around()
        into = f'echo $$ > {_CGROUPS}/{value.group}/cgroup.procs && exec "$@"'
        return Around(prefix=("sh", "-c", into, "sh"))

    def simulated(self, value: Uclamp | None) -> Iterator[Simulated]:
        """Yield the group that a scenario makes, and its files."""
        if not value:
            return
        if "/" in value.group:
            raise ValueError(f"uclamp {value.group}: a simulated group has no others above it")
        label = _label("group")
        yield Simulated("uclamp", "group", f"/{value.group}", label, f"/{value.group}", label)
        for name, path, wanted in value.files():
            yield Simulated("uclamp", name, wanted, _label(name), wanted, path)


def _label(name: str) -> str:
    return f"uclamp {name}"
