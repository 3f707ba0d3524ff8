"""The same build, scenario and seed give the same trace hash, whatever compiled them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from conftest import Json, Simulator
from scenarios import scenario

SEEDS = range(200, 212)


def hashes(sim: Simulator) -> list[str]:
    """A refused setting counts as an outcome: it has to be the same too."""
    found = []
    for seed in SEEDS:
        machine, case = scenario(seed)
        done = sim.start(machine, case)
        assert done.returncode in (0, 2), done.stderr[-3000:]
        found.append(
            done.stderr
            if done.returncode
            else sim.result.read_text().split('"trace_hash": "')[1][:16]
        )
    return found


@pytest.mark.parametrize("variables", [{"OPT": "-O3"}, {"CC": "clang"}], ids=["gcc -O3", "clang"])
def test_builds_agree(variant: Callable[..., Simulator], variables: dict[str, str]) -> None:
    if not shutil.which(variables.get("CC", "gcc")):
        pytest.skip(f"{variables['CC']} is not installed")
    assert hashes(variant("6.12", **variables)) == hashes(variant("6.12"))


def test_runs_agree(sim: Simulator) -> None:
    """Addresses are random from run to run; nothing may depend on them."""
    assert hashes(sim) == hashes(sim)


def test_where_memory_lies_does_not_matter(
    sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Threads that end leave their memory to others, or, as here the second time, to nobody."""
    mix: Json = {
        "duration": "100s",
        "workloads": [
            {"kind": "futex-wake", "threads": 60, "repeat": 3},
            {"kind": "sysbench-cpu", "threads": 8, "time": "50ms"},
            {"kind": "hackbench", "groups": 1, "loops": 50, "threads": True, "pipe": True},
            {"kind": "unixbench", "test": "execl", "copies": 3, "duration": "30ms"},
        ],
        "end": {"when": "workloads_done", "max_simulated": "100s"},
    }
    reused = sim("smp4", mix)["trace_hash"]
    never_freed = tmp_path / "never_freed.so"
    source = "void free(void *p) { (void)p; }"
    compile_it = ["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(never_freed), "-"]
    subprocess.run(compile_it, input=source, text=True, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(never_freed))
    assert sim("smp4", mix)["trace_hash"] == reused
