"""Types of options: paths, and names that a shell completes, of all that is listed."""

import os
from collections.abc import Callable, Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from schedlab.base.data import machine_file
from schedlab.cli.variants import AUTO


class Name(click.ParamType[str]):
    """A name of a known kind.

    `names` is called when a shell asks, as what it needs to import would slow every command. An
    unknown name is refused by `check`, which must be quick, or else by the code that uses the name.
    """

    name = "name"

    def __init__(
        self,
        names: Callable[[], Iterable[str]],
        *,
        file: bool = False,
        several: bool = False,
        check: Callable[[str], object] = str,
    ) -> None:
        """Take the function that lists the names; `file` allows a path, `several` commas."""
        self.names = names
        self.file = file
        self.several = several
        self.check = check

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the name; UsageError where `check` refuses it."""
        self.check(value)
        return value

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so; of a path, the word for the shell to look itself."""
        if self.file and (incomplete.startswith((".", "~")) or "/" in incomplete):
            return [CompletionItem(incomplete, type="file")]
        before = incomplete[: incomplete.rfind(",") + 1] if self.several else ""
        word = incomplete.removeprefix(before)
        return [CompletionItem(before + name) for name in self.names() if name.startswith(word)]


class NewFile(click.Path):
    """A file to write: a folder that is not there is refused before anything is made for it."""

    def convert(
        self,
        value: str | os.PathLike[str],
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str | bytes | os.PathLike[str]:
        """Return the path; a usage error where no file can be made there."""
        path = Path(value)
        if value == "-":
            self.fail("'-' is not the name of a file.", param, ctx)
        if not path.absolute().parent.is_dir():
            self.fail(f"there is no folder '{path.parent}'.", param, ctx)
        of_system = path.absolute().parts[1] in ("dev", "proc")
        if path.is_symlink() and (path.is_file() or not path.exists()) and not of_system:
            self.fail(
                f"'{path}' is a symbolic link to '{os.path.realpath(path)}', which would be"
                " overwritten; name that file itself.",
                param,
                ctx,
            )
        return super().convert(value, param, ctx)


class VariantName(click.ParamType[str]):
    """A variant, `NAME: SETTING; ...`; a shell completes the setting that is being written."""

    name = "variant"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the variant with its last setting completed, or with its value where it names one.

        The names of variants are free; `auto` is the only one that says something.
        """
        before = max(incomplete.find(":"), incomplete.rfind(";")) + 1
        if not before:
            return [CompletionItem(AUTO)] if AUTO.startswith(incomplete) else []
        word = incomplete[before:].lstrip()
        text = incomplete[: len(incomplete) - len(word)]
        text += " " if text.endswith((":", ";")) else ""
        return [CompletionItem(text + each) for each in _settings() if each.startswith(word)]


class BenchmarkName(Name):
    """A benchmark, `NAME:KEY=VALUE,...`; a shell completes the key that is being written."""

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Return the names that begin so, or the benchmark with the keys that begin so."""
        from schedlab.benchmarks import all_benchmarks

        name, colon, _ = incomplete.partition(":")
        if not colon:
            return super().shell_complete(ctx, param, incomplete)
        before = max(len(name), incomplete.rfind(",")) + 1
        text, word = incomplete[:before], incomplete[before:]
        keys = (key for each in all_benchmarks() if each.name == name for key in each.defaults)
        return [CompletionItem(f"{text}{key}=") for key in keys if key.startswith(word)]


def _settings() -> Iterable[str]:
    from schedlab.settings.kinds import listed_settings
    from schedlab.settings.kinds.kernel import Kernel

    for kind in listed_settings():
        yield from kind.offered()
        if isinstance(kind, Kernel):
            yield from (f"{kind.head}{name}" for name in _kernels())


def _commands() -> Iterable[str]:
    from schedlab.cli import schedlab

    return schedlab.list_commands(click.Context(schedlab))


def _plans() -> Iterable[str]:
    from schedlab.plan.plan import all_plans

    return all_plans()


def _suites() -> Iterable[str]:
    from schedlab.plan.plan import all_suites

    return all_suites()


def _machines() -> Iterable[str]:
    from schedlab.machine.model import known_machines

    return known_machines()


def _benchmarks() -> Iterable[str]:
    from schedlab.benchmarks import all_benchmarks

    return [benchmark.name for benchmark in all_benchmarks()]


def _kernels() -> Iterable[str]:
    from schedlab.kernels.shelf import Shelf

    return sorted(set(Shelf().names()))


def _targets() -> Iterable[str]:
    from schedlab.plan.targets import TARGETS

    offered = {"MACHINE": _machines, "KERNEL": _kernels}
    for kind in TARGETS:
        yield from map(kind.target, offered.get(kind.takes, lambda: [""])())


def _counters() -> Iterable[str]:
    from schedlab.counters import all_groups

    return all_groups()


def _patches() -> Iterable[str]:
    from schedlab.kernels.shipped import patched_series, shipped_patches

    return sorted({name for series in patched_series() for name in shipped_patches(series)})


def _published() -> Iterable[str]:
    from schedlab.base.data import known_names

    return known_names("published")


def _pages() -> Iterable[str]:
    from schedlab.base.data import manual_pages

    return manual_pages()


def _checks() -> Iterable[str]:
    from schedlab.lab.checks.files import known_checks

    return known_checks()


def _check_target(name: str) -> None:
    from schedlab.plan.targets import known

    kind, which = known(name)
    if kind.simulated:
        machine_file(which)


def _check_benchmark(text: str) -> None:
    from schedlab.benchmarks import find_benchmark

    find_benchmark(text.partition(":")[0].strip(), "--benchmark")


ANY_PATH: click.Path = click.Path(path_type=Path)
FILE: click.Path = click.Path(path_type=Path, dir_okay=False)
NEW_FILE: click.Path = NewFile(path_type=Path, dir_okay=False)
FOLDER: click.Path = click.Path(path_type=Path, file_okay=False)

VARIANT = VariantName()
COMMAND = Name(_commands)
PLAN = Name(_plans, file=True)
SUITE = Name(_suites, file=True)
MACHINE = Name(_machines, file=True, check=machine_file)
BENCHMARK = BenchmarkName(_benchmarks, check=_check_benchmark)
ONLY = Name(_benchmarks)
KERNEL = Name(_kernels)
TARGET = Name(_targets, check=_check_target)
COUNTERS = Name(_counters, several=True)
PATCH = Name(_patches, file=True)
PUBLISHED = Name(_published)
PAGE = Name(_pages)
CHECK = Name(_checks, file=True)
