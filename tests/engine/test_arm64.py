"""The engine built for arm64 by another compiler, which optimizes more, takes the same decisions.

It runs under qemu's user emulation.
"""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest

from schedlab.kernels.cache import cache_folder
from tests.helpers.engine.scenarios import outcomes
from tests.helpers.engine.simulator import ROOT, Simulator, build, build_folder
from tests.helpers.kernel_source import kernel_source

LINKER = "aarch64-linux-gnu-ld"
ARM64 = cache_folder() / "arm64"
JANSSON = ARM64 / "usr/lib/aarch64-linux-gnu/libjansson.a"
SEEDS = range(300, 304)
OF_AN_ARCHITECTURE = ("hw/coro.o", "hw/fail.o", "hw/scheduler_code.o", "calls/work.o")
"""Where we ask which it is."""


@pytest.fixture
def emulator() -> list[str]:
    """qemu with the C library for arm64, where it, the compiler and jansson are there."""
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if not qemu or not shutil.which(LINKER) or not shutil.which("clang"):
        pytest.skip(
            f"needs clang, {LINKER} and qemu-aarch64 (gcc-aarch64-linux-gnu, qemu-user-static)"
        )
    if not JANSSON.is_file():
        pytest.skip("no jansson for arm64 in the cache: scripts/setup.sh test downloads it")
    return [qemu, "-L", "/usr/aarch64-linux-gnu"]


def test_same_hash_as_here(
    emulator: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CPATH", str(ARM64 / "usr/include"))
    compiler = build_folder("clang-arm64")
    compiler.parent.mkdir(parents=True, exist_ok=True)
    compiler.write_text('#!/bin/sh\nexec clang --target=aarch64-linux-gnu "$@"\n')
    compiler.chmod(0o755)
    program = build("6.12", CC=str(compiler), OPT="-O3", LDLIBS=str(JANSSON))
    wrapper = tmp_path / "schedsim"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(emulator)} {program} "$@"\n')
    wrapper.chmod(0o755)
    here = outcomes(Simulator(build("6.12"), tmp_path), SEEDS)
    assert outcomes(Simulator(wrapper, tmp_path), SEEDS) == here


def test_clang_compiles_what_is_of_an_architecture(tmp_path: Path) -> None:
    """Of the one that is here, which the other test does not build."""
    if not shutil.which("clang"):
        pytest.skip("clang is not installed")
    asking = {
        str(file.relative_to(ROOT))
        for folder in ("engine", "workloads")
        for file in (ROOT / folder).rglob("*.[ch]")
        if "__x86_64__" in file.read_text()
    }
    assert {Path(file).stem for file in asking} == {Path(each).stem for each in OF_AN_ARCHITECTURE}
    command = ["make", "-C", ROOT / "engine", "CC=clang", f"O={tmp_path}"]
    command += [
        f"KERNEL={kernel_source('6.12')}",
        *(tmp_path / each for each in OF_AN_ARCHITECTURE),
    ]
    subprocess.run(command, check=True, capture_output=True)
