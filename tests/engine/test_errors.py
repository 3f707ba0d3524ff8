"""Bad input: one clear message with the key path, exit status 2."""

from __future__ import annotations

from typing import Any

import pytest
from conftest import Simulator, machine

OK = {"duration": "10ms", "tasks": [{"name": "a", "program": [{"run": "1ms"}]}]}


def change(obj: Any, path: str, value: Any) -> Any:
    *way, last = path.split("/")
    for step in way:
        obj = obj[int(step) if step.isdigit() else step]
    obj[int(last) if last.isdigit() else last] = value
    return obj


MACHINE = [
    ("topology/llc", ["0-3", "3"], "topology.llc[1]: CPU 3 is already in entry 0"),
    ("topology/llc", ["0-2"], "topology.llc: CPU 3 is in no entry"),
    ("topology/node", ["0-1", "2-3"], "topology.distance: 2 rows are expected"),
    ("topology/cpus", 5000, "topology.cpus: 5000 is not within 1..1024"),
    ("cost/colour", "1ns", "cost.colour: unknown key"),
    ("cost/tick", "fast", 'cost.tick: "fast" is not a quantity like "1.5us"'),
    ("cpu", [{"cpus": "0-3", "capacity": 0}], "cpu[0].capacity: 0 is not within 1..1024"),
    (
        "topology/core",
        {"threads": 2, "stride": 3},
        "topology.core: threads and stride do not divide",
    ),
]

SCENARIO = [
    ("duration", 5, "duration: a quantity with its unit is expected"),
    ("tasks/0/program", [], "tasks[0].program: a list of phases is expected"),
    ("tasks/0/program", [{"loop": 0, "body": [{"run": "0ns"}]}], "it would never end"),
    ("tasks/0/nice", 40, "tasks[0].nice: 40 is not within -20..19"),
    ("tasks/0/affinity", "0-9", "tasks[0].affinity: 0-9 is not within 0-3"),
    ("tasks/0/group", "/x", 'tasks[0].group: no group "/x" in groups'),
    ("colour", "red", "colour: unknown key"),
    ("features", {"WA_IDEL": False}, "features.WA_IDEL: this kernel has no such scheduler feature"),
    ("ablate", ["gravity"], 'ablate[0]: no mechanism "gravity"'),
    ("end", {"when": "workloads_done"}, "end.max_simulated: missing"),
    ("knobs", {"/proc/sys/kernel/nothing": "1"}, "/proc/sys/kernel/nothing: No such file"),
]


@pytest.mark.parametrize(("path", "value", "message"), MACHINE)
def test_machine(sim: Simulator, path: str, value: Any, message: str) -> None:
    bad = machine("smp4")
    change(bad, path, value)
    done = sim.start(bad, OK)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_missing_cost(sim: Simulator) -> None:
    bad = machine("smp4")
    del bad["cost"]["irq"]
    done = sim.start(bad, OK)
    assert done.returncode == 2
    assert "cost.irq: missing" in done.stderr


@pytest.mark.parametrize(("path", "value", "message"), SCENARIO)
def test_scenario(sim: Simulator, path: str, value: Any, message: str) -> None:
    bad: Any = {"duration": "10ms", "tasks": [{"name": "a", "program": [{"run": "1ms"}]}]}
    change(bad, path, value)
    done = sim.start("smp4", bad)
    assert (done.returncode, message in done.stderr) == (2, True), done.stderr


def test_bounds_end_a_run(sim: Simulator) -> None:
    endless = {
        "duration": "1s",
        "workloads": [{"kind": "sched-pipe", "loop": 1 << 30}],
        "end": {"when": "workloads_done", "max_simulated": "100ms"},
    }
    assert sim.start("smp4", endless).returncode == 4
