"""The programs that load sched_ext schedulers into a guest's kernel.

Those of a tree's tools/sched_ext are built by the tree's own Makefile, with clang, for the types
(BTF) of the kernel that is booted. Of the scx project's schedulers the BPF half alone is compiled,
and guest/scx/load.c loads it with the set-up that it is given.
"""

import hashlib
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from schedlab.base.data import data_folder
from schedlab.kernels import KernelError
from schedlab.kernels.cache import cache_folder, disk_errors, only_one
from schedlab.kernels.engine import SCHEDULERS
from schedlab.kernels.process import output
from schedlab.kernels.progress import Watch
from schedlab.kernels.schedulers import Scheduler, find_scheduler
from schedlab.kernels.scx_tree import scx_sources, scx_tree
from schedlab.kernels.shelf import Base, Shelf
from schedlab.kernels.whole_tree import WholeTree

RECORDER = "scx-record"
"""Our program that records the operations of the scheduler that is loaded."""
_LOADER = "schedlab-scx-load"
"""Our program that loads a scheduler of the scx project."""
_SOURCES = {RECORDER: "record.c", _LOADER: "load.c"}
_EASIEST = "simple"
"""The tree's scheduler whose program is built for what all need: libbpf, bpftool, vmlinux.h."""
_FOR_BPF = ("-g", "-O2", "-w", "-mcpu=v3", "-target", "bpf", "-D__TARGET_ARCH_x86")
_HEADERS_OF_C = "/usr/include/x86_64-linux-gnu"
_HEADERS_FOR_BPF = "bpf-compat"
"""Where the scx project keeps headers that only BPF needs."""

_PACKED = {
    b"\x28\xb5\x2f\xfd": "zstd",
    b"\xfd7zXZ\0": "xz",
    b"\x1f\x8b\x08": "gzip",
    b"\x02!L\x18": "lz4",
}
"""How the kernel in an image may be packed, by what it begins with."""
_ELF = b"\x7fELF"
_OLDEST_CLANG = 18
"""The first that knows address spaces, which arenas of schedulers need."""
_NEEDED = "apt-get install clang-19 llvm libelf-dev zlib1g-dev make gcc"
_WRONG = re.compile(r"^.*(?:error:|\*\*\*|not found|No such file).*$", re.M)


