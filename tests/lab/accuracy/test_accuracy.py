"""Calibration and comparison, on worlds that are known."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from schedlab.base.errors import IncompleteRun
from schedlab.lab.accuracy.calibration import CYCLES, LINES, STEPS, Costs, calibrate
from schedlab.lab.accuracy.here import _distance, _pairs
from schedlab.lab.accuracy.single import PLAIN, Outcome, held, load_case
from schedlab.machine.model import find_machine
from schedlab.targets.emulated import EmulatedSystem
from schedlab.targets.host import HostTarget
from tests.helpers.emulated import emulated_host

START = {**find_machine("epyc-7713-2p-nps1").costs(), CYCLES: "272ns"}


def world(costs: Costs) -> Outcome:
    """A simulator that pays each constant as the steps say, and a system call everywhere."""
    ns = {name: float(str(value).removesuffix("ns")) for name, value in costs.items()}
    return Outcome(
        {
            step.operation: 10
            + ns["syscall"] * (step.operation != "atomic")
            + step.times * sum(ns[name] for name in step.constants) * (step.operation != "syscall")
            for step in STEPS
        }
    )


def in_ns(costs: Costs) -> Costs:
    units = {"ns": 1, "us": 1000, "ms": 1e6}
    found: dict[str, str | int] = {}
    for name, value in costs.items():
        unit = next((unit for unit in units if str(value).endswith(unit)), "")
        number = float(str(value).removesuffix(unit)) * units.get(unit, 1)
        found[name] = f"{number:.0f}ns" if unit else int(number)
    return found


def test_known_constants_are_found_again() -> None:
    true = {**in_ns(START), "syscall": "47ns", "pipe": "31ns", "fork": "34000ns", "lock": "5ns"}
    true |= {"fork_child": "9000ns", "exit": "14000ns", "ipi_latency": "2500ns"}
    found = calibrate(world(true), world, in_ns(START), {})
    for name in ("syscall", "pipe", "lock", "ipi_latency"):
        assert abs(float(str(found.costs[name])[:-2]) - float(str(true[name])[:-2])) <= 2, name
    assert all(abs(off) < 5 for off in found.off.values())
    shared = (float(str(found.costs[name])[:-2]) for name in ("fork", "fork_child", "exit"))
    assert sum(shared) == pytest.approx(57000, abs=100)
    assert found.costs["tick"] == in_ns(START)["tick"]
    assert "tick" not in found.measured


def test_what_cannot_be_reached_is_told() -> None:
    """An operation faster than its other parts leaves its constant at nothing, and is off."""
    real = world(in_ns(START))
    fast = Outcome({**real.results, "pipe turn": 1.0})
    found = calibrate(fast, world, in_ns(START), {})
    assert found.costs["pipe"] == "0ns"
    assert found.off["pipe turn"] > 100


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        ({}, {}),
        ({"line_llc": 187.0}, {"line_node": "187ns", "line_package": "187ns"}),
        ({"line_llc": 10.0, "line_remote": 90.0}, {"line_cluster": "10ns", "line_node": "90ns"}),
    ],
)
def test_a_line_from_farther_never_comes_sooner(
    measured: Mapping[str, float], expected: Mapping[str, str]
) -> None:
    found = calibrate(world(in_ns(START)), world, in_ns(START), measured).costs
    assert {name: found[name] for name in expected} == expected
    ways = [float(str(found[name])[:-2]) for name in LINES]
    assert ways == sorted(ways)


def test_distances_on_a_machine() -> None:
    machine = find_machine("epyc-7713-2p-nps1")
    assert _distance(machine, 0, 128) == "line_core"
    assert _distance(machine, 0, 1) == "line_llc"
    assert _distance(machine, 0, 8) == "line_node"
    assert _distance(machine, 0, 64) == "line_remote"
    pairs = _pairs(machine)
    assert next(iter(pairs)) == "line_llc"
    assert set(pairs.values()) == {(0, 1), (0, 128), (0, 8), (0, 64)}


def a_host(folder: Path, said: str) -> HostTarget:
    """Return a host on which the load `nanosleep` says something."""
    tools = {"perf": "perf version 6.1.192", "schedlab-load": "", "nice": ""}
    programs = [{"match": "nanosleep", "stdout": said, "counts": {"cpu-migrations": 7.0}}]
    return HostTarget(EmulatedSystem(emulated_host(folder, tools=tools, programs=programs)))


def test_a_load_is_run_as_a_plans_are(tmp_path: Path) -> None:
    said = json.dumps({"results": [{"name": "loops per second", "value": 12.5}]})
    case = load_case("nanosleep", {"processes": 2, "fast": True})
    assert case.label == "nanosleep --processes 2 --fast"
    variant = PLAIN.model_copy(update={"prefix": ("nice", "-n", "5")})
    with held(a_host(tmp_path, said), [case], ("cpu-migrations",)) as bench:
        outcome = bench.run(case, variant)
    assert outcome.results == {"loops per second": 12.5}
    assert (outcome.switches, outcome.migrations) == (None, 7)


def test_a_load_that_fails_has_no_figure(tmp_path: Path) -> None:
    case = load_case("nanosleep", {})
    with (
        held(a_host(tmp_path, "x"), [case], ()) as bench,
        pytest.raises(IncompleteRun, match="nanosleep: schedlab-load wrote no result"),
    ):
        bench.run(case)
