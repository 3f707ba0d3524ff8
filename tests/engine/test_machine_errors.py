"""A bad machine file is one clear error with file and key path, by the lab and by schedsim alike.

The lab refuses what no machine can be; costs, symmetric distances and SMT speeds are the
simulator's to check, and the lab hands on its words.
"""

from __future__ import annotations

import copy
import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
import tomli_w

from schedlab.base.errors import UsageError
from schedlab.machine.model import load_machine
from schedlab.machine.simulator import description
from tests.helpers.engine.simulator import ROOT, Simulator

Path_ = tuple[str | int, ...]
GONE = object()

CASES: dict[str, tuple[str, Path_, Any, str | None, str]] = {
    "overlapping CPUs": (
        "numa16",
        ("topology", "llc"),
        ["0-3", "3-7", "8-11", "12-15"],
        "topology.llc[1]: CPU 3 is already in llc[0]",
        "topology.llc[1]: CPU 3 is already in entry 0",
    ),
    "a CPU in no node": (
        "numa16",
        ("topology", "node"),
        ["0-3", "4-7", "8-11", "12-14"],
        "topology.node: CPU 15 missing; every CPU is in one group",
        "topology.node: CPU 15 is in no entry",
    ),
    "a CPU beyond the last": (
        "smp4",
        ("topology", "llc"),
        ["0-4"],
        "topology.llc[0]: CPU 4 is not in cpus",
        "topology.llc[0]: 0-4 is not within 0-3",
    ),
    "missing distances": (
        "numa16",
        ("topology", "distance"),
        GONE,
        "topology.distance: missing; 4 nodes need 4 rows of 4",
        "topology.distance: 4 rows are expected, one for each node",
    ),
    "a row of distances too short": (
        "numa16",
        ("topology", "distance", 2),
        [20, 22, 10],
        "topology.distance[2]: has 3 distances for 4 nodes",
        "topology.distance[2]: 4 distances are expected",
    ),
    "asymmetric distances": (
        "numa16",
        ("topology", "distance", 0, 1),
        15,
        None,
        "topology.distance: nodes 0 and 1 differ there and back",
    ),
    "a missing cost": ("smp4", ("cost", "ipi_latency"), GONE, None, "cost.ipi_latency: missing"),
    "no frequency": ("smp4", ("core",), GONE, None, "core: missing"),
    "a core's ipc": ("smp4", ("core", "ipc"), 1, None, "core.ipc: unknown key"),
    "an unknown program": (
        "smp4",
        ("work",),
        {"quake": {"frame": 1}},
        None,
        "work.quake.frame: unknown",
    ),
    "an unknown figure": (
        "smp4",
        ("work",),
        {"sqlite": {"row": 1}},
        None,
        "work.sqlite.row: unknown key",
    ),
    "work that takes nothing": (
        "smp4",
        ("work",),
        {"sqlite": {"write": 0}},
        None,
        "work.sqlite.write: 0 is",
    ),
    "no costs at all": ("smp4", ("cost",), GONE, None, "cost: missing"),
    "an unknown cost": ("smp4", ("cost", "colour"), "1ns", None, "cost.colour: unknown key"),
    "a cost without a unit": (
        "smp4",
        ("cost", "tick"),
        "fast",
        "cost.tick",
        'cost.tick: "fast" is not a quantity like "1.5us"',
    ),
    "a negative cost": (
        "smp4",
        ("cost", "wake_lines"),
        -1,
        "cost.wake_lines",
        "cost.wake_lines: -1 is not within 0..100",
    ),
    "zero capacity": (
        "biglittle-6",
        ("cpu", 0, "capacity"),
        0,
        "cpu[0].capacity: more than 0 is expected (found 0)",
        "cpu[0].capacity: 0 is not within 1..1024",
    ),
    "an unknown key": (
        "smp4",
        ("colour",),
        "red",
        "colour: unknown key.",
        "colour: unknown key",
    ),
    "an unknown key of the topology": (
        "smp4",
        ("topology", "lcc"),
        ["0-3"],
        "topology.lcc: unknown key. Did you mean llc?",
        "topology.lcc: unknown key",
    ),
    "siblings without speeds": ("smt8", ("smt",), GONE, None, "smt: missing, and CPU 0"),
    "no cache": ("smp4", ("cache",), GONE, None, "cache: missing"),
}


def changed(table: Any, path: Path_, value: Any) -> Any:
    """A copy with something put in place or taken away."""
    table = copy.deepcopy(table)
    place = table
    for step in path[:-1]:
        place = place[step]
    if value is GONE:
        del place[path[-1]]
    else:
        place[path[-1]] = value
    return table


@pytest.mark.parametrize("case", CASES)
def test_the_lab_says_where(case: str, tmp_path: Path) -> None:
    machine, path, value, problem, _ = CASES[case]
    table = tomllib.loads((ROOT / "machines" / f"{machine}.toml").read_text())
    file = tmp_path / "bad.toml"
    file.write_text(tomli_w.dumps(changed(table, path, value)))
    if problem is None:
        description(load_machine(file))
        return
    with pytest.raises(UsageError) as refused:
        load_machine(file)
    assert str(refused.value).startswith(f"{file}: {problem}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("case", CASES)
def test_schedsim_says_where(sim: Simulator, case: str) -> None:
    machine, path, value, _, problem = CASES[case]
    described = json.loads(sim.machine(machine).read_text())
    done = sim.start(changed(described, path, value), {"duration": "1ms"})
    assert done.returncode == 2
    assert done.stderr.startswith("schedsim: ")
    assert f".json: {problem}" in done.stderr
    assert len(done.stderr.splitlines()) == 1
