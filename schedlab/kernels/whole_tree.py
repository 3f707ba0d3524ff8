"""A whole kernel tree that a bootable kernel is built in: a copy that patches are put on.

The simulator reads a part of a tree and compiles patched files elsewhere; the kernel's own make
wants all of it in one place. A copy goes from one series of patches to another by touching only
the files either touches, so that make compiles little.
"""

import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from schedlab.kernels import KernelError
from schedlab.kernels.debian import unpack_whole
from schedlab.kernels.patches import read_patch
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
        self._folder = shelf.folder / "boot" / name
        self.lock = shelf.folder / "locks" / f"boot-{name}"
        self.source = shelf.folder / "whole" / name
        self.objects = self._folder / "objects"

    def prepare(self, patches: Sequence[Path]) -> None:
        """Bring the copy to the base's content with these patches on it.

        Raises:
            KernelError: the tree cannot be had whole, or a patch does not apply.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        if self._base.repository:
            export_whole(self._base, self.source, self._watch)
        elif self._base.identity:
            unpack_whole(self._base, self.source, self._shelf, self._watch)
        self._take_off()
        if self._base.identity is None:
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
        for path in self._list_touched():
            original, patched = self._originals / path, self.source / path
            patched.unlink(missing_ok=True)
            if original.is_file():
                patched.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(original, patched)
        shutil.rmtree(self._originals, ignore_errors=True)
        self._touched.unlink(missing_ok=True)

    def _put_on(self, patch: Path) -> None:
        for change in read_patch(patch).changes:
            touched = self._list_touched()
            if change.path in touched:
                continue
            before = self.source / change.path
            if before.is_file():
                kept = self._originals / change.path
                kept.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(before, kept)
            self._touched.write_text(json.dumps([*touched, change.path]))
        argv = ["patch", "-p1", "--batch", "--forward", "--no-backup-if-mismatch", "-r", "-"]
        status, told = output([*argv, "-d", str(self.source), "-i", str(patch)])
        if status:
            raise KernelError(f"a patch does not apply to {self._base.origin}: {told[-300:]}")

    def _list_touched(self) -> list[str]:
        return list(json.loads(self._touched.read_text())) if self._touched.is_file() else []


def whole_content(base: Base) -> str:
    """Name the present content of all of a base; for the user's own tree, by sizes and times."""
    if base.identity:
        return base.identity
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
        source, target = tree / name, copy / name
        if not _same(source, target):
            target.parent.mkdir(parents=True, exist_ok=True)
            target.unlink(missing_ok=True)
            shutil.copy2(source, target, follow_symlinks=False)


def _same(source: Path, target: Path) -> bool:
    """Tell whether a file was copied as it is; one that patches were on has another time."""
    try:
        ours, theirs = target.lstat(), source.lstat()
    except FileNotFoundError:
        return False
    return (ours.st_size, ours.st_mtime_ns) == (theirs.st_size, theirs.st_mtime_ns)


def _sources(tree: Path) -> list[str]:
    """Give the files of a tree: those git knows or would, else all."""
    listing = ["git", "-C", str(tree), "ls-files", "-z", "--cached", "--others"]
    status, names = output([*listing, "--exclude-standard"])
    if status or not (tree / ".git").exists():
        return list(_files(tree))
    return [name for name in names.split("\0") if name and os.path.lexists(tree / name)]


def _files(folder: Path) -> Iterator[str]:
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if name not in _NEVER_COPIED]
        for name in names:
            yield os.path.relpath(os.path.join(parent, name), folder)  # noqa: PTH118 much quicker
