"""A variant: a named set of settings, as data. No file of a host is touched here.

On a command line a variant is `NAME: SETTING; SETTING`; `kinds` has the settings.
"""

import os
import re
from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    model_validator,
)

from schedlab.base.cpulist import parse_cpulist
from schedlab.base.validation import LONGEST_NAME, repeated, validate
from schedlab.settings.kinds import FEATURE, parse_settings, settings_written

_NAME = re.compile(rf"[A-Za-z0-9][A-Za-z0-9._+-]{{0,{LONGEST_NAME - 1}}}")

_READY_SECONDS = 10.0
_LARGEST_VALUE = 4095
"""A page, less the newline behind the value."""


def _cpulist(text: str) -> str:
    if not parse_cpulist(text):
        raise ValueError("names no CPU")
    return text


def _feature(text: str) -> str:
    if not FEATURE.fullmatch(text):
        raise ValueError(f"'{text}' is not a sched feature; use NAME or NO_NAME, in capitals")
    return text


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(
            f"'{text}' is not a name; use letters, digits and . _ + -, at most {LONGEST_NAME}"
        )
    return text


def _argument(text: str) -> str:
    """Refuse what cannot be passed to a program."""
    if "\0" in text or (not text.isascii() and re.search("[\ud800-\udfff]", text)):
        raise ValueError(f"{text!r} cannot be passed to a program")
    return text


def _line(text: str) -> str:
    if not text.replace("\t", " ").isprintable():
        raise ValueError(f"{text!r} has control characters")
    return text


def _filled(text: str) -> str:
    if not text.strip():
        raise ValueError("is empty")
    return _line(text)


def _word(text: str) -> str:
    if len(_filled(text).split()) != 1:
        raise ValueError(f"'{text}' is not one word")
    return text


def _key(text: str) -> str:
    if "=" in _filled(text):
        raise ValueError(f"'{text}' has a '='")
    return text


def _knob_name(text: str) -> str:
    if "" in re.split(r"[./]", text) or " " in _key(text):
        raise ValueError(f"'{text}' is not the name of a knob")
    return text


def _as_text(value: object) -> object:
    """Take a whole number, as plan files have them, for the text that is written to the kernel."""
    if isinstance(value, int) and not isinstance(value, bool):
        if abs(value) >= 2**64:
            raise ValueError("the number is too large: no knob holds more than 64 bits")
        return str(value)
    return value


def _one_write(text: str) -> str:
    if (size := len(os.fsencode(_filled(text)))) > _LARGEST_VALUE:
        raise ValueError(
            f"is {size} bytes long; a kernel file takes at most {_LARGEST_VALUE} in one write"
        )
    return text


KnobName = Annotated[str, AfterValidator(_knob_name)]
Key = Annotated[str, AfterValidator(_key)]
Value = Annotated[str, BeforeValidator(_as_text), AfterValidator(_one_write)]
Word = Annotated[str, AfterValidator(_word)]
Argument = Annotated[str, AfterValidator(_argument)]
Line = Annotated[str, AfterValidator(_line)]
Filled = Annotated[str, AfterValidator(_filled)]


def _command(words: tuple[str, ...]) -> tuple[str, ...]:
    if words and not words[0].strip():
        raise ValueError("the command is empty")
    return words


Words = Annotated[tuple[Argument, ...], AfterValidator(_command)]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IdleState(_Data):
    """An idle state, allowed or not, on all CPUs or those listed."""

    state: Filled
    enabled: bool
    cpus: Annotated[str, AfterValidator(_cpulist)] | None = None


class Companion(_Data):
    """A command that runs beside each run, such as a sched_ext scheduler.

    Where `ready_file` is given, a run starts only when that file holds `ready_value`.
    """

    command: Annotated[Words, Field(min_length=1)]
    ready_file: Filled | None = None
    ready_value: Line | None = None
    ready_seconds: float = Field(default=_READY_SECONDS, gt=0, le=3600, allow_inf_nan=False)

    @model_validator(mode="after")
    def _both_or_none(self) -> "Companion":
        if (self.ready_file is None) != (self.ready_value is None):
            raise ValueError("ready_file and ready_value go together")
        if self.ready_file is None and self.ready_seconds != _READY_SECONDS:
            raise ValueError("ready_seconds is the patience with ready_file, which is missing")
        if self.command[0].startswith("ready_") and "=" in self.command[0]:
            raise ValueError(f"'{self.command[0]}' is not a command")
        return self


class Variant(_Data):
    """What is set before a run and undone after it; no settings is the host as it is."""

    name: Annotated[str, AfterValidator(_name)]
    sysctl: dict[KnobName, Value] = {}
    sched_features: tuple[Annotated[str, AfterValidator(_feature)], ...] = ()
    sched: dict[KnobName, Value] = {}
    cpuidle: tuple[IdleState, ...] = ()
    governor: Word | None = None
    """The cpufreq governor."""
    idle_governor: Word | None = None
    """The cpuidle governor."""
    core_sched: Literal["benchmark", "process"] | None = None
    """On a simulated machine, who has a core scheduling cookie of its own."""
    env: dict[Key, Argument] = {}
    prefix: Words = ()
    companion: Companion | None = None
    kernel: Annotated[str, AfterValidator(_name)] | None = None
    """On a simulated machine or in a guest, the kernel: a tree or build of `schedlab kernel`."""
    cmdline: Line = ""
    """In a guest, options of the kernel's command line."""
    boot: dict[Key, Filled] = {}
    """What a boot must be for this variant: rows of the platform table, whole or a word of them."""

    def fits(self, platform: Mapping[str, str]) -> bool:
        """Return whether the variant can be run on a platform, as it has been booted."""
        return all(
            wanted == platform.get(row) or wanted in platform.get(row, "").split()
            for row, wanted in self.boot.items()
        )

    @model_validator(mode="after")
    def _no_contradiction(self) -> "Variant":
        twice = repeated(feature.removeprefix("NO_") for feature in self.sched_features)
        if twice:
            raise ValueError(f"sched_features sets {twice} twice")
        switched: dict[str, set[int] | None] = {}
        for idle in self.cpuidle:
            cpus = set(parse_cpulist(idle.cpus)) if idle.cpus else None
            before = switched.get(idle.state, set())
            if idle.state in switched and (cpus is None or before is None or cpus & before):
                raise ValueError(f"cpuidle sets {idle.state} twice")
            switched[idle.state] = None if cpus is None else cpus | (before or set())
        return self


def without_idle_state(name: str, state: str, cpus: str | None = None) -> str:
    """Return, as `--variant` takes it, a variant that leaves out an idle state.

    Names of idle states may have blanks, those of variants may not.
    """
    idle = IdleState(state=state, enabled=False, cpus=cpus)
    variant = Variant(name=re.sub(r"[^A-Za-z0-9._+-]", "-", name), cpuidle=(idle,))
    return f"{variant.name}: {'; '.join(settings_written(variant))}"


def parse_variant(text: str) -> Variant:
    """Parse a variant as written on a command line.

    Raises:
        UsageError: an unknown kind of setting, one that is not complete, or given twice.
    """
    name, _, rest = text.partition(":")
    where = f"--variant '{name.strip()}'"
    return validate({"name": name.strip(), **parse_settings(rest, where)}, Variant, where)
