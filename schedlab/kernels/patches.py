"""Kernel patches: reading them, leaving out what the simulator does not compile, trying them.

A patch is tried on copies of the files it touches before anything is built, so that one that
does not apply is told by file and hunk, with the place it comes nearest to.
"""

import re
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from schedlab.errors import nearest
from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors
from schedlab.kernels.engine import Engine
from schedlab.kernels.process import output

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FAILED = re.compile(r"Hunk #(\d+) FAILED")
_FUZZY = re.compile(r"Hunk #(\d+) succeeded at (\d+) with fuzz")


@dataclass(frozen=True)
class Hunk:
    """One change: where the patch expects it, and the lines it expects there."""

    start: int
    before: tuple[str, ...]


@dataclass
class FileChange:
    """What a patch does to one file."""

    path: str
    text: list[str] = field(default_factory=list)
    """The lines of the patch that say so."""
    hunks: list[Hunk] = field(default_factory=list)
    creates: bool = False


@dataclass(frozen=True)
class Patch:
    """A patch file, cut by the files it touches."""

    name: str
    changes: tuple[FileChange, ...]

    @property
    def text(self) -> str:
        """Give the patch without its description, so that rewording it rebuilds nothing."""
        return "".join(f"{line}\n" for change in self.changes for line in change.text)

    def within(self, engine: Engine) -> tuple["Patch", list[str]]:
        """Leave out files the engine cannot read, such as documentation; give those too."""
        kept = tuple(change for change in self.changes if engine.reaches(change.path))
        left_out = [change.path for change in self.changes if not engine.reaches(change.path)]
        return Patch(self.name, kept), left_out


def read_patch(path: Path) -> Patch:
    """Read a patch file: a unified diff, with whatever text around it.

    Raises:
        KernelError: it is missing, no diff, or cut short.
    """
    try:
        text = path.read_text(encoding="utf-8", errors="surrogateescape")
    except FileNotFoundError:
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        hint = nearest(path.name, (other.name for other in beside))
        raise KernelError(f"{path}: there is no such patch file.{hint}") from None
    except OSError as error:
        raise KernelError(f"{path}: cannot be read: {error.strerror}") from error
    return Patch(path.name, tuple(parse_patch(text, str(path))))


def parse_patch(text: str, where: str) -> list[FileChange]:
    """Cut a unified diff by the files it touches."""
    changes = list(_changes(text.removesuffix("\n").split("\n"), where))
    if not changes:
        raise KernelError(f"{where}: holds no unified diff (no '--- a/FILE' line).")
    return changes


def check_applies(tree: Path, patches: Sequence[Patch], origin: str) -> list[str]:
    """Try a series of patches on copies; give a line for each hunk that fits only roughly.

    Raises:
        KernelError: one does not apply; with its file, hunk and the nearest place.
    """
    notices: list[str] = []
    with disk_errors("trying the patches"), tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for number, patch in enumerate(patches):
            for change in patch.changes:
                _copy(tree, scratch, change, patch, origin)
                notices += _try(scratch, number, change, patch, origin)
    return notices


def _changes(lines: list[str], where: str) -> Iterator[FileChange]:
    change: FileChange | None = None
    header: list[str] = []
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.startswith("diff --git "):
            if change:
                yield change
            # A section of its own, even if it only renames or changes the mode.
            change = FileChange(_stripped(line.split(" ")[-1]), [line])
            header = change.text
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if change is None or change.hunks:
                if change:
                    yield change
                change = FileChange("", [])
                header = change.text
            old, new = _stripped(line[4:]), _stripped(lines[at + 1][4:])
            change.path = old if new == "/dev/null" else new
            change.creates = old == "/dev/null"
            header += [line, lines[at + 1]]
            at += 1
        elif change and _HUNK.match(line):
            hunk, end = _hunk(lines, at, where)
            change.hunks.append(hunk)
            change.text += lines[at:end]
            at = end - 1
        elif change and not change.hunks and line and not line.startswith("-- "):
            change.text.append(line)
        at += 1
    if change:
        yield change


