"""The engine's floors: what lies below uses nothing of what lies above."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.helpers.engine.floors import Objects, listing, upward
from tests.helpers.engine.simulator import ROOT

LIBRARY = re.compile(r"(mem|str)[a-z]+")
"""What the kernel's side takes of the C library: functions of these names the kernel has too."""


@pytest.fixture
def objects(series: str) -> Objects:
    return Objects(series)


def test_no_arrow_runs_up(objects: Objects) -> None:
    arrows = objects.arrows()
    print(listing(arrows))
    assert not upward(arrows)


def linked(file: Path) -> set[str]:
    """Names that the linker's script defines."""
    return set(re.findall(r"\b(\w+) = ", file.read_text()))


def test_kernel_uses_hardware_only(objects: Objects) -> None:
    """The rest are stubs, the linker's own names and functions the C library lends it."""
    script = linked(ROOT / "engine/scripts/sched.ld")
    stubs = set((ROOT / "engine/stubs.txt").read_text().splitlines())
    below = {name for folder in ("k", "kernel", "hw") for name in objects.defined(folder)}
    rest = objects.used("kernel") - below - script - stubs
    assert {name for name in rest if not LIBRARY.fullmatch(name)} == set()


def test_workloads_use_their_calls_only(objects: Objects) -> None:
    """Whatever runs them: the same sources are compiled for a host."""
    arrows = objects.arrows()
    assert {owner for user, owner in arrows if user == "workloads"} == {"calls", "registry"}
    calls = arrows["workloads", "calls"] | arrows["workloads", "registry"]
    assert all(name.startswith("wl_") for name in calls)
