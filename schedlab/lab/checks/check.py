"""A check: a scenario, the machines, kernels and seeds it runs on, and what must hold."""

import hashlib
import re
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator, Field, model_validator

from schedlab.base.data import is_path
from schedlab.base.series import USUAL
from schedlab.base.validation import load_toml
from schedlab.lab.checks.expect import parse_expectation
from schedlab.lab.checks.expect.expectation import Expectation
from schedlab.lab.checks.text import CheckData

PATCHES = "patches"
"""Beside the folder of a check: SERIES/NAME.patch brings its bug back."""

_COMMIT = re.compile(r"[0-9a-f]{12,40}")
_SERIES = re.compile(r"\d+\.\d+")


def _commit(text: str) -> str:
    if not _COMMIT.fullmatch(text):
        raise ValueError(f"'{text}' is not a commit; write at least 12 hexadecimal digits")
    return text


def _series(text: object) -> object:
    if not isinstance(text, str) or not _SERIES.fullmatch(text):
        raise ValueError(f'{text!r} is not a kernel series; write it as "6.12"')
    return text


Commit = Annotated[str, BeforeValidator(_commit)]
Series = Annotated[str, BeforeValidator(_series)]
Expected = Annotated[Expectation, BeforeValidator(parse_expectation)]
Text = Annotated[str, Field(min_length=1, max_length=4000)]


class Bug(CheckData):
    """The bug that a check is for. Its patch makes a kernel that has it."""

    fix: Commit
    """The commit that mended it."""
    confirmed: bool = True
    """Whether the commit was seen in a copy of the kernel's history, or in a public text."""
    mended: Series
    """The first series with it."""
    what: Text
    """What goes wrong, in a sentence."""


class Benchmark(CheckData):
    """One of `schedlab list benchmarks`."""

    name: str
    params: dict[str, int | str] = Field(default={})


class Check(CheckData):
    """The content of a check's file."""

    title: Text
    machines: Annotated[tuple[str, ...], Field(min_length=1, strict=False)]
    kernels: Annotated[tuple[str, ...], Field(min_length=1, strict=False)] = (USUAL,)
    since: Series | None = None
    """Kernels of older series are left out."""
    before: Series | None = None
    """Kernels of this series and later ones are left out."""
    seeds: Annotated[int, Field(ge=1, le=1000)] = 1
    """How many: 1, 2, ..."""
    settings: str = ""
    """As a variant of a plan has them."""
    config: Annotated[tuple[str, ...], Field(strict=False)] = ()
    """Options of the kernel's configuration that the check needs, as `CPUSETS=y`."""
    benchmark: Benchmark | None = None
    """Instead of a scenario."""
    scenario: dict[str, Any] = Field(default={})
    """The engine's (docs/internals/engine.md)."""
    expect: Annotated[tuple[Expected, ...], Field(strict=False)] = ()
    bug: Bug | None = None

    @model_validator(mode="after")
    def _one_load(self) -> "Check":
        if bool(self.benchmark) == bool(self.scenario):
            raise ValueError("has either a benchmark or a scenario; give one of the two")
        if self.scenario and not (self.scenario.get("tasks") or self.scenario.get("workloads")):
            raise ValueError("scenario: has neither tasks nor workloads, so nothing would run")
        return self


class Named:
    """A check and the file it is from."""

    def __init__(self, path: Path) -> None:
        """Read the file; UsageError if it cannot be read or does not fit."""
        self.path = path
        self.name = path.stem
        self.check = load_toml(path, Check)

    def beside(self, name: str) -> Path:
        """Return the file that the check names, as seen from its folder."""
        return self.path.parent / name

    def content(self) -> str:
        """Return a name for the content of the file and of those it names beside it."""
        digest = hashlib.sha256(self.path.read_bytes())
        named = [name for name in self.check.machines if is_path(name)]
        workloads = self.check.scenario.get("workloads", [])
        named += [str(each["file"]) for each in workloads if "file" in each]
        for name in named:
            file = self.beside(name)
            digest.update(file.read_bytes() if file.is_file() else b"")
        return digest.hexdigest()[:16]

    def patch(self, series: str) -> Path | None:
        """Return the patch that brings the bug back into a series, if there is one."""
        for folder in (self.path.parent, self.path.parent.parent):
            place = folder / PATCHES / series / f"{self.name}.patch"
            if place.is_file():
                return place
        return None

    def patched_series(self) -> list[str]:
        """Return the series that the bug can be brought back into."""
        found = {
            place.parent.name
            for folder in (self.path.parent, self.path.parent.parent)
            for place in (folder / PATCHES).glob(f"*/{self.name}.patch")
        }
        return sorted(found, key=lambda series: [int(part) for part in series.split(".")])

    def suits(self, series: str) -> bool:
        """Return whether kernels of a series are among those the check is for."""
        number = _number(series)
        after = self.check.since is None or number >= _number(self.check.since)
        return after and (self.check.before is None or number < _number(self.check.before))


def _number(series: str) -> tuple[int, ...]:
    return tuple(int(part) for part in series.split("."))
