"""The engine's floors: what lies below uses nothing of what lies above, by the symbols of a build."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pytest
from conftest import ROOT, build

from tests.helpers import builds

LIBRARY = re.compile(r"(mem|str)[a-z]+")
"""What the kernel's side takes of the C library: functions of these names the kernel has too."""

Symbols = Callable[[str, bool], set[str]]


@pytest.fixture
def symbols(series: str) -> Symbols:
    """Names that a folder of a build's objects defines, or leaves to others."""
    build(series)
    out = builds.objects(series)

    @cache
    def of(folder: str, defined: bool) -> set[str]:
        objects = sorted((out / folder).rglob("*.o"))
        assert objects
        which = "--defined-only" if defined else "--undefined-only"
        listed = subprocess.run(
            ["nm", "-g", "-P", which, *objects], capture_output=True, text=True, check=True
        )
        lines = [line.split() for line in listed.stdout.splitlines()]
        return {words[0] for words in lines if len(words) > 1}

    return of


def test_hardware_uses_nothing_above(symbols: Symbols) -> None:
    above = {name for folder in ("k", "kernel", "run") for name in symbols(folder, True)}
    assert symbols("hw", False) & above == set()


def linked(file: Path) -> set[str]:
    """Names that the linker's script defines."""
    return set(re.findall(r"\b(\w+) = ", file.read_text()))


def test_kernel_uses_hardware_only(symbols: Symbols) -> None:
    """The rest are stubs, the linker's own names and functions the C library lends it."""
    script = linked(ROOT / "engine/scripts/sched.ld")
    stubs = set((ROOT / "engine/stubs.txt").read_text().splitlines())
    below = {name for folder in ("k", "kernel", "hw") for name in symbols(folder, True)}
    rest = symbols("kernel", False) - below - script - stubs
    assert {name for name in rest if not LIBRARY.fullmatch(name)} == set()
    assert not (symbols("k", False) | symbols("kernel", False)) & symbols("run", True)


def test_workloads_use_their_calls_only(symbols: Symbols) -> None:
    """Whatever runs them: the same sources are compiled for a host."""
    engine = {name for folder in ("k", "kernel", "hw", "run") for name in symbols(folder, True)}
    used = symbols("workloads", False) & engine
    assert used and all(name.startswith("wl_") for name in used)
