"""The engine built for arm64 takes the same decisions, run under qemu's user emulation."""

from __future__ import annotations

import shlex
import shutil
from pathlib import Path

import pytest

from schedlab.kernels.cache import cache_folder
from tests.helpers.engine.scenarios import outcomes
from tests.helpers.engine.simulator import Simulator, build

COMPILER = "aarch64-linux-gnu-gcc"
ARM64 = cache_folder() / "arm64"
JANSSON = ARM64 / "usr/lib/aarch64-linux-gnu/libjansson.a"
SEEDS = range(300, 304)


@pytest.fixture
def emulator() -> list[str]:
    """qemu with the C library for arm64, where it, the cross compiler and jansson are there."""
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if not qemu or not shutil.which(COMPILER):
        pytest.skip(f"needs {COMPILER} and qemu-aarch64 (gcc-aarch64-linux-gnu, qemu-user-static)")
    if not JANSSON.is_file():
        pytest.skip("no jansson for arm64 in the cache: scripts/setup.sh test downloads it")
    return [qemu, "-L", "/usr/aarch64-linux-gnu"]


def test_same_hash_as_here(
    emulator: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CPATH", str(ARM64 / "usr/include"))
    program = build("6.12", CC=COMPILER, LDLIBS=str(JANSSON))
    wrapper = tmp_path / "schedsim"
    wrapper.write_text(f'#!/bin/sh\nexec {shlex.join(emulator)} {program} "$@"\n')
    wrapper.chmod(0o755)
    here = outcomes(Simulator(build("6.12"), tmp_path), SEEDS)
    assert outcomes(Simulator(wrapper, tmp_path), SEEDS) == here
