"""Kernel patches: reading them, leaving out what the simulator does not compile, trying them.

A patch is tried on copies of the files it touches before anything is built, so that one that
does not apply is reported by file and hunk, with the place it comes nearest to.
"""

import re
import shutil
import stat
import tempfile
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from schedlab.base.errors import nearest
from schedlab.base.files import read_bytes
from schedlab.base.system.inside import inside, parts
from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors
from schedlab.kernels.engine import Engine
from schedlab.kernels.process import output

_NOWHERE = "/dev/null"
_MOST_BYTES = 64 << 20
_MOST_DIGITS = 9
_LONGEST_HEADING = 100_000
_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@")
_FAILED = re.compile(r"Hunk #(\d+) FAILED")
_EXTENDED = re.compile(
    r"(?:(?P<mode>old mode|new mode|deleted file mode|new file mode)"
    r"|(?P<name>copy from|copy to|rename from|rename to)"
    r"|similarity index|dissimilarity index|(?P<index>index)|GIT binary patch) ?(?P<said>.*)"
)
"""What git writes between the names and the hunks; GNU patch takes orders from other lines too."""

_OF_BUILDS = ("Kconfig", "Makefile", "Kbuild")
"""How the files begin that only the kernel's own build reads."""

_FILE_MODE = re.compile(r"100[0-7]{3}")
_FUZZY = re.compile(r"Hunk #(\d+) succeeded at (\d+) with fuzz")


@dataclass(frozen=True)
class Hunk:
    """One change: where the patch expects it, and the lines it expects there."""

    start: int
    before: tuple[str, ...]
    after: int
    """How many lines stand there afterwards."""


@dataclass
class FileChange:
    """What a patch does to one file."""

    path: str
    others: set[str] = field(default_factory=set)
    """Further names it goes by: before a rename, or as the source of a copy."""
    text: list[str] = field(default_factory=list)
    """The lines of the patch that say so."""
    hunks: list[Hunk] = field(default_factory=list)
    creates: bool = False
    deletes: bool = False
    line: int = 0
    """Where in the patch it begins."""

    @property
    def only_mode(self) -> bool:
        """Whether it changes nothing but who may run the file."""
        return not (self.hunks or self.others or self.creates or self.deletes)


@dataclass(frozen=True)
class Patch:
    """A patch file, cut by the files it touches."""

    name: str
    changes: tuple[FileChange, ...]
    heading: str = ""
    """What stands above the first change: its description, and the mail it came in."""

    @property
    def text(self) -> str:
        """Return the patch without its description, so that rewording it rebuilds nothing."""
        return "".join(f"{line}\n" for change in self.changes for line in change.text)

    def within(
        self, engine: Engine, compiled: Collection[str] | None = None
    ) -> tuple["Patch", list[str]]:
        """Leave out what the engine cannot read, such as documentation, and changes of file modes.

        Args:
            engine: knows what it reads of a tree.
            compiled: the tree's sources that it compiles; others that are there are left out too.

        Returns:
            What is left of the patch, and the files that are left out.
        """
        kept: list[FileChange] = []
        left_out: list[str] = []
        for change in self.changes:
            name = change.path.rpartition("/")[2]
            is_source = name.endswith(".c") and not change.creates
            builds = name.startswith(_OF_BUILDS) and change.path not in engine.asked
            if (builds or not engine.reaches(change.path)) or (
                compiled is not None
                and is_source
                and not any(each in compiled for each in (change.path, *change.others))
            ):
                left_out.append(change.path)
            elif change.only_mode:
                left_out.append(f"the new mode of {change.path}")
            else:
                kept.append(change)
        return Patch(self.name, tuple(kept), self.heading), left_out


