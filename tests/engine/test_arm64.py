"""The engine built for arm64 takes the same decisions, run under qemu's user emulation."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from conftest import Simulator, build
from scenarios import scenario

COMPILER = "aarch64-linux-gnu-gcc"
SEEDS = range(300, 304)


@pytest.fixture
def emulator(tmp_path: Path) -> str:
    """qemu, where it, the cross compiler and jansson for arm64 are there."""
    qemu = shutil.which("qemu-aarch64-static") or shutil.which("qemu-aarch64")
    if not qemu or not shutil.which(COMPILER):
        pytest.skip(f"needs {COMPILER} and qemu-aarch64 (gcc-aarch64-linux-gnu, qemu-user-static)")
    program = tmp_path / "program"
    (tmp_path / "program.c").write_text(
        "#include <jansson.h>\nint main(void) { return !json_object(); }\n"
    )
    compile_ = [COMPILER, str(tmp_path / "program.c"), "-o", str(program), "-ljansson"]
    if subprocess.run(compile_, capture_output=True, check=False).returncode:
        pytest.skip("needs jansson for arm64 (dpkg --add-architecture arm64; libjansson-dev:arm64)")
    if subprocess.run([qemu, str(program)], capture_output=True, check=False).returncode:
        pytest.skip(f"{qemu} does not run a program with jansson for arm64")
    return qemu


def hashes(sim: Simulator) -> list[str]:
    return [sim(*scenario(seed))["trace_hash"] for seed in SEEDS]


def test_same_hash_as_here(emulator: str, series: str, sim: Simulator, tmp_path: Path) -> None:
    wrapper = tmp_path / "schedsim"
    wrapper.write_text(f'#!/bin/sh\nexec {emulator} {build(series, CC=COMPILER)} "$@"\n')
    wrapper.chmod(0o755)
    assert hashes(Simulator(wrapper, tmp_path)) == hashes(sim)
