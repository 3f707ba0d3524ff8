"""The same build, scenario and seed give the same trace hash; test_arm64.py has another compiler."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests.helpers.engine.scenarios import outcomes
from tests.helpers.engine.simulator import Json, Simulator

SEEDS = range(200, 212)
ADDR_NO_RANDOMIZE = 0x40000


def test_runs_agree(sim: Simulator) -> None:
    """Addresses are random from run to run; nothing may depend on them."""
    assert outcomes(sim, SEEDS) == outcomes(sim, SEEDS)


def test_a_run_has_the_addresses_of_the_last(
    sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A patch may decide by one; the program waits for its scenario while we look."""
    monkeypatch.delenv("SCHEDSIM_ADDRESSES")
    fifo = tmp_path / "scenario.json"
    os.mkfifo(fifo)
    command = [str(sim.binary), "--machine", str(sim.machine("smp4")), "--scenario", str(fifo)]
    command += ["--out", "/dev/null"]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as run, fifo.open("w"):
        persona = int(Path(f"/proc/{run.pid}/personality").read_text(), 16)
    assert persona & ADDR_NO_RANDOMIZE


MIX: Json = {
    "duration": "100s",
    "workloads": [
        {"kind": "futex-wake", "threads": 60, "repeat": 3},
        {"kind": "sysbench-cpu", "threads": 8, "time": "50ms"},
        {"kind": "hackbench", "groups": 1, "loops": 50, "threads": True, "pipe": True},
        {"kind": "unixbench", "test": "execl", "copies": 3, "duration": "30ms"},
    ],
    "end": {"when": "workloads_done", "max_simulated": "100s"},
}
SERVICES: Json = {
    "duration": "2s",
    "workloads": [{"kind": "deathstarbench", "ccds": 1, "connections": 8, "duration": "1s"}],
}


@pytest.mark.parametrize(("described", "mix"), [("smp4", MIX), ("small-2n-smt2", SERVICES)])
def test_where_memory_lies_does_not_matter(
    sim: Simulator, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, described: str, mix: Json
) -> None:
    """Threads that end leave their memory to others, or, as here the second time, to nobody.

    On a machine of several LLCs a waker compares whom it wakes with the address of whom it woke
    last, who may be gone.
    """
    reused = sim(described, mix)["trace_hash"]
    never_freed = tmp_path / "never_freed.so"
    source = "void free(void *p) { (void)p; }"
    compile_it = ["gcc", "-shared", "-fPIC", "-x", "c", "-o", str(never_freed), "-"]
    subprocess.run(compile_it, input=source, text=True, check=True)
    monkeypatch.setenv("LD_PRELOAD", str(never_freed))
    assert sim(described, mix)["trace_hash"] == reused
