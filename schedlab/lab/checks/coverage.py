"""Which lines and functions of the scheduler ran: what simulators counted, read with gcov.

A simulator that counts lines adds its counts, as it ends, to a file of each object below the folder
that GCOV_PREFIX names; runs of many processes add up there. gcc's notes on an object lie beside it.
"""

import gzip
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from schedlab.kernels import KernelError

PREFIX = "GCOV_PREFIX"
"""The variable that says where a simulator writes its counts."""

_COUNTS = ".gcda"
_NOTES = ".gcno"
_SCHEDULER = re.compile(r"(?:.*/)?(?<!/hooked/)kernel/sched/([\w./-]+)$")
"""Not the engine's own, which stand below `hooked` under the same names."""
_TEXT = re.compile(r"^[0-9a-f]+ [tTwW] (\w+?)(?:\.(?:part|constprop|isra|cold)\.?\d*)*$", re.M)


@dataclass(frozen=True)
class Function:
    """A function of a file: where it stands, and whether it ran."""

    name: str
    first: int
    last: int
    ran: bool
    linked: bool
    """Whether the simulator has it: the linker drops what nothing calls. What is inlined it has."""


@dataclass
class File:
    """A file of kernel/sched in one kernel."""

    name: str
    lines: dict[int, bool] = field(default_factory=dict)
    """Each line that has code, and whether it ran."""
    functions: dict[str, Function] = field(default_factory=dict)
    source: Path | None = None

    @cached_property
    def can_run(self) -> set[int]:
        """Return the lines outside functions that the linker dropped."""
        dropped = {line for each in self.dropped for line in range(each.first, each.last + 1)}
        return set(self.lines) - dropped

    @property
    def ran(self) -> int:
        """Return how many lines ran."""
        return sum(self.lines.values())

    def has_run(self, function: Function) -> bool:
        """Return whether a function ran, by itself or inlined where it is called."""
        lines = range(function.first, function.last + 1)
        return function.ran or any(self.lines.get(line, False) for line in lines)

    def code(self, function: Function) -> list[int]:
        """Return the lines of a function that have code."""
        return [line for line in range(function.first, function.last + 1) if line in self.lines]

    def missing(self, function: Function) -> list[int]:
        """Return the lines of a function that did not run."""
        return [line for line in self.code(function) if not self.lines[line]]

    @property
    def partly(self) -> list[Function]:
        """Return the functions that ran, but not all lines of which did, in the file's order."""
        found = [each for each in self.functions.values() if self.has_run(each)]
        return sorted((e for e in found if self.missing(e)), key=lambda each: each.first)

    @property
    def silent(self) -> list[Function]:
        """Return the functions that could run and did not, in the file's order."""
        found = [each for each in self.functions.values() if each.linked and not self.has_run(each)]
        return sorted(found, key=lambda each: each.first)

    @property
    def dropped(self) -> list[Function]:
        """Return the functions that the linker dropped, in the file's order."""
        found = [
            each for each in self.functions.values() if not each.linked and not self.has_run(each)
        ]
        return sorted(found, key=lambda each: each.first)


@dataclass(frozen=True)
class Covered:
    """What ran of one kernel's scheduler."""

    kernel: str
    files: list[File]

    def file(self, name: str) -> File | None:
        """Return one file, if it was compiled."""
        return next((each for each in self.files if each.name == name), None)


def read_coverage(folder: Path) -> list[Covered]:
    """Return what the runs that counted into a folder covered, kernel by kernel.

    Raises:
        KernelError: nothing was counted, gcov is missing, or a build that counted is gone.
    """
    found: dict[Path, list[Path]] = {}
    for counts in sorted(folder.rglob(f"*{_COUNTS}")):
        of_object = Path("/") / counts.relative_to(folder)
        objects = Path(str(of_object).partition("/k/kernel/sched/")[0])
        found.setdefault(objects, []).append(counts)
    if not found:
        raise KernelError(f"{folder}: no simulator has counted lines here.")
    merged: dict[str, dict[str, File]] = {}
    for objects, files in found.items():
        kernel = _kernel(objects, folder)
        program = _symbols(objects / "schedsim")
        for counts in files:
            compiled = _symbols((Path("/") / counts.relative_to(folder)).with_suffix(".o"))
            dropped = compiled - program
            _take(_gcov(counts, folder), dropped, merged.setdefault(kernel, {}))
    return [
        Covered(kernel, sorted(files.values(), key=lambda each: each.name))
        for kernel, files in sorted(merged.items())
    ]


def _kernel(objects: Path, folder: Path) -> str:
    """Return the name of the kernel whose objects these are."""
    try:
        return (objects / ".of").read_text(encoding="utf-8")
    except OSError as error:
        raise KernelError(
            f"{objects}: the build that counted lines into {folder} is gone."
            f"\n  Remove {folder} and count again."
        ) from error


def _gcov(counts: Path, folder: Path) -> Mapping[str, Any]:
    notes = (Path("/") / counts.relative_to(folder)).with_suffix(_NOTES)
    gcov = shutil.which(os.environ.get("GCOV", "gcov"))
    if gcov is None:
        raise KernelError("gcov is not installed; it comes with gcc: apt-get install gcc.")
    with TemporaryDirectory() as name:
        place = Path(name)
        for file in (counts, notes):
            if not file.is_file():
                raise KernelError(f"{file} is missing; remove {folder} and count again.")
            shutil.copy2(file, place / file.name)
        done = subprocess.run(
            [gcov, "--json-format", counts.name], cwd=place, capture_output=True, check=False
        )
        written = list(place.glob("*.gcov.json.gz"))
        if done.returncode or not written:
            said = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
            raise KernelError(f"{counts}: gcov cannot read it: {' '.join(said) or 'no output'}")
        content: Mapping[str, Any] = json.loads(gzip.decompress(written[0].read_bytes()))
        return content


def _symbols(place: Path) -> frozenset[str]:
    """Return the functions of a simulator or an object, by their names in the source."""
    done = subprocess.run(["nm", str(place)], capture_output=True, check=False)
    if done.returncode:
        raise KernelError(f"{place}: its functions cannot be read; count again in a new folder.")
    return frozenset(_TEXT.findall(done.stdout.decode(errors="replace")))


def _take(content: Mapping[str, Any], dropped: frozenset[str], files: dict[str, File]) -> None:
    """Add what one object covered; a header's lines may be in several."""
    for entry in content["files"]:
        match = _SCHEDULER.match(entry["file"])
        if not match:
            continue
        source = Path(content["current_working_directory"]) / entry["file"]
        file = files.setdefault(match[1], File(match[1], source=source))
        ran = _running(entry["lines"])
        for line, yes in ran.items():
            file.lines[line] = file.lines.get(line, False) or yes
        for function in entry["functions"]:
            _add(file, function, dropped)


def _running(lines: Iterable[Mapping[str, Any]]) -> dict[int, bool]:
    found: dict[int, bool] = {}
    for line in lines:
        number = line["line_number"]
        found[number] = found.get(number, False) or line["count"] > 0
    return found


def _add(file: File, entry: Mapping[str, Any], dropped: frozenset[str]) -> None:
    name = entry["name"]
    known = file.functions.get(name)
    ran = entry["execution_count"] > 0 or (known is not None and known.ran)
    linked = ran or name not in dropped or (known is not None and known.linked)
    file.functions[name] = Function(name, entry["start_line"], entry["end_line"], ran, linked)
