"""The kinds of settings a variant can have: how each is written, what it does, and where.

All that lists kinds derives from `KINDS`: the grammar of `--variant` with its errors and help,
what a report calls a variant, what a target refuses. A test holds the docs against it.
"""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from schedlab.base.errors import UsageError, nearest

FEATURE = re.compile(r"[A-Z][A-Z0-9_]*")

PLACES = {
    "host": ("a host", "--target host or ssh:HOST"),
    "sim": ("a simulated machine", "--target sim:MACHINE"),
    "vm": ("a guest", "--target vm:KERNEL"),
}
"""Where runs happen, and how one asks for it."""

# Between quotes and behind a backslash a semicolon or a newline is part of the setting.
_SETTING = re.compile(
    r"""(?:'[^']*(?:'|\Z)|"(?:\\.|[^"\\])*(?:"|\\?\Z)|\\(?:.|\Z)|[^;\n'"\\])+""", re.DOTALL
)
_KERNEL = re.compile(r"^kernel\s*=\s*")
_READY = re.compile(r"(ready_file|ready_value|ready_seconds)=(.*)", re.DOTALL)


@dataclass(frozen=True)
class Kind:
    """A kind of setting."""

    name: str
    """What it is called, and begins with on a command line."""
    field: str
    """Its key in a plan file."""
    syntax: str
    example: str
    toml: str
    """The example as a line of a plan file."""
    help: str
    where: frozenset[str]
    """The places in which it means something."""
    elsewhere: str
    """Why it means nothing elsewhere."""
    parse: Callable[[Sequence[str]], object]
    """Gives the key's value from the words behind the name; None where they are not complete."""
    written: Callable[[Any], Iterable[str]]
    """Gives the words behind the name, for each setting that the key's value holds."""


def _pair(words: Sequence[str]) -> dict[str, str] | None:
    key, equals, value = " ".join(words).partition("=")
    return {key: value} if key and equals else None


def _pairs(table: Mapping[str, object]) -> Iterator[str]:
    return (shlex.quote(f"{key}={value}") for key, value in table.items())


def _one(words: Sequence[str]) -> str | None:
    return words[0] if len(words) == 1 and words[0] else None


def _quoted(word: str) -> list[str]:
    return [shlex.quote(word)]


def _command(words: Sequence[str]) -> list[str] | None:
    return list(words) or None


def _options(words: Sequence[str]) -> str | None:
    return " ".join(words) or None


def _options_written(options: str) -> list[str]:
    try:
        plain = " ".join(shlex.split(options)) == options and not re.search(r"[;\n]", options)
    except ValueError:
        plain = False
    return [options if plain else shlex.quote(options)]


def _idle_state(words: Sequence[str]) -> list[dict[str, object]] | None:
    state: dict[str, object] = {}
    for word in words:
        key, _, value = word.rpartition("=")
        if value in ("on", "off") and "state" not in state:
            state |= {"state": key, "enabled": value == "on"}
        elif key == "cpus" and "cpus" not in state:
            state["cpus"] = value
        else:
            return None
    return [state] if state.get("state") else None


def _idle_states_written(states: Iterable[Any]) -> Iterator[str]:
    for idle in states:
        cpus = [f"cpus={idle.cpus}"] if idle.cpus else []
        yield shlex.join([f"{idle.state}={'on' if idle.enabled else 'off'}", *cpus])


def _companion(words: Sequence[str]) -> dict[str, object] | None:
    rest = list(words)
    fields: dict[str, object] = {}
    while rest and (option := _READY.fullmatch(rest[0])) and option[1] not in fields:
        fields[option[1]] = option[2]
        del rest[0]
    return {"command": rest, **fields} if rest else None


def _companion_written(companion: Any) -> list[str]:
    fields = companion.model_dump(exclude_defaults=True, exclude={"command"})
    return [shlex.join([*(f"{key}={value}" for key, value in fields.items()), *companion.command])]


_EVERYWHERE = frozenset(PLACES)
_REAL = frozenset({"host", "vm"})
_NO_PROGRAM = "what runs there is a model, not a program"

