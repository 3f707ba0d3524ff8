"""The cgroup that a benchmark runs in, and what is written to the group's files."""

import re
import shlex
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Annotated

from pydantic import AfterValidator, BaseModel

from schedlab.base.cpulist import format_cpulist, parse_cpulist
from schedlab.base.errors import KnobError
from schedlab.base.system import System
from schedlab.settings.groups import mounts
from schedlab.settings.knob import FileKnob, Knob
from schedlab.settings.setting import Around, Setting, Simulated, because, setting
from schedlab.settings.text import Value

CGROUPS = "/sys/fs/cgroup"
_PATH = "path"
_GROUP = re.compile(r"[\w.@:-]+(/[\w.@:-]+)*")
_PERCENT = re.compile(r"\d{1,3}(\.\d{1,2})?")
_ALL = "max"
_PERIOD = "100000"
"""What the kernel takes for the period of a cpu.max that has none, in us."""


def _number(least: int, most: int) -> Callable[[str], str]:
    def checked(text: str) -> str:
        if not re.fullmatch(r"-?\d{1,18}", text) or not least <= int(text) <= most:
            raise ValueError(f"'{text}' is not a whole number from {least} to {most}")
        return str(int(text))

    return checked


def _percent(text: str) -> str:
    if text != _ALL and (not _PERCENT.fullmatch(text) or float(text) > 100):
        raise ValueError(f"'{text}' is not a percentage of 0 to 100 with two decimals, or max")
    return _ALL if text == _ALL or float(text) == 100 else f"{float(text):.2f}"


def _quota(text: str) -> str:
    words = text.split()
    numbers = words[1:] if words[:1] == [_ALL] else words
    if not 1 <= len(words) <= 2 or not all(re.fullmatch(r"\d{1,12}", each) for each in numbers):
        raise ValueError(
            f"'{text}' is not a quota and perhaps a period in us, such as '50000 100000' or max"
        )
    return " ".join([*words, _PERIOD][:2])


def _cpus(text: str) -> str:
    cpus = parse_cpulist(text)
    if not cpus:
        raise ValueError("names no CPU")
    return format_cpulist(cpus)


def _partition(text: str) -> str:
    if text not in ("member", "root", "isolated"):
        raise ValueError(f"'{text}' is not member, root or isolated")
    return text


_FILES: Mapping[str, Callable[[str], str]] = {
    "cpu.weight": _number(1, 10000),
    "cpu.weight.nice": _number(-20, 19),
    "cpu.idle": _number(0, 1),
    "cpu.max": _quota,
    "cpu.max.burst": _number(0, 10**12),
    "cpu.uclamp.min": _percent,
    "cpu.uclamp.max": _percent,
    "cpuset.cpus": _cpus,
    "cpuset.cpus.exclusive": _cpus,
    "cpuset.cpus.partition": _partition,
}
"""The files a group has, with what turns a value into the text that the kernel shows."""


def group_path(text: str) -> str:
    """Return a group's path below the root; ValueError if it is none."""
    if not _GROUP.fullmatch(text) or {".", ".."} & set(text.split("/")):
        raise ValueError(f"'{text}' is not a cgroup below {CGROUPS}, such as bench or a/b")
    return text


def _checked(table: dict[str, str]) -> dict[str, str]:
    """Return a group's table as the kernel shows it."""
    if _PATH not in table:
        raise ValueError(f'the group\'s path is missing: {_PATH} = "bench"')
    found = {_PATH: group_path(table[_PATH])}
    for name, value in table.items():
        if name == _PATH:
            continue
        if name not in _FILES:
            raise ValueError(f"a group has no file '{name}' here; there are {', '.join(_FILES)}")
        try:
            found[name] = _FILES[name](value)
        except ValueError as error:
            raise ValueError(f"{name}: {error}") from None
    _check_clamps(found)
    return found


def _check_clamps(group: Mapping[str, str]) -> None:
    least, most = group.get("cpu.uclamp.min", "0"), group.get("cpu.uclamp.max", _ALL)
    if most != _ALL and (least == _ALL or float(least) > float(most)):
        raise ValueError(f"cpu.uclamp.min {least} is above cpu.uclamp.max {most}")


Group = Annotated[dict[str, Value], AfterValidator(_checked)]
"""A group's `path` and its files."""


