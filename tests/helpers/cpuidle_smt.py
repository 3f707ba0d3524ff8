"""Runs of the native tool cpuidle-smt-performance, and the machines it is shown."""

import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from tests.helpers.patience import PATIENCE_SECONDS
from tests.helpers.sysfs_tree import CPU, Tree

SHORT = ("-t", "0.2", "-W", "0")
"""Long enough for wakes even where others load the CPUs."""

HERE = tuple(sorted(os.sched_getaffinity(0)))
needs_two_cpus = pytest.mark.skipif(len(HERE) < 2, reason="waker and irritator need a CPU each")


def placement() -> list[str]:
    """Two CPUs: the workload and a waker that sleeps on one, an irritator on the other."""
    return ["-w", str(HERE[0]), "-a", str(HERE[0]), "-s", "-i", str(HERE[1])]


def start(
    program: str | Path, *words: str, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the tool to its end; what lives so long is not lost memory.

    getopt() names an unknown option by its first byte, which need not be a character.
    """
    return subprocess.run(
        [program, *words],
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
        timeout=PATIENCE_SECONDS,
        env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", **(env or {})},
    )


State = Mapping[str, object]


def sysfs(
    root: Path, online: str, cores: Sequence[str], states: Mapping[int, Sequence[State]]
) -> dict[str, str]:
    """Write a /sys of some CPUs, their cores and idle states; the environment that shows it."""
    tree = Tree(root)
    tree.put(f"{CPU}/online", online)
    for core in cores:
        for cpu in map(int, core.split(",")):
            tree.put(f"{CPU}/cpu{cpu}/topology/core_cpus_list", core)
    for cpu, each in states.items():
        for number, state in enumerate(each):
            for name, value in state.items():
                tree.put(f"{CPU}/cpu{cpu}/cpuidle/state{number}/{name}", value)
    return {"CPUIDLE_SMT_SYSFS": str(root / "sys")}
