"""The user's tree of the scx project, whose schedulers are named as the kernel tree's are."""

import re
from pathlib import Path

from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors, write_whole
from schedlab.kernels.shelf import Shelf

_NOTE = "scx-tree"
_HEADERS = "scheds/include/scx/common.bpf.h"
_BUILD = "build.rs"
_PART = re.compile(r'\.add_source\("([^"]+)"\)')
_MAIN = "main.bpf.c"
_PLACES = ("scheds/rust/scx_*/src/bpf/main.bpf.c", "scheds/c/scx_*.bpf.c")


def scx_sources(tree: Path) -> dict[str, Path]:
    """Return the sources of a tree's schedulers, by the schedulers' names."""
    found = {}
    for place in _PLACES:
        for source in sorted(tree.glob(place)):
            folder = source.parents[2].name if source.name == _MAIN else source.name
            found[folder.removeprefix("scx_").removesuffix(".bpf.c")] = source
    return found


def scx_parts(source: Path) -> tuple[Path, ...]:
    """Return the sources that a scheduler of the project is made of beside its main one.

    Raises:
        KernelError: its build file names one that is not there.
    """
    root = next((folder for folder in source.parents if (folder / _BUILD).is_file()), None)
    if root is None or source.name != _MAIN:
        return ()
    build = root / _BUILD
    with disk_errors(f"reading {build}"):
        named = _PART.findall(build.read_text(errors="replace"))
    parts = tuple(root / each for each in named)
    for part in parts:
        if not part.is_file():
            raise KernelError(f"{build}: names a source that is not there: {part}")
    return parts


def add_scx_tree(shelf: Shelf, tree: Path) -> dict[str, Path]:
    """Remember a tree of the scx project, in place of the one before; return its schedulers.

    Raises:
        KernelError: it is not such a tree.
    """
    tree = tree.expanduser().absolute()
    if not (tree / _HEADERS).is_file():
        raise KernelError(
            f"{tree}: not a tree of the scx project: {_HEADERS} is missing."
            "\n  Clone https://github.com/sched-ext/scx and name the clone's folder."
        )
    found = scx_sources(tree)
    if not found:
        raise KernelError(f"{tree}: has no scheduler: looked for {' and '.join(_PLACES)}.")
    with disk_errors("keeping the tree of the scx project"):
        write_whole(shelf.folder / _NOTE, f"{tree}\n")
    return found


def scx_tree(shelf: Shelf) -> Path | None:
    """Return the tree that was added last, None if there is none."""
    note = shelf.folder / _NOTE
    with disk_errors(f"reading {note}"):
        return Path(note.read_text().rstrip("\n")) if note.is_file() else None