@setting
class Cgroup(Setting[dict[str, str] | None]):
    """A benchmark's cgroup."""

    rank = 75
    name = key = "cgroup"
    value = Group | None
    syntax = "cgroup PATH [FILE=VALUE ...]"
    example = "cgroup bench cpu.weight=50 'cpu.max=50000 100000'"
    toml = 'cgroup = { path = "bench", "cpu.weight" = 50, "cpu.max" = "50000 100000" }'
    help = (
        "the benchmark runs in this cgroup (version 2), below the root, its server in one below"
        " it, and these are written to"
        f" its files: {', '.join(_FILES)}. On a host the group must exist; a simulated one is made,"
        " with those above it"
    )
    where = frozenset({"host", "sim"})
    elsewhere = because(
        "a guest has no cgroups; `prefix taskset -c LIST` bounds the CPUs there, and `cmdline"
        " isolcpus=LIST` keeps others from them",
        "vm",
    )

    def parse(self, words: Sequence[str]) -> object:
        """Take the path, and a pair for each file behind it."""
        pairs = [word.partition("=") for word in words[1:]]
        files = {name: value for name, _, value in pairs}
        whole = all(name and value for name, value in files.items()) and len(files) == len(pairs)
        return {_PATH: words[0], **files} if whole and words and "=" not in words[0] else None

    def written(self, value: dict[str, str] | None) -> Iterable[str]:
        """Write the path and the pairs."""
        if not value:
            return []
        return [shlex.join([value[_PATH], *(f"{name}={text}" for name, text in files_of(value))])]

    def knobs(self, system: System, value: dict[str, str] | None) -> Iterator[tuple[Knob, str]]:
        """Yield the group's files; KnobError if there is no such group, or it has no such file."""
        if not value:
            return
        if not system.exists(f"{_folder(value)}/cgroup.procs"):
            raise KnobError(_missing(system, value[_PATH]))
        for name, wanted in files_of(value):
            path = f"{_folder(value)}/{name}"
            if not system.exists(path):
                controller = name.partition(".")[0]
                raise KnobError(
                    f"cgroup: {path} is not there. The groups above it must give it the controller"
                    f" {controller} (echo +{controller} > .../cgroup.subtree_control), and the"
                    " kernel must be built with what the file is for."
                )
            yield FileKnob(path, _label(name)), wanted

    def around(self, value: dict[str, str] | None) -> Around:
        """Return a prefix that goes into the group."""
        if not value:
            return Around()
        into = f'echo $$ > {_folder(value)}/cgroup.procs && exec "$@"'
        return Around(prefix=("sh", "-c", into, "sh"))

    def simulated(self, value: dict[str, str] | None) -> Iterator[Simulated]:
        """Yield the group that a scenario makes, and its files."""
        if not value:
            return
        path = f"/{value[_PATH]}"
        yield Simulated("cgroup", _PATH, path, "cgroup", path, "cgroup")
        for name, wanted in files_of(value):
            place = f"{_folder(value)}/{name}"
            yield _File("cgroup", name, wanted, _label(name), wanted, place)


class _File(Simulated):
    """A file of a group: all that it holds is its value."""

    def read_back(self, text: str) -> str:
        """Return the whole text."""
        return text


def folder_of(variant: BaseModel) -> str:
    """Return the folder of a variant's group; empty where it has none."""
    value = Cgroup.of(variant)
    return _folder(value) if value else ""


def files_of(value: Mapping[str, str]) -> list[tuple[str, str]]:
    """Return the files of a group with their texts."""
    return [(name, text) for name, text in value.items() if name != _PATH]


def _folder(value: Mapping[str, str]) -> str:
    return f"{CGROUPS}/{value[_PATH]}"


def _missing(system: System, path: str) -> str:
    """Return a message: there is no group at this path; with the right path if that is known."""
    root = mounts(system)[0] or CGROUPS
    below = root.removeprefix(CGROUPS).strip("/")
    if root.startswith(CGROUPS) and below and path.partition("/")[0] != below:
        return (
            f"cgroup: {CGROUPS}/{path} is no group of version 2, which is mounted at {root} here."
            f" Name it {below}/{path}, and make it first: mkdir {root}/{path}"
        )
    return (
        f"cgroup: {CGROUPS}/{path} is not there. Make the group first (version 2):"
        f" mkdir {CGROUPS}/{path}"
    )


def _label(name: str) -> str:
    return f"cgroup {name}"
