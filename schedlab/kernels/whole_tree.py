"""A whole kernel tree that a bootable kernel is built in: a copy that patches are put on.

The simulator reads a part of a tree and compiles patched files elsewhere; the kernel's own make
wants all of it in one place. A copy goes from one series of patches to another by touching only
the files either touches, so that make compiles little.
"""

import filecmp
import hashlib
import json
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from schedlab.base.errors import OutsideError
from schedlab.base.system.inside import inside
from schedlab.kernels import KernelError
from schedlab.kernels.cache import write_whole
from schedlab.kernels.debian import unpack_whole
from schedlab.kernels.patches import check_inside, read_patch
from schedlab.kernels.process import output
from schedlab.kernels.progress import Watch
from schedlab.kernels.shelf import Base, Shelf
from schedlab.kernels.tree import export_whole

_NEVER_COPIED = {".git"}


class WholeTree:
    """The copy of one base: `source` to build in, `objects` for what make makes."""

    def __init__(self, base: Base, shelf: Shelf, watch: Watch) -> None:
        """Name the folders; nothing is copied yet."""
        name = base.identity or f"tree-{hashlib.sha256(str(base.tree).encode()).hexdigest()[:16]}"
        self._base = base
        self._shelf = shelf
        self._watch = watch
        self._folder = inside(shelf.folder / "boot", name, f"kernel tree {base.name}")
        self.lock = shelf.folder / "locks" / f"boot-{name}"
        self.source = shelf.folder / "whole" / name
        self.objects = self._folder / "objects"

    def prepare(self, patches: Sequence[Path]) -> None:
        """Update the copy to the base's content with these patches on it.

        Raises:
            KernelError: the tree cannot be had whole, or a patch does not apply.
        """
        self._base.check_there()
        self._take_off()
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._base.repository:
            export_whole(self._base, self.source, self._watch)
        elif self._base.identity:
            unpack_whole(self._base, self.source, self._shelf, self._watch)
        else:
            with self._watch.task(f"copying {self._base.tree}"):
                _follow(self._base.tree, self.source)
        for patch in patches:
            self._put_on(patch)

    @property
    def _originals(self) -> Path:
        return self._folder / "originals"

    @property
    def _touched(self) -> Path:
        """The file that lists what patches have touched, before they do."""
        return self._folder / "touched.json"

    def _take_off(self) -> None:
        """Take the patches off the copy; a copy that is not as they left it is made again."""
        if self.source.is_dir():
            try:
                self._put_back()
            except (OutsideError, ValueError, OSError) as error:
                why = str(error).splitlines()[0]
                self._watch.say(f"{self.source}: is copied again ({why}).")
                shutil.rmtree(self.source)
        if not self.source.is_dir():
            # make goes by times: objects of another copy would pass for those of the next.
            shutil.rmtree(self._folder, ignore_errors=True)

    def _put_back(self) -> None:
        for name, left in self._list_touched().items():
            patched = inside(self.source, name, self._touched)
            original = inside(self._originals, name, self._touched)
            if original.is_file():
                patched.parent.mkdir(parents=True, exist_ok=True)
                _put(original, patched)
            elif os.path.lexists(patched):
                if _digest(patched) != left:
                    raise ValueError(f"{name} is not what the patch made")
                patched.unlink()
        shutil.rmtree(self._originals, ignore_errors=True)
        self._touched.unlink(missing_ok=True)

    def _put_on(self, patch: Path) -> None:
        whole = read_patch(patch)
        touched = self._list_touched()
        names = [name for change in whole.changes for name in (change.path, *change.others)]
        for change in whole.changes:
            check_inside(self.source, change, whole)
        for name in names:
            before = self.source / name
            if before.is_symlink():
                raise KernelError(
                    f"{whole.name}: {name} is a link in {self._base.origin}; patches go on plain"
                    " files."
                )
            if name not in touched and before.is_file():
                self._originals.mkdir(mode=0o700, exist_ok=True)
                kept = inside(self._originals, name, whole.name)
                kept.parent.mkdir(parents=True, exist_ok=True)
                _put(before, kept)
        self._list({**dict.fromkeys(names), **touched})
        argv = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-r", "-"]
        status, printed = output([*argv, "-d", str(self.source), "-i", str(patch)])
        self._list({**touched, **{name: _digest(self.source / name) for name in names}})
        if status:
            raise KernelError(f"a patch does not apply to {self._base.origin}: {printed[-300:]}")

    def _list(self, touched: Mapping[str, str | None]) -> None:
        write_whole(self._touched, json.dumps(touched))

    def _list_touched(self) -> dict[str, str | None]:
        """Return the names that patches touched, each with what they left there."""
        if not self._touched.is_file():
            return {}
        touched = json.loads(self._touched.read_text())
        if not isinstance(touched, dict):
            raise ValueError(f"{self._touched} does not list files")
        return touched


