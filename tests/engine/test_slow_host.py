"""A host that has others to serve does not change what a run says."""

from __future__ import annotations

import json
import signal
import subprocess
import time

import pytest

from tests.helpers.engine.simulator import Json, Simulator, machine


def big_machine() -> Json:
    """Return a machine of 1024 CPUs, which takes a second to boot."""
    big = machine("smp4")
    nodes = [f"{i * 128}-{i * 128 + 127}" for i in range(8)]
    big["topology"] |= {
        "cpus": 1024,
        "core": [f"{cpu}" for cpu in range(1024)],
        "llc": nodes,
        "package": nodes,
        "node": nodes,
        "distance": [[10 if a == b else 20 for b in range(8)] for a in range(8)],
    }
    return big


@pytest.mark.parametrize("series", ["6.12"], indirect=True)  # the engine's watch, of any tree
def test_a_long_boot_on_a_loaded_host_is_no_hang(sim: Simulator) -> None:
    """The process gets the CPU for a moment a second, for longer than a hang may last."""
    scenario = sim.scratch / "scenario.json"
    scenario.write_text(json.dumps({"duration": "1ms"}))
    command = [str(sim.binary), "--machine", str(sim.machine(big_machine()))]
    command += ["--scenario", str(scenario), "--out", str(sim.scratch / "result.json")]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        time.sleep(0.3)
        for _ in range(12):
            process.send_signal(signal.SIGSTOP)
            time.sleep(1.01)
            process.send_signal(signal.SIGCONT)
            time.sleep(0.001)
        _, errors = process.communicate()
    assert process.returncode == 0, errors