def read_patch(path: Path) -> Patch:
    """Read a patch file: a unified diff, with whatever text around it.

    Raises:
        KernelError: it is missing, no diff, or cut short.
    """
    try:
        # A device or a pipe may never end; it is not even opened.
        if not stat.S_ISREG(path.stat().st_mode):
            raise KernelError(f"{path}: is not a regular file; write the patch to one.")
    except FileNotFoundError:
        beside = path.parent.iterdir() if path.parent.is_dir() else ()
        hint = nearest(path.name, (other.name for other in beside))
        raise KernelError(f"{path}: there is no such patch file.{hint}") from None
    except OSError as error:
        raise KernelError(f"{path}: cannot be read: {error.strerror}") from error
    content = read_bytes(path, _MOST_BYTES, KernelError)
    text = content.decode(errors="surrogateescape").replace("\r\n", "\n").replace("\r", "\n")
    changes = tuple(parse_patch(text, str(path)))
    above = "\n".join(text.split("\n")[: changes[0].line - 1])[:_LONGEST_HEADING]
    return Patch(path.name, changes, above)


def parse_patch(text: str, where: str) -> list[FileChange]:
    """Cut a unified diff by the files it touches."""
    changes = list(_changes(text.removesuffix("\n").split("\n"), where))
    if not changes:
        raise KernelError(f"{where}: holds no unified diff (no '--- a/FILE' line).")
    return changes


def check_applies(tree: Path, patches: Sequence[Patch], origin: str) -> list[str]:
    """Try a series of patches on copies; return a line for each hunk that fits only roughly.

    Raises:
        KernelError: one does not apply; with its file, hunk and the nearest place.
    """
    notices: list[str] = []
    touched: dict[str, list[str]] = {}
    with disk_errors("trying the patches"), tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        for number, patch in enumerate(patches):
            for change in patch.changes:
                check_inside(tree, change, patch)
                if change.path not in touched:
                    _copy(tree, scratch, change)
                before = touched.setdefault(change.path, [])
                there = f"{origin} with {', '.join(before)}" if before else origin
                _check_possible(tree, scratch, change, patch, there)
                notices += _try(scratch, number, change, patch, there)
                if patch.name not in before:
                    before.append(patch.name)
    return notices


def patched_text(tree: Path, patches: Sequence[Patch], path: str) -> str:
    """Return a file of a tree with the changes on it that apply."""
    with disk_errors("trying the patches"), tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        _copy(tree, scratch, FileChange(path))
        for number, patch in enumerate(patches):
            for change in patch.changes:
                if change.path == path:
                    check_inside(tree, change, patch)
                    _run_patch(scratch, number, change)
        return "\n".join(_lines(scratch / path))


def count_there(tree: Path, on: Sequence[Patch], coming: Sequence[Patch]) -> int:
    """Return how many of the first of `coming` a tree with the patches `on` it has already.

    They are there if they can be taken off exactly, the last one first: a later patch of a series
    often changes what an earlier one has written.
    """
    with disk_errors("trying the patches"), tempfile.TemporaryDirectory() as folder:
        patched = Path(folder, "patched")
        patched.mkdir()
        for patch in (*on, *coming):
            for change in patch.changes:
                _copy(tree, patched, change)
        for number, patch in enumerate(on):
            for change in patch.changes:
                _run_patch(patched, number, change)
        for count in range(len(coming), 0, -1):
            trial = Path(folder, f"trial-{count}")
            trial.mkdir()
            if _take_off(patched, trial, coming[:count]):
                return count
            shutil.rmtree(trial)
    return 0


def _take_off(patched: Path, trial: Path, patches: Sequence[Patch]) -> bool:
    """Take patches off copies of files, the last one first; return whether all come off."""
    touched: set[str] = set()
    for number, patch in reversed(list(enumerate(patches))):
        for change in patch.changes:
            if change.path not in touched:
                _copy(patched, trial, change)
                touched.add(change.path)
            if change.deletes:
                if (trial / change.path).exists():
                    return False
            elif not all(hunk.after for hunk in change.hunks):
                return False  # without a line to go by it would come off anywhere
            if _run_patch(trial, number, change, "--reverse", "--fuzz=0")[0]:
                return False
    return True


