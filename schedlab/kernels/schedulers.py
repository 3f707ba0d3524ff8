"""The sources of sched_ext schedulers, and what of a tree makes them possible."""

import hashlib
import os
import re
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path

from schedlab.base.errors import nearest
from schedlab.base.system.system import natural
from schedlab.kernels import KernelError
from schedlab.kernels.cache import disk_errors
from schedlab.kernels.engine import SCHEDULERS, SCHEDULERS_SINCE
from schedlab.kernels.scx_tree import scx_parts, scx_sources
from schedlab.kernels.shelf import Base

OPTION = "SCHED_CLASS_EXT=y"
"""What a build is configured with that can load one."""

_CLASS = ("kernel/sched/ext.c", "kernel/sched/ext/ext.c")
_INCLUDES = ("include", "scheds/include", f"{SCHEDULERS}/include")
_INCLUDE = re.compile(
    r"""^[ \t]*#[ \t]*include(?:_next)?[ \t]*(["<])([^">\n]+)[">]""", re.MULTILINE
)
_STRANGE = re.compile(r"[^\w./+,%=@~^-]")
_COMMON = "scx/common.bpf.h"
_MOST_BYTES = 64 << 20


@dataclass(frozen=True)
class Scheduler:
    """A scheduler's source, and the folders of its headers."""

    source: Path
    includes: tuple[Path, ...] = ()
    called: str = ""
    parts: tuple[Path, ...] = ()
    """What is compiled and linked beside its source."""
    below: tuple["Scheduler", ...] = ()
    """Its sub-schedulers, a group's behind that of the group above it."""

    @property
    def name(self) -> str:
        """Return what runs and messages call it: its file, where it has no name of its own."""
        return self.called or self.source.name

    @cached_property
    def content(self) -> str:
        """Name its present content, headers included; KernelError if they cannot be read."""
        digest, size = hashlib.sha256(str(self.name).encode()), 0
        with disk_errors(f"reading {self.source}"):
            for file in self._files():
                size += file.stat().st_size
                if size > _MOST_BYTES:
                    raise KernelError(
                        f"{self.source.parent}: its sources and headers are larger than"
                        f" {_MOST_BYTES >> 20} MiB; move the scheduler to a folder of its own."
                    )
                digest.update(f"{file}\0".encode(errors="surrogateescape"))
                digest.update(hashlib.sha256(file.read_bytes()).digest())
        for each in self.below:
            digest.update(f"below {each.content}".encode())
        return digest.hexdigest()[:16]

    def has(self, file: Path) -> bool:
        """Return whether a file is its source or a header beside it or among those it includes."""
        return file in self.parts or any(
            folder in file.parents for folder in (self.source.parent, *self.includes)
        )

    def mentions(self, variable: str) -> bool:
        """Return whether one of its sources or headers has such a name, in whatever place."""
        name = re.compile(rf"\b{re.escape(variable)}\b")
        with disk_errors(f"reading {self.source}"):
            return any(name.search(file.read_text(errors="replace")) for file in self._files())

    def _included(self) -> set[Path]:
        """Return what it includes by any path, and what that includes, as far as it is there."""
        found: set[Path] = set()
        asked = [self.source, *self.parts]
        while asked:
            file = asked.pop()
            for quote, name in _INCLUDE.findall(file.read_text(errors="replace")):
                folders = [file.parent, *self.includes] if quote == '"' else list(self.includes)
                for each in (Path(os.path.normpath(folder / name)) for folder in folders):
                    if each not in found and each.is_file():
                        found.add(each)
                        asked.append(each)
        return found

    def _files(self) -> list[Path]:
        own = [file for file in self.source.parent.iterdir() if file.suffix in (".c", ".h")]
        own += [*self.parts, *self._included()]
        headers = [file for folder in self.includes for file in folder.rglob("*.h")]
        return sorted(file for file in {*own, *headers} if file.is_file())


def has_sched_ext(base: Base) -> bool:
    """Return whether a tree has sched_ext."""
    return any((base.tree / file).is_file() for file in _CLASS)


def tree_schedulers(base: Base) -> dict[str, Path]:
    """Return the sources of a kernel tree's own schedulers, by name."""
    return {
        file.name.removeprefix("scx_").removesuffix(".bpf.c"): file
        for file in (base.tree / SCHEDULERS).glob("scx_*.bpf.c")
    }


def find_scheduler(wanted: str, by_path: bool, base: Base, scx: Path | None = None) -> Scheduler:
    """Return a scheduler: the kernel tree's or the scx tree's of a name, or the one at a path.

    Raises:
        KernelError: the kernel has no sched_ext, or there is no scheduler of that name or path.
    """
    base.check_there()
    if not has_sched_ext(base):
        raise KernelError(
            f"{base.name} (Linux {base.release}) has no sched_ext; kernels have it from"
            f" {SCHEDULERS_SINCE} on."
        )
    if by_path:
        return _at(Path(wanted).expanduser().absolute())
    folder = base.tree / SCHEDULERS
    own, others = tree_schedulers(base), scx_sources(scx) if scx else {}
    if wanted in own:
        return Scheduler(own[wanted], (folder / "include",))
    if wanted in others:
        return replace(_at(others[wanted]), called=f"scx_{wanted}.bpf.c")
    if not folder.is_dir() and not others:
        raise KernelError(
            f"{base.name}: its folder of schedulers, {SCHEDULERS}, is missing.\n"
            f"  `{base.again}` unpacks it; or give a source's path: scx=PATH/x.bpf.c."
        )
    names = sorted({*own, *others}, key=natural)
    added = f", with those of {scx}," if others else ""
    raise KernelError(
        f"{base.name} (Linux {base.release}){added} has no scheduler '{wanted}'."
        f"{nearest(wanted, names)} It has {', '.join(names)}; or give a source's path:"
        " scx=PATH/x.bpf.c, or a tree of the scx project: `schedlab scx add --tree PATH`."
    )


def _at(source: Path) -> Scheduler:
    if not source.is_file():
        raise KernelError(f"{source}: is not a file; scx= takes a scheduler's source.")
    parts = scx_parts(source)
    for file in (source, *parts):
        if strange := _STRANGE.search(str(file)):
            raise KernelError(
                f"{file}: '{strange[0]}' in the path: make and the compiler cannot work with it."
                "\n  Rename the scheduler's source, or a folder above it."
            )
    for above in source.parents:
        for include in _INCLUDES:
            if (above / include / _COMMON).is_file():
                return Scheduler(source, (above / include,), parts=parts)
    return Scheduler(source, parts=parts)