def _hunk(lines: list[str], at: int, where: str) -> tuple[Hunk, int]:
    """Read the hunk whose `@@` line is at `at`; give it and the line after it."""
    match = _HUNK.match(lines[at])
    assert match
    old, new = (int(count) if count else 1 for count in (match[2], match[3]))
    before: list[str] = []
    end = at + 1
    while old > 0 or new > 0:
        # Some mailers strip the blank from an empty line of context.
        line = (lines[end] or " ") if end < len(lines) else "end of file"
        if line[0] in " -":
            old -= 1
            before.append(line[1:])
        if line[0] in " +":
            new -= 1
        if line[0] not in " +-\\" or old < 0 or new < 0:
            raise KernelError(
                f"{where}: line {end + 1}: the hunk that begins in line {at + 1} is cut short"
                " or damaged."
            )
        end += 1
    if end < len(lines) and lines[end].startswith("\\"):
        end += 1
    return Hunk(int(match[1]), tuple(before)), end


def _stripped(name: str) -> str:
    """Take the first folder (`a/`) and a time stamp off a name in a diff."""
    name = name.split("\t")[0].strip()
    return name if name == "/dev/null" else name.partition("/")[2]


def _copy(tree: Path, scratch: Path, change: FileChange, patch: Patch, origin: str) -> None:
    """Copy the file a change wants, unless an earlier change has."""
    source, copy = tree / change.path, scratch / change.path
    if copy.exists() or change.creates:
        return
    if not source.is_file():
        raise KernelError(
            f"{patch.name}: {change.path}: there is no such file in {origin}."
            "\n  Is the patch for another series?"
        )
    copy.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(source, copy)


def _try(
    scratch: Path, number: int, change: FileChange, patch: Patch, origin: str
) -> Iterator[str]:
    part = scratch / f".part-{number}"
    part.write_text(
        "".join(f"{line}\n" for line in change.text), encoding="utf-8", errors="surrogateescape"
    )
    before = scratch / change.path
    found = _lines(before)
    argv = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-r", "-"]
    status, told = output([*argv, "-d", str(scratch), "-i", str(part)])
    if status:
        raise KernelError(_refusal(told, change, patch, origin, found))
    for hunk, line in _FUZZY.findall(told):
        yield (
            f"{patch.name}: {change.path}: hunk {hunk} applied at line {line} although its"
            " context differs; check that it is the right place."
        )


def _refusal(told: str, change: FileChange, patch: Patch, origin: str, found: Sequence[str]) -> str:
    place = f"{patch.name}: {change.path}"
    if "Reversed (or previously applied)" in told:
        return f"{place}: is applied already in {origin}."
    failed = [int(number) for number in _FAILED.findall(told)]
    if not failed or not found:
        return f"{place}: does not apply to {origin}: {told.splitlines()[-1] if told else '-'}"
    hunk = change.hunks[failed[0] - 1]
    head = f"{place}: hunk {failed[0]} (line {hunk.start}) does not apply to {origin}."
    line, expected, actual = _nearest_place(hunk, found)
    return (
        f"{head}\n  Nearest place: line {line}; there the patch expects"
        f"\n    {expected.strip() or '(an empty line)'}"
        f"\n  and the tree has\n    {actual.strip() or '(an empty line)'}"
    )


def _nearest_place(hunk: Hunk, lines: Sequence[str]) -> tuple[int, str, str]:
    """Find where most of a hunk's lines stand; give the first line that differs there."""

    def alike(start: int) -> tuple[int, int]:
        there = lines[start : start + len(hunk.before)]
        same = sum(a == b for a, b in zip(hunk.before, there, strict=False) if a.strip())
        return same, -abs(start + 1 - hunk.start)

    start = max(range(len(lines)), key=alike)
    for offset, expected in enumerate(hunk.before):
        actual = lines[start + offset] if start + offset < len(lines) else "(the end of the file)"
        if actual != expected:
            return start + offset + 1, expected, actual
    return start + 1, hunk.before[0], lines[start]


def _lines(path: Path) -> list[str]:
    if not path.is_file():
        return []
    return path.read_text(encoding="utf-8", errors="surrogateescape").split("\n")
