"""A variant: a named set of settings, as data. No file of a host is touched here.

On a command line a variant is `NAME: SETTING; SETTING`, with settings

    NO_WA_IDLE                              a sched feature, on or off
    sysctl kernel.numa_balancing=0
    sched base_slice_ns=3000000             a tunable in debugfs
    cpuidle C6=off [cpus=0-3]
    governor performance
    env NAME=VALUE
    prefix taskset -c 0-3                   a command put before the benchmark
    companion scx_simple                    a command that runs beside it
    kernel=NAME                             on a simulated machine or in a guest, the kernel
    cmdline isolcpus=2-3                    in a guest, options of the kernel's command line
    boot 'NUMA nodes=8'                     only at a boot with this row of the platform table
"""

import re
import shlex
from collections.abc import Mapping
from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from schedlab.cpulist import parse_cpulist
from schedlab.errors import UsageError, nearest
from schedlab.validation import validate

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")
_FEATURE = re.compile(r"[A-Z][A-Z0-9_]*")


def _cpulist(text: str) -> str:
    if not parse_cpulist(text):
        raise ValueError("names no CPU")
    return text


def _feature(text: str) -> str:
    if not _FEATURE.fullmatch(text):
        raise ValueError(f"'{text}' is no feature; write NAME or NO_NAME in capitals")
    return text


def _name(text: str) -> str:
    if not _NAME.fullmatch(text):
        raise ValueError(f"'{text}' is no name; use letters, digits and . _ + -")
    return text


def _knob_name(text: str) -> str:
    if not text or ".." in text or text.startswith("/") or not text.isprintable() or " " in text:
        raise ValueError(f"'{text}' is no knob")
    return text


KnobName = Annotated[str, AfterValidator(_knob_name)]
Value = int | str
Words = Annotated[tuple[str, ...], Field(min_length=1)]


class _Data(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class IdleState(_Data):
    """An idle state, allowed or not, on all CPUs or those listed."""

    state: str = Field(min_length=1)
    enabled: bool
    cpus: Annotated[str, AfterValidator(_cpulist)] | None = None


class Companion(_Data):
    """A command that runs beside each run, such as a sched_ext scheduler.

    Where `ready_file` is given, a run starts only when that file holds `ready_value`.
    """

    command: Words
    ready_file: str | None = None
    ready_value: str | None = None
    ready_seconds: float = Field(default=10.0, gt=0)

    @model_validator(mode="after")
    def _both_or_none(self) -> "Companion":
        if (self.ready_file is None) != (self.ready_value is None):
            raise ValueError("ready_file and ready_value go together")
        return self


class Variant(_Data):
    """What is set before a run and undone after it; no settings is the host as it is."""

    name: Annotated[str, AfterValidator(_name)]
    sysctl: dict[KnobName, Value] = {}
    sched_features: tuple[Annotated[str, AfterValidator(_feature)], ...] = ()
    sched: dict[KnobName, Value] = {}
    cpuidle: tuple[IdleState, ...] = ()
    governor: str | None = None
    """The cpufreq governor."""
    idle_governor: str | None = None
    """The cpuidle governor."""
    env: dict[str, str] = {}
    prefix: tuple[str, ...] = ()
    companion: Companion | None = None
    kernel: Annotated[str, AfterValidator(_name)] | None = None
    """On a simulated machine or in a guest, the kernel: a tree or build of `schedlab kernel`."""
    cmdline: str = ""
    """In a guest, options of the kernel's command line."""
    boot: dict[str, str] = {}
    """What a boot must be for this variant: rows of the platform table, whole or a word of them."""

    def fits(self, platform: Mapping[str, str]) -> bool:
        """Tell whether the variant can be run on a platform, as it has been booted."""
        return all(
            wanted == platform.get(row) or wanted in platform.get(row, "").split()
            for row, wanted in self.boot.items()
        )

    @model_validator(mode="after")
    def _no_contradiction(self) -> "Variant":
        names = [feature.removeprefix("NO_") for feature in self.sched_features]
        for name in names:
            if names.count(name) > 1:
                raise ValueError(f"sched_features sets {name} twice")
        return self


def parse_variant(text: str) -> Variant:
    """Read a variant as written on a command line.

    Raises:
        UsageError: an unknown kind of setting, or one that is not complete.
    """
    name, _, rest = text.partition(":")
    fields: dict[str, object] = {"name": name.strip()}
    for setting in re.split(r"[;\n]", rest):
        if setting.strip():
            _add_setting(fields, setting.strip(), f"--variant '{name.strip()}'")
    return validate(fields, Variant, f"--variant '{name.strip()}'")


def _add_setting(fields: dict[str, object], setting: str, where: str) -> None:
    try:
        kind, *words = shlex.split(re.sub(r"^kernel\s*=\s*", "kernel ", setting))
    except ValueError as error:
        raise UsageError(f"{where}: '{setting}': {error}") from None
    match kind:
        case "sysctl" | "sched":
            key, value = _pair(words, setting, where)
            _table(fields, kind)[key] = value
        case "env" | "boot":
            key, value = _pair([" ".join(words)], setting, where)
            _table(fields, kind)[key] = value
        case "cpuidle":
            _list(fields, "cpuidle").append(_idle_state(words, setting, where))
        case "governor" | "idle-governor" | "kernel" if len(words) == 1:
            fields[kind.replace("-", "_")] = words[0]
        case "cmdline" if words:
            fields["cmdline"] = " ".join(words)
        case "prefix" if words:
            fields["prefix"] = words
        case "companion" if words:
            fields["companion"] = {"command": words}
        case _ if _FEATURE.fullmatch(kind) and not words:
            _list(fields, "sched_features").append(kind)
        case "governor" | "idle-governor" | "kernel" | "cmdline" | "prefix" | "companion":
            raise UsageError(f"{where}: '{setting}' is not complete; see `schedlab run --help`.")
        case _:
            kinds = (
                *("sysctl", "sched", "cpuidle", "idle-governor", "governor", "env", "prefix"),
                *("companion", "kernel", "boot", "cmdline"),
            )
            raise UsageError(
                f"{where}: no setting is called '{kind}'.{nearest(kind, kinds)}"
                f"\n  Settings: {', '.join(kinds)}, or a sched feature such as NO_WA_IDLE."
            )


def _pair(words: list[str], setting: str, where: str) -> tuple[str, str]:
    key, equals, value = words[0].partition("=") if len(words) == 1 else ("", "", "")
    if not (key and equals and value):
        raise UsageError(f"{where}: '{setting}': write it as {setting.split()[0]} NAME=VALUE")
    return key, value


def _idle_state(words: list[str], setting: str, where: str) -> dict[str, object]:
    state: dict[str, object] = {}
    for word in words:
        key, _, value = word.partition("=")
        if key == "cpus":
            state["cpus"] = value
        elif value in ("on", "off") and "state" not in state:
            state |= {"state": key, "enabled": value == "on"}
        else:
            raise UsageError(f"{where}: '{setting}': write it as cpuidle C6=off cpus=0-3")
    return state


def _table(fields: dict[str, object], key: str) -> dict[str, str]:
    table = fields.setdefault(key, {})
    assert isinstance(table, dict)
    return table


def _list(fields: dict[str, object], key: str) -> list[object]:
    values = fields.setdefault(key, [])
    assert isinstance(values, list)
    return values