KINDS = (
    Kind(
        name="sched feature",
        field="sched_features",
        syntax="[NO_]FEATURE",
        example="NO_WA_IDLE",
        toml='sched_features = ["NO_WA_IDLE"]',
        help="a sched feature, on (`NAME`) or off (`NO_NAME`)",
        where=_EVERYWHERE,
        elsewhere="",
        parse=lambda words: list(words),
        written=lambda features: features,
    ),
    Kind(
        name="sysctl",
        field="sysctl",
        syntax="sysctl NAME=VALUE",
        example="sysctl kernel.numa_balancing=0",
        toml='sysctl = { "kernel.numa_balancing" = 0 }',
        help="a sysctl",
        where=_EVERYWHERE,
        elsewhere="",
        parse=_pair,
        written=_pairs,
    ),
    Kind(
        name="sched",
        field="sched",
        syntax="sched NAME=VALUE",
        example="sched base_slice_ns=3000000",
        toml="sched = { base_slice_ns = 3000000 }",
        help="a tunable in `/sys/kernel/debug/sched` (before 5.13: the sysctl `kernel.sched_*`), or"
        " `x86/sched_itmt_enabled` beside it",
        where=_EVERYWHERE,
        elsewhere="",
        parse=_pair,
        written=_pairs,
    ),
    Kind(
        name="cpuidle",
        field="cpuidle",
        syntax="cpuidle STATE=off [cpus=LIST]",
        example="cpuidle C6=off cpus=0-3",
        toml='cpuidle = [{ state = "C6", enabled = false, cpus = "0-3" }]',
        help="an idle state, by name or `stateN`, on all CPUs or some",
        where=_EVERYWHERE,
        elsewhere="",
        parse=_idle_state,
        written=_idle_states_written,
    ),
    Kind(
        name="idle-governor",
        field="idle_governor",
        syntax="idle-governor NAME",
        example="idle-governor teo",
        toml='idle_governor = "teo"',
        help="the cpuidle governor, one of `/sys/devices/system/cpu/cpuidle/available_governors`",
        where=_EVERYWHERE,
        elsewhere="",
        parse=_one,
        written=_quoted,
    ),
    Kind(
        name="governor",
        field="governor",
        syntax="governor NAME",
        example="governor performance",
        toml='governor = "performance"',
        help="the cpufreq governor of every CPU",
        where=_EVERYWHERE,
        elsewhere="",
        parse=_one,
        written=_quoted,
    ),
    Kind(
        name="core-sched",
        field="core_sched",
        syntax="core-sched WHOM",
        example="core-sched process",
        toml='core_sched = "process"',
        help="core scheduling: SMT siblings run tasks of one cookie only. `benchmark`: its tasks"
        " share one; `process`: each of its processes has its own",
        where=frozenset({"sim"}),
        elsewhere="a program asks for its own cookie; write `prefix coresched new --`",
        parse=_one,
        written=_quoted,
    ),
    Kind(
        name="env",
        field="env",
        syntax="env NAME=VALUE",
        example="env NAME=VALUE",
        toml='env = { NAME = "VALUE" }',
        help="the benchmark's environment",
        where=_REAL,
        elsewhere=_NO_PROGRAM,
        parse=_pair,
        written=_pairs,
    ),
    Kind(
        name="prefix",
        field="prefix",
        syntax="prefix COMMAND",
        example="prefix taskset -c 0-3",
        toml='prefix = ["taskset", "-c", "0-3"]',
        help="a command before the benchmark's (numactl, chrt, ...)",
        where=_REAL,
        elsewhere=_NO_PROGRAM,
        parse=_command,
        written=lambda words: [shlex.join(words)],
    ),
    Kind(
        name="companion",
        field="companion",
        syntax="companion [ready_file=FILE ready_value=TEXT] COMMAND",
        example="companion ready_file=/sys/kernel/sched_ext/state ready_value=enabled scx_simple",
        toml='companion = { command = ["scx_simple"], ready_file = "/sys/kernel/sched_ext/state",'
        ' ready_value = "enabled" }',
        help="a command that runs beside each run, such as a sched_ext scheduler; with"
        " `ready_file` the run waits until that file holds `ready_value` (`ready_seconds`, 10 if"
        " not given, at most)",
        where=_REAL,
        elsewhere="no program runs there",
        parse=_companion,
        written=_companion_written,
    ),
    Kind(
        name="kernel",
        field="kernel",
        syntax="kernel=NAME",
        example="kernel=ilb-util",
        toml='kernel = "ilb-util"',
        help="the kernel: a tree or build of `schedlab kernel` (docs/manual/kernels.md)",
        where=frozenset({"sim", "vm"}),
        elsewhere="a host runs the kernel it has booted",
        parse=_one,
        written=_quoted,
    ),
    Kind(
        name="cmdline",
        field="cmdline",
        syntax="cmdline OPTIONS",
        example="cmdline isolcpus=2,3",
        toml='cmdline = "isolcpus=2,3"',
        help="options of the kernel's command line (docs/manual/vm.md); simulated: `isolcpus=LIST`,"
        " `psi=0`, `psi=1`",
        where=frozenset({"sim", "vm"}),
        elsewhere="only a guest is booted for a run",
        parse=_options,
        written=_options_written,
    ),
    Kind(
        name="boot",
        field="boot",
        syntax="boot 'ROW=VALUE'",
        example="boot 'NUMA nodes=8'",
        toml='boot = { "NUMA nodes" = "8" }',
        help="nothing: the variant runs only at a boot with this row of the platform table, see"
        " below",
        where=frozenset({"host"}),
        elsewhere="only a host has boots that differ; kernel and cmdline choose what is booted",
        parse=_pair,
        written=_pairs,
    ),
)


