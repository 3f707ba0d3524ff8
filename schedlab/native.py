"""schedlab-load, our workloads as a native program: built once, kept in the user's cache."""

import hashlib
import os
import shutil
from pathlib import Path

from schedlab.data import data_folder
from schedlab.errors import HostError
from schedlab.kernels.cache import cache_folder, disk_errors, only_one
from schedlab.kernels.process import output

PROGRAM = "schedlab-load"


def schedlab_load() -> Path:
    """Give the program, building it where these sources have not been built yet.

    Raises:
        HostError: a tool is missing, or it does not compile.
    """
    sources = data_folder("workloads")
    folder = cache_folder() / "load" / _version(sources)
    program = folder / PROGRAM
    if program.exists():
        return program
    compiler = os.environ.get("CC", "gcc")
    for tool in ("make", compiler):
        if shutil.which(tool) is None:
            raise HostError(
                f"{PROGRAM} has to be built, and {tool} is not installed."
                "\n  Install: apt-get install make gcc libjansson-dev"
            )
    with disk_errors(f"building {PROGRAM}"), only_one(folder.with_suffix(".lock"), lambda _: None):
        if not program.exists():
            _build(sources, folder, compiler)
    return program


def _build(sources: Path, folder: Path, compiler: str) -> None:
    under_way = folder.with_suffix(".under-way")
    shutil.rmtree(under_way, ignore_errors=True)
    status, said = output(["make", "-C", str(sources), f"O={under_way}", f"CC={compiler}"])
    if status:
        wrong = next((line for line in said.splitlines() if "error" in line), said[-300:])
        raise HostError(
            f"{PROGRAM} does not build: {wrong.strip()}"
            "\n  It needs: apt-get install make gcc libjansson-dev"
        )
    folder.mkdir(parents=True, exist_ok=True)
    (under_way / PROGRAM).replace(folder / PROGRAM)
    shutil.rmtree(under_way)


def _version(sources: Path) -> str:
    digest = hashlib.sha256()
    for path in sorted(sources.rglob("*")):
        if path.is_file() and not path.name.startswith("."):
            digest.update(f"{path.relative_to(sources)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()[:12]