def check_inside(tree: Path, change: FileChange, patch: Patch) -> None:
    """Refuse a change through a link of the tree: it would be made where the link leads.

    Raises:
        OutsideError: a folder on the way to the file is a link.
    """
    for name in (change.path, *change.others):
        inside(tree, name, patch.name)


def _changes(lines: list[str], where: str) -> Iterator[FileChange]:
    change: FileChange | None = None
    at = 0
    while at < len(lines):
        line, place = lines[at], f"{where}: line {at + 1}"
        if line.startswith("diff --git "):
            if change:
                yield _whole(change, place)
            # A section of its own, even if it only renames or changes the mode.
            change = FileChange(_git_name(line, place), text=[line], line=at + 1)
        elif line.startswith("--- ") and at + 1 < len(lines) and lines[at + 1].startswith("+++ "):
            if change is None or change.hunks:
                if change:
                    yield _whole(change, place)
                change = FileChange("", line=at + 1)
            old = _stripped(line[4:], place)
            new = _stripped(lines[at + 1][4:], f"{where}: line {at + 2}")
            change.others |= {old, new}
            change.path = old if new == _NOWHERE else new
            change.creates = old == _NOWHERE
            change.deletes = new == _NOWHERE
            change.text += [line, lines[at + 1]]
            at += 1
        elif change and _HUNK.match(line):
            hunk, end = _hunk(lines, at, where)
            change.hunks.append(hunk)
            change.text += lines[at:end]
            at = end - 1
        elif change and not change.hunks and (header := _EXTENDED.fullmatch(line)):
            _extend(change, header, place)
            change.text.append(line)
        at += 1
    if change:
        yield _whole(change, f"{where}: line {at}")


def _extend(change: FileChange, header: re.Match[str], place: str) -> None:
    """Record what a line of git's header says of a file."""
    said = header["said"].strip()
    if header["name"]:
        parts(said, place)
        change.others.add(said)
        if header["name"].endswith("to"):
            change.path = said
    mode = said if header["mode"] else said.partition(" ")[2] if header["index"] else ""
    if mode and not _FILE_MODE.fullmatch(mode):
        raise KernelError(
            f"{place}: mode {mode} makes a link or a module; only patches of plain files are"
            " accepted."
        )
    change.creates |= header["mode"] == "new file mode"
    change.deletes |= header["mode"] == "deleted file mode"


def _whole(change: FileChange, place: str) -> FileChange:
    """Return a change that is complete; refuse one that names no file."""
    if not change.path:
        raise KernelError(f"{place}: the change that ends here names no file.")
    change.others -= {change.path, _NOWHERE}
    return change


def _hunk(lines: list[str], at: int, where: str) -> tuple[Hunk, int]:
    """Read the hunk whose `@@` line is at `at`; return it and the line after it."""
    match = _HUNK.match(lines[at])
    assert match
    if any(len(number or "") > _MOST_DIGITS for number in match.groups()):
        raise KernelError(f"{where}: line {at + 1}: no file has that many lines.")
    old, after = (int(count) if count else 1 for count in (match[2], match[3]))
    new = after
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
    return Hunk(int(match[1]), tuple(before), after), end


def _git_name(line: str, place: str) -> str:
    """Return the file a `diff --git` line names; nothing where blanks in it leave that open.

    Raises:
        OutsideError: a name in it leads out of the tree.
    """
    given = line.removeprefix("diff --git ")
    for word in given.split():
        if word != _NOWHERE:
            parts(word, place)
    half = len(given) // 2
    names = [given[:half], given[half + 1 :]] if given[half : half + 1] == " " else given.split()
    found = [_stripped(name, place) for name in names] if len(names) == 2 else [""]
    return found[-1]