def _put(source: Path, target: Path) -> None:
    """Put a file in the place of another, with its mode; for make it is new."""
    target.unlink(missing_ok=True)
    shutil.copy(source, target, follow_symlinks=False)


def _digest(file: Path) -> str | None:
    """Return a name for the content of a plain file; nothing else has one."""
    if file.is_symlink() or not file.is_file():
        return None
    return hashlib.sha256(file.read_bytes()).hexdigest()


def whole_content(base: Base) -> str:
    """Name the present content of all of a base; for the user's own tree, by sizes and times."""
    if base.identity:
        return base.identity
    base.check_there()
    digest = hashlib.sha256(str(base.tree).encode())
    for name in sorted(_sources(base.tree)):
        status = (base.tree / name).lstat()
        digest.update(f"{name}\0{status.st_size}\0{status.st_mtime_ns}\n".encode())
    return f"tree-{digest.hexdigest()[:16]}"


def _follow(tree: Path, copy: Path) -> None:
    """Make a copy equal to a tree; files that are the same already keep their times."""
    wanted = set(_sources(tree))
    for name in set(_files(copy)) - wanted if copy.is_dir() else ():
        (copy / name).unlink()
    for name in wanted:
        source, target = tree / name, inside(copy, name, tree)
        if _same(source, target):
            continue
        target.parent.mkdir(parents=True, exist_ok=True)
        replaced = os.path.lexists(target)
        if target.is_dir() and not target.is_symlink():
            shutil.rmtree(target)  # folders only: its files are not of the tree any more
        target.unlink(missing_ok=True)
        shutil.copy2(source, target, follow_symlinks=False)
        if replaced:
            # make goes by times: an object of what was here is not to pass for one of this.
            os.utime(target, follow_symlinks=False)


def _same(source: Path, target: Path) -> bool:
    """Return whether a file is a copy, by size and time, or else by its content."""
    try:
        ours, theirs = target.lstat(), source.lstat()
    except FileNotFoundError:
        return False
    if (ours.st_mode, ours.st_size) != (theirs.st_mode, theirs.st_size):
        return False
    if ours.st_mtime_ns == theirs.st_mtime_ns:
        return True
    return stat.S_ISREG(ours.st_mode) and filecmp.cmp(source, target, shallow=False)


def _sources(tree: Path) -> list[str]:
    """Return the files of a tree: those git knows or would, else all."""
    listing = ["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others"]
    status, names = output([*listing, "--exclude-standard"])
    if status or not (tree / ".git").exists():
        return list(_files(tree))
    return [name for name in names.split("\0") if name and _is_plain(tree / name)]


def _is_plain(path: Path) -> bool:
    """Return whether there is a file or a link: neither a pipe nor another repository's folder."""
    return path.is_symlink() or path.is_file()


def _files(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        # A link to a folder is a link like any other.
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]  # noqa: PTH114, PTH118
        folders[:] = [name for name in folders if name not in _NEVER_COPIED]
        for name in (*names, *links):
            yield os.path.relpath(os.path.join(parent, name), folder)  # noqa: PTH118 much quicker