def kinds_in(place: str) -> list[Kind]:
    """Return the kinds that mean something in a place."""
    return [kind for kind in KINDS if place in kind.where]


def place_of(target: str) -> str:
    """Return the place in which a target's runs happen; an emulated or remote host is a host."""
    kind, _, _ = target.partition(":")
    return kind if kind in PLACES else "host"


def check_place(variant: Any, place: str) -> None:
    """Refuse a variant that sets what means nothing in a place.

    Raises:
        UsageError: it does; the message says why, and where it would mean something.
    """
    for kind in KINDS:
        if place not in kind.where and getattr(variant, kind.field):
            where = " or ".join(PLACES[other][1] for other in PLACES if other in kind.where)
            here = ", ".join(kind.name for kind in kinds_in(place))
            raise UsageError(
                f"variant {variant.name}: {kind.name} has no meaning on {PLACES[place][0]}:"
                f" {kind.elsewhere}.\n  It is for {where}. Here there are: {here}."
            )


def syntaxes() -> list[str]:
    """Return how each kind is written, with the places of those that are not for all."""
    return [
        kind.syntax
        if kind.where == _EVERYWHERE
        else f"{kind.syntax} ({', '.join(place for place in PLACES if place in kind.where)})"
        for kind in KINDS
    ]


def settings_written(variant: Any) -> list[str]:
    """Return a variant's settings as the command line has them; `parse_settings` inverts it."""
    return [
        text if kind.field == "sched_features" else f"{_head(kind)}{text}"
        for kind in KINDS
        if (value := getattr(variant, kind.field))
        for text in kind.written(value)
    ]


def _head(kind: Kind) -> str:
    return "kernel=" if kind.field == "kernel" else f"{kind.name} "


def parse_settings(text: str, where: str) -> dict[str, object]:
    """Parse settings separated by semicolons or lines into the keys of a plan file.

    Raises:
        UsageError: an unknown kind, a setting that is not complete, or one that is given twice.
    """
    fields: dict[str, object] = {}
    for part in _SETTING.findall(text):
        if setting := part.strip():
            kind, words = _kind_and_words(setting, where)
            value = kind.parse(words)
            if value is None:
                raise UsageError(f"{where}: '{setting}' is not complete: write it as {kind.syntax}")
            _add(fields, kind, value, f"{where}: '{setting}'")
    return fields


def _kind_and_words(setting: str, where: str) -> tuple[Kind, Sequence[str]]:
    try:
        name, *words = shlex.split(_KERNEL.sub("kernel ", setting))
    except ValueError as error:
        raise UsageError(f"{where}: '{setting}': {error}") from None
    by_name = {kind.name: kind for kind in KINDS if kind.field != "sched_features"}
    if name in by_name:
        return by_name[name], words
    if FEATURE.fullmatch(name) and not words:
        return KINDS[0], [name]
    raise UsageError(
        f"{where}: no setting is called '{name}'.{nearest(name, by_name)}"
        f"\n  Settings: {'; '.join(syntaxes())}."
    )


def _add(fields: dict[str, object], kind: Kind, value: object, where: str) -> None:
    """Add a setting to those of its kind."""
    before = fields.get(kind.field)
    if isinstance(before, dict) and isinstance(value, dict) and kind.parse is _pair:
        if before.keys() & value.keys():
            raise UsageError(f"{where}: {kind.name} {next(iter(value))} is set twice")
        fields[kind.field] = before | value
    elif isinstance(before, list) and isinstance(value, list) and kind.parse is not _command:
        fields[kind.field] = before + value
    elif before is not None:
        raise UsageError(f"{where}: {kind.name} is set twice")
    else:
        fields[kind.field] = value