class ScxPrograms:
    """What of a tree's schedulers can be loaded into one kernel."""

    def __init__(self, base: Base, image: Path, watch: Watch) -> None:
        """Take the tree and the kernel; nothing is built yet."""
        self._base = base
        self._image = image
        self._watch = watch
        about = f"{base.identity} {base.release} {image} {image.stat().st_mtime_ns} {_clang()}"
        self._folder = cache_folder() / "scx" / hashlib.sha256(about.encode()).hexdigest()[:16]

    def files(self, scheduler: str, words: Sequence[str] | None) -> dict[str, Path]:
        """Return what a guest needs to start `scx_NAME`, by the places there.

        `words` are those of guest/scx/load.c for a scheduler of the scx project, None if its
        set-up is not known.

        Raises:
            KernelError: as loader(), or it is such a scheduler without words.
        """
        program = f"/usr/bin/scx_{scheduler}"
        tree = scx_tree(Shelf())
        if self._has(scheduler) or not tree or scheduler not in scx_sources(tree):
            return {program: self.loader(scheduler)}
        if words is None:
            raise KernelError(
                f"scx={scheduler}: its own program, scx_{scheduler}, is not installed here, and"
                " what it does at start is not known for guests (docs/manual/scx.md)."
            )
        source = find_scheduler(scheduler, False, self._base, tree)
        compiled, loader = self._object(scheduler, source), self._own(_LOADER)
        at = f"/usr/lib/{compiled.name}"
        script = f"#!/bin/sh\nexec {shlex.join([f'/usr/bin/{_LOADER}', at, *words])}\n"
        start = self._folder / f"{scheduler}-{hashlib.sha256(script.encode()).hexdigest()[:12]}.sh"
        start.write_text(script)
        start.chmod(0o755)
        return {program: start, at: compiled, f"/usr/bin/{_LOADER}": loader}

    def _has(self, scheduler: str) -> bool:
        return (self._base.tree / SCHEDULERS / f"scx_{scheduler}.c").is_file()

    def loader(self, scheduler: str) -> Path:
        """Return the program that loads a scheduler of the tree, `scx_NAME`.

        Raises:
            KernelError: the tree has no such scheduler, a tool is missing, or it does not build.
        """
        if not self._has(scheduler):
            raise KernelError(
                f"{self._base.name} has no program for the scheduler '{scheduler}'"
                f" ({SCHEDULERS}/scx_{scheduler}.c)."
            )
        program = self._build / "bin" / f"scx_{scheduler}"
        if not program.exists():
            with self._alone(f"building {program.name}"):
                self._make(program.name)
        return program

    def recorder(self) -> Path:
        """Return the program that records operations.

        Raises:
            KernelError: it does not build.
        """
        return self._own(RECORDER)

    def _own(self, name: str) -> Path:
        """Return one of our programs, of guest/scx."""
        self.loader(_EASIEST)
        sources = data_folder("guest") / "scx"
        version = hashlib.sha256(b"".join(each.read_bytes() for each in sorted(sources.iterdir())))
        program = self._folder / f"{name}-{version.hexdigest()[:12]}"
        if not program.exists():
            with self._alone(f"building {name}"):
                if name == RECORDER:
                    self._make_skeleton(sources)
                self._compile(name, sources / _SOURCES[name], program)
        return program

    def _object(self, name: str, scheduler: Scheduler) -> Path:
        """Return a scheduler of the scx project compiled to BPF, its parts linked."""
        self.loader(_EASIEST)
        compiled = self._folder / f"scx_{name}-{scheduler.content}.bpf.o"
        if compiled.exists():
            return compiled
        wrong = f"{scheduler.source} does not build for BPF"
        include = self._build / "include"
        folders = [*scheduler.includes, *(each / _HEADERS_FOR_BPF for each in scheduler.includes)]
        includes = [f"-I{folder}" for folder in (*folders, include, scheduler.source.parent)]
        includes += ["-idirafter", _HEADERS_OF_C]
        with self._alone(f"compiling scx_{name} for BPF"):
            parts = []
            for number, source in enumerate((scheduler.source, *scheduler.parts)):
                parts.append(self._folder / f"scx_{name}.{number}.o")
                call = (clang(), *_FOR_BPF, *includes, "-c", str(source), "-o", str(parts[-1]))
                _run(call, wrong)
            under_way = compiled.with_suffix(".new")
            _run([self._bpftool, "gen", "object", str(under_way), *map(str, parts)], wrong)
            under_way.replace(compiled)
        return compiled

    @property
    def _bpftool(self) -> str:
        return str(self._build / "sbin" / "bpftool")

    @property
    def _build(self) -> Path:
        return self._folder / "build"

    @contextmanager
    def _alone(self, doing: str) -> Iterator[None]:
        self._folder.mkdir(parents=True, exist_ok=True)

        def waiting(holder: str) -> None:
            self._watch.say(f"process {holder} is {doing}; waiting for it.")

        lock = only_one(self._folder.with_suffix(".lock"), waiting)
        with disk_errors(doing), lock, self._watch.task(doing):
            yield

    def _make(self, program: str) -> None:
        tree = WholeTree(self._base, Shelf(), self._watch)
        with only_one(tree.lock, lambda _: None):
            tree.prepare(())
            call = [
                *(
                    "make",
                    "-C",
                    str(tree.source / SCHEDULERS),
                    f"O={self._folder}",
                    f"CLANG={clang()}",
                ),
                *("LLVM_STRIP=" + _tool("llvm-strip"), f"VMLINUX_BTF={self.types()}", program),
            ]
            _run(call, f"{program} does not build")

    def _make_skeleton(self, sources: Path) -> None:
        """Make the header by which the recorder loads its BPF program."""
        compiled, header = self._folder / "record.bpf.o", self._folder / "record.skel.h"
        include, source = self._build / "include", sources / "record.bpf.c"
        call = [clang(), *_FOR_BPF, f"-I{include}", "-c", str(source), "-o", str(compiled)]
        _run(call, f"{RECORDER} does not build")
        call = [self._bpftool, "gen", "skeleton", str(compiled), "name", "record_bpf"]
        status, skeleton = output(call)
        if status:
            raise KernelError(f"{RECORDER} does not build: {skeleton.strip()}")
        header.write_text(skeleton)

    def _compile(self, name: str, source: Path, program: Path) -> None:
        tree = WholeTree(self._base, Shelf(), self._watch).source
        libraries = [str(self._build / "obj/libbpf/libbpf.a"), "-lelf", "-lz"]
        includes = [f"-I{self._folder}", f"-I{self._build / 'include'}"]
        includes.append(f"-I{tree}/tools/include/uapi")
        under_way = program.with_suffix(".new")
        call = ["gcc", "-O2", *includes, "-o", str(under_way), str(source), *libraries]
        _run(call, f"{name} does not build")
        under_way.replace(program)

    def types(self) -> Path:
        """Return a file of the kernel's types, taken from its image.

        Raises:
            KernelError: it has none, or cannot be unpacked.
        """
        self._folder.mkdir(parents=True, exist_ok=True)
        types, whole = self._folder / "vmlinux.btf", self._folder / "vmlinux"
        if not types.exists():
            whole.write_bytes(_unpacked(self._image))
            under_way = types.with_suffix(".new")
            section = f".BTF={under_way}"
            output(["objcopy", "--dump-section", section, str(whole), "/dev/null"])
            whole.unlink()
            if not under_way.exists():
                raise KernelError(
                    f"{self._image}: this kernel has no types for BPF; it takes"
                    " CONFIG_DEBUG_INFO_BTF=y, as Debian's kernels have it."
                )
            under_way.replace(types)
        return types


