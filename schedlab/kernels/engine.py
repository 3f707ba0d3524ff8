"""The engine's sources: where they are, which version, which kernels they take."""

import hashlib
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from schedlab.base.data import data_folder
from schedlab.base.system.system import natural
from schedlab.kernels import KernelError
from schedlab.kernels.kconfig import PREEMPTION

_ALWAYS = ("Makefile", "include", "io_uring", "kernel", "lib", "mm")
"""kernel/sched includes headers of io_uring and mm by their place in the tree."""

OLDEST = "6.1"
"""The oldest series that is taken. Newer trees are tried: what they have is probed."""

SCHEDULERS = "tools/sched_ext"
"""Where a tree has sched_ext schedulers: unpacked too, though no build needs them."""
SCHEDULERS_SINCE = "6.12"

PROBE = "scripts/probe"
"""What reads the facts of a tree from its files."""

_SOURCES = "kernel-sources.mk"
_SOURCE = re.compile(r"[\w./-]+\.c\b")
_COMPILED = re.compile(r"^KERNEL_SOURCES *:= *((?:.*\\\n)*.*)$", re.M)
_HEADER = "include/linux/sched.h"
_READ = re.compile(r"^has [A-Z]\w*\s+([^']+)'", re.M)
"""A line of the probe, up to what it looks for in the files; `?` marks what may be missing."""


@dataclass(frozen=True)
class Engine:
    """The C sources of the simulator, which are compiled together with a kernel's.

    The workloads beside them become part of it.
    """

    folder: Path

    @cached_property
    def version(self) -> str:
        """Return a name for exactly these sources."""
        digest = hashlib.sha256()
        above = self.folder.parent
        for folder in (self.folder, above / "workloads"):
            for path in sorted(folder.rglob("*")):
                kept = not path.name.startswith(".") and path.parent.name != "__pycache__"
                if kept and path.is_file():
                    digest.update(f"{path.relative_to(above)}\0".encode())
                    digest.update(hashlib.sha256(path.read_bytes()).digest())
        return digest.hexdigest()[:12]

    @cached_property
    def reach(self) -> tuple[str, ...]:
        """Return the parts of a kernel tree the engine reads: files, and folders as a whole.

        These are the folders kernel/sched lives on, and of every other source the engine
        compiles what is two levels deep, e.g. drivers/cpuidle.
        """
        parts = dict.fromkeys(_ALWAYS)
        for source in self.sources:
            top, *rest = source.split("/")
            if top not in parts and rest:
                parts["/".join((top, rest[0]))] = None
        return tuple(parts)

    @cached_property
    def needs(self) -> tuple[str, ...]:
        """Return what every tree has to have: the parts it reads, and each file it compiles.

        Also the files that say which kernel it is: without one, it would pass for another.
        """
        probe = (self.folder / PROBE).read_text(encoding="utf-8")
        said = [file for file in (PREEMPTION, *_read_by(probe)) if file[-1] != "?"]
        return tuple(dict.fromkeys((*self.reach, _HEADER, *self.compiled, *said)))

    @cached_property
    def asked(self) -> frozenset[str]:
        """Return the files that are read for what they say, compiled or not."""
        probe = (self.folder / PROBE).read_text(encoding="utf-8")
        return frozenset((PREEMPTION, *(file.removesuffix("?") for file in _read_by(probe))))

    @cached_property
    def compiled(self) -> tuple[str, ...]:
        """Return the sources of a tree that every build compiles."""
        listed = (self.folder / _SOURCES).read_text(encoding="utf-8")
        compiled = _COMPILED.search(listed)
        return tuple(_SOURCE.findall(compiled[1])) if compiled else ()

    @cached_property
    def sources(self) -> tuple[str, ...]:
        """Return all sources that some build of some tree compiles."""
        return tuple(_SOURCE.findall((self.folder / _SOURCES).read_text(encoding="utf-8")))

    @property
    def hooked(self) -> tuple[str, ...]:
        """Return the sources that are compiled with hooks around them."""
        folder = self.folder / "hooked"
        return tuple(sorted(str(file.relative_to(folder)) for file in folder.glob("**/*.c")))

    @property
    def headers(self) -> tuple[Path, ...]:
        """Return the folders of headers that stand for a tree's."""
        return tuple(self.folder / name for name in ("override", "arch", "include"))

    def unpacked(self, series: str) -> tuple[str, ...]:
        """Return the parts of a series' tree to unpack: what is read, and its schedulers."""
        has = natural(series) >= natural(SCHEDULERS_SINCE)
        return (*self.reach, SCHEDULERS) if has else self.reach

    def reaches(self, path: str) -> bool:
        """Return whether the engine may read a file of the tree."""
        return any(path == part or path.startswith(f"{part}/") for part in self.reach)


def _read_by(probe: str) -> list[str]:
    """Return the files that the probe reads; a `?` is behind those that may be missing."""
    return sorted({file for files in _READ.findall(probe) for file in files.split()})


def is_series(name: str) -> bool:
    """Return whether a name is a kernel series, such as `6.12`; no second number was above 20."""
    return re.fullmatch(r"\d+\.(1?\d|20)", name) is not None


def is_taken(series: str) -> bool:
    """Return whether the simulator takes kernels of a series."""
    return natural(series) >= natural(OLDEST)


def find_engine() -> Engine:
    """Return the engine that comes with schedlab, or the one $SCHEDLAB_ENGINE names.

    Raises:
        KernelError: there is none.
    """
    named = os.environ.get("SCHEDLAB_ENGINE")
    folder = Path(named).absolute() if named else data_folder("engine")
    if not (folder / _SOURCES).is_file():
        where = (
            "SCHEDLAB_ENGINE names no engine" if named else "the simulator's sources are missing"
        )
        raise KernelError(f"{folder}: {where} (no {_SOURCES} there).")
    return Engine(folder)
