"""The scheduling policy that a benchmark's tasks begin with."""

import shlex
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field, model_validator

from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.base.validation import Data
from schedlab.settings.knob import Knob
from schedlab.settings.setting import Around, Setting, Simulated, setting

_LABEL = "policy"
_REALTIME = ("fifo", "rr")
_SLICED = ("normal", "batch")


class Policy(Data):
    """A policy, and what belongs to it."""

    name: Literal["normal", "batch", "idle", "fifo", "rr"]
    priority: Annotated[int, Field(ge=1, le=99)] | None = None
    nice: Annotated[int, Field(ge=-20, le=19)] | None = None
    slice: Annotated[str, Field(pattern=r"^\d+(\.\d+)?(us|ms)$")] | None = None

    @model_validator(mode="after")
    def _fits(self) -> "Policy":
        if (self.name in _REALTIME) != (self.priority is not None):
            raise ValueError(
                "fifo and rr need a priority from 1 to 99, and no other policy has one"
            )
        if self.name in _REALTIME and self.nice is not None:
            raise ValueError(f"{self.name} has no nice value")
        if self.name not in _SLICED and self.slice is not None:
            raise ValueError(f"{self.name} has no slice: normal and batch have")
        return self

    @property
    def words(self) -> list[str]:
        """Return it as it is written on a command line."""
        rest = {"priority": self.priority, "nice": self.nice, "slice": self.slice}
        return [
            self.name,
            *(f"{key}={value}" for key, value in rest.items() if value is not None),
        ]


@setting
class PolicySetting(Setting[Policy | None]):
    """A benchmark's policy."""

    rank = 77
    name = key = "policy"
    value = Policy | None
    syntax = "policy NAME [priority=N] [nice=N] [slice=TIME]"
    example = "policy batch nice=5"
    toml = 'policy = { name = "batch", nice = 5 }'
    help = (
        "the scheduling policy of the benchmark's tasks: `normal`, `batch`, `idle`, or `fifo` and"
        " `rr` with a priority; a nice value; and, simulated, on kernels from 6.12 on, the slice"
        " that a task asks for (100us to 100ms)"
    )

    def parse(self, words: Sequence[str]) -> object:
        """Take the policy's name, and pairs behind it."""
        pairs = [word.partition("=") for word in words[1:]]
        if not words or any(not value or name in ("", "name") for name, _, value in pairs):
            return None
        return {"name": words[0], **{name: value for name, _, value in pairs}}

    def written(self, value: Policy | None) -> Iterable[str]:
        """Write the name and the pairs."""
        return [shlex.join(value.words)] if value else []

    def knobs(self, system: System, value: Policy | None) -> Iterator[tuple[Knob, str]]:
        """Refuse what no tool of a host sets: KnobError."""
        if value and value.slice:
            raise KnobError(
                "policy: a slice is for simulated machines; chrt of util-linux before 2.41 cannot"
                " set it. Change `sched base_slice_ns=` for all tasks of a host."
            )
        return iter(())

    def around(self, value: Policy | None) -> Around:
        """Return chrt and nice before the benchmark."""
        if not value:
            return Around()
        how = "other" if value.name == "normal" else value.name
        nice = ("nice", "-n", str(value.nice)) if value.nice is not None else ()
        return Around(prefix=("chrt", f"--{how}", str(value.priority or 0), *nice))

    def simulated(self, value: Policy | None) -> Iterator[Simulated]:
        """Yield what a scenario's workloads begin with."""
        if not value:
            return
        shown = " ".join(value.words)
        rest = value.model_dump(exclude_none=True, exclude={"name"})
        for key, each in {"policy": value.name, **rest}.items():
            label = _LABEL if key == "policy" else f"{_LABEL} {key}"
            text = shown if key == "policy" else str(each)
            yield _Begun("scheduling", key, each, label, text, _LABEL)


class _Begun(Simulated):
    """A part of what workloads begin with, of which the simulator reads back the whole."""

    def read_back(self, text: str) -> str:
        """Return the part: the policy's own words, or the value of a pair."""
        if self.key == "policy":
            return text
        pairs = dict(word.split("=", 1) for word in text.split() if "=" in word)
        return pairs.get(self.key, "")
