"""Our own native programs: each built once from the sources here, kept in the user's cache."""

import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from schedlab.base.data import data_folder
from schedlab.base.errors import HostError
from schedlab.base.system.installed import need_programs
from schedlab.kernels.cache import cache_folder, disk_errors, only_one
from schedlab.kernels.process import output

PROGRAM = "schedlab-load"
CPUIDLE_SMT_PERFORMANCE = "cpuidle-smt-performance"
_C = "make gcc libc6-dev"
"""Packages."""


def schedlab_load() -> Path:
    """Return our workloads as a program, building it where these sources have not been built yet.

    Raises:
        HostError: a tool is missing, or it does not compile.
    """
    return _built(PROGRAM, data_folder("workloads"), "load", "make gcc libjansson-dev", _buckets())


def cpuidle_smt_performance() -> Path:
    """Return the tool of docs/manual/cpuidle-smt.md, built likewise.

    Raises:
        HostError: a tool is missing, or it does not compile.
    """
    sources = data_folder("tools") / CPUIDLE_SMT_PERFORMANCE
    return _built(CPUIDLE_SMT_PERFORMANCE, sources, CPUIDLE_SMT_PERFORMANCE, _C, _buckets())


def trace_text() -> Path:
    """Return the library that reads the text of traces, building it likewise.

    Raises:
        HostError: a tool is missing, or it does not compile.
    """
    return _built("trace-text.so", data_folder("tools") / "trace-text", "trace-text", _C)


OWN: dict[str, Callable[[], Path]] = {
    PROGRAM: schedlab_load,
    CPUIDLE_SMT_PERFORMANCE: cpuidle_smt_performance,
}
"""The programs by name, and what builds them."""


def _buckets() -> Path:
    return data_folder("engine") / "include/buckets.h"


def _built(name: str, sources: Path, shelf: str, packages: str, *shared: Path) -> Path:
    folder = cache_folder() / shelf / _version(sources, shared)
    program = folder / name
    if program.exists():
        return program
    compiler = os.environ.get("CC", "gcc")
    need_programs({"make": packages, compiler: packages}, f"building {name}")
    with disk_errors(f"building {name}"), only_one(folder.with_suffix(".lock"), lambda _: None):
        if not program.exists():
            _build(name, sources, folder, compiler, packages)
    return program


def _build(name: str, sources: Path, folder: Path, compiler: str, packages: str) -> None:
    under_way = folder.with_suffix(".under-way")
    shutil.rmtree(under_way, ignore_errors=True)
    status, said = output(["make", "-C", str(sources), f"O={under_way}", f"CC={compiler}"])
    if status:
        wrong = next((line for line in said.splitlines() if "error" in line), said[-300:])
        raise HostError(
            f"{name} does not build: {wrong.strip()}\n  It needs: apt-get install {packages}"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (under_way / name).replace(folder / name)
    shutil.rmtree(under_way)


def _version(sources: Path, shared: tuple[Path, ...]) -> str:
    digest = hashlib.sha256()
    for path in (*sorted(sources.rglob("*")), *shared):
        if path.is_file() and not path.name.startswith("."):
            digest.update(f"{os.path.relpath(path, sources)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]