def clang() -> str:
    """Return the newest clang there is.

    Raises:
        KernelError: there is none that is new enough.
    """
    if found := _clang():
        return found
    raise KernelError(
        f"clang {_OLDEST_CLANG} or newer is not installed; schedulers are compiled to BPF by it."
        f"\n  Install: {_NEEDED}"
    )


def _clang() -> str | None:
    for version in range(40, _OLDEST_CLANG - 1, -1):
        if found := shutil.which(f"clang-{version}"):
            return found
    plain = shutil.which("clang")
    status, said = output([plain, "--version"]) if plain else (1, "")
    number = re.search(r"version (\d+)", said)
    new_enough = not status and number and int(number[1]) >= _OLDEST_CLANG
    return plain if new_enough else None


def _tool(name: str) -> str:
    versions = (f"{name}-{version}" for version in range(40, 13, -1))
    found = next((each for each in (name, *versions) if shutil.which(each)), None)
    if not found:
        raise KernelError(f"{name} is not installed.\n  Install: {_NEEDED}")
    return found


def _run(call: Sequence[str], wrong: str) -> None:
    status, said = output(call)
    if status:
        found = _WRONG.search(said)
        words = found[0] if found else said.strip()[-300:]
        raise KernelError(f"{wrong}: {words.strip()}\n  It needs: {_NEEDED}")


def _unpacked(image: Path) -> bytes:
    data = image.read_bytes()
    for at, tool in sorted(_packed(data)):
        if not shutil.which(tool):
            raise KernelError(f"{image} is packed with {tool}, which is not installed.")
        done = subprocess.run([tool, "-dc"], input=data[at:], capture_output=True, check=False)
        if done.stdout.startswith(_ELF):
            return done.stdout
    raise KernelError(f"{image}: cannot be unpacked, so the types in it cannot be read.")


def _packed(data: bytes) -> Iterator[tuple[int, str]]:
    for begins, tool in _PACKED.items():
        for found in re.finditer(re.escape(begins), data):
            yield found.start(), tool