def _stripped(name: str, place: str) -> str:
    """Return a name of a diff without its first folder (`a/`) and time stamp.

    Raises:
        OutsideError: it is absolute or has `..` in it.
    """
    name = name.split("\t")[0].strip()
    if name == _NOWHERE:
        return name
    if name.startswith('"'):
        raise KernelError(
            f"{place}: {name}: a name in quotes is not read; `git -c core.quotePath=false diff`"
            " writes names as they are."
        )
    _, *below = parts(name, place)
    if not below:
        raise KernelError(f"{place}: {name}: has no folder before it, such as a/ or b/.")
    return "/".join(below)


def _copy(tree: Path, scratch: Path, change: FileChange) -> None:
    """Copy the file a change is about, where there is one."""
    source, copy = tree / change.path, scratch / change.path
    if source.is_file():
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, copy)


def _check_possible(
    tree: Path, scratch: Path, change: FileChange, patch: Patch, origin: str
) -> None:
    """Refuse a change that no content of its file allows."""
    place = f"{patch.name}: line {change.line}: {change.path}"
    there = (scratch / change.path).exists()
    if change.only_mode:
        raise KernelError(
            f"{place}: only its mode is changed, which does not affect the simulator."
            "\n  Leave that part out of the patch."
        )
    if change.creates and there:
        raise KernelError(
            f"{place}: is created by the patch, but {origin} has it already."
            "\n  Is the patch applied there?"
        )
    above = [str(folder) for folder in PurePosixPath(change.path).parents]
    if blocked := next((name for name in above if (tree / name).is_file()), None):
        raise KernelError(f"{place}: this file cannot exist: {blocked} is a file in {origin}.")
    before = next((name for name in change.others if (tree / name).is_file()), None)
    if not there and before:
        raise KernelError(
            f"{place}: is {before} under another name; renames and copies are not taken."
            "\n  Have git write the whole files: `git format-patch --no-renames`."
        )
    if not there and not change.creates:
        raise KernelError(
            f"{place}: there is no such file in {origin}.\n  Is the patch for another series?"
        )


def _try(
    scratch: Path, number: int, change: FileChange, patch: Patch, origin: str
) -> Iterator[str]:
    found = _lines(scratch / change.path)
    status, printed = _run_patch(scratch, number, change)
    if status:
        raise KernelError(_refusal(printed, change, patch, origin, found))
    for hunk, line in _FUZZY.findall(printed):
        yield (
            f"{patch.name}: {change.path}: hunk {hunk} applied at line {line} although its"
            " context differs; check that it is the right place."
        )


def _run_patch(scratch: Path, number: int, change: FileChange, *options: str) -> tuple[int, str]:
    """Apply one change of the patch of this number with GNU patch; return its status and words."""
    part = scratch / f".part-{number}"
    part.write_text(
        "".join(f"{line}\n" for line in change.text), encoding="utf-8", errors="surrogateescape"
    )
    argv = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-r", "-"]
    return output([*argv, *options, "-d", str(scratch), "-i", str(part)])


def _refusal(
    printed: str, change: FileChange, patch: Patch, origin: str, found: Sequence[str]
) -> str:
    place = f"{patch.name}: {change.path}"
    if "Reversed (or previously applied)" in printed:
        return f"{place}: is applied already in {origin}."
    failed = [int(number) for number in _FAILED.findall(printed)]
    if not failed or not found:
        return (
            f"{place}: does not apply to {origin}: {printed.splitlines()[-1] if printed else '-'}"
        )
    hunk = change.hunks[failed[0] - 1]
    head = f"{place}: hunk {failed[0]} (line {hunk.start}) does not apply to {origin}."
    line, expected, actual = _nearest_place(hunk, found)
    return (
        f"{head}\n  Nearest place: line {line}; there the patch expects"
        f"\n    {expected.strip() or '(an empty line)'}"
        f"\n  and the tree has\n    {actual.strip() or '(an empty line)'}"
    )


def _nearest_place(hunk: Hunk, lines: Sequence[str]) -> tuple[int, str, str]:
    """Find where most of a hunk's lines stand; return the first line that differs there."""

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
