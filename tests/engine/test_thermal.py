"""Warm CPUs: the temperature follows the power, and the kernel's step_wise governor holds it."""

from __future__ import annotations

import copy
import math
import re
from typing import Any

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Simulator, machine

HOG = {"program": [{"run": "10ms"}]}
TOP_MW = 1572
"""Of a busy big CPU of HiKey960 at its highest frequency."""


def warm(**thermal: Any) -> dict[str, Any]:
    """HiKey960 with another thermal zone."""
    board = copy.deepcopy(machine("hikey960"))
    board["thermal"] |= thermal
    return board


def hogs(cpus: range, duration: str) -> dict[str, Any]:
    tasks = [{"name": f"h{cpu}", "affinity": str(cpu), **HOG} for cpu in cpus]
    return {"duration": duration, "tasks": tasks}


def traced(sim: Simulator, board: dict[str, Any], asked: dict[str, Any], event: str) -> str:
    path = sim.scratch / "trace.txt"
    sim(board, asked, "--trace", str(path), "--trace-events", event)
    return path.read_text()


def temperatures(
    sim: Simulator, board: dict[str, Any], asked: dict[str, Any]
) -> list[tuple[float, float]]:
    """When the kernel looked, and what it found, in seconds and degrees."""
    lines = traced(sim, board, asked, "thermal:thermal_temperature")
    found = re.findall(r" (\d+\.\d+): thermal_temperature:.* temp=(-?\d+)$", lines, re.MULTILINE)
    return [(float(time), int(millidegrees) / 1000) for time, millidegrees in found]


def frequencies(
    sim: Simulator, board: dict[str, Any], asked: dict[str, Any], cpu: int
) -> list[tuple[float, int]]:
    """When a CPU's frequency changed, and to what, in seconds and MHz."""
    lines = traced(sim, board, asked, "power:cpu_frequency")
    found = re.findall(
        rf" (\d+\.\d+): cpu_frequency: state=(\d+) cpu_id={cpu}$", lines, re.MULTILINE
    )
    return [(float(time), int(khz) // 1000) for time, khz in found]


def test_busy_cpus_warm_it_as_one_resistance_and_one_capacity(sim: Simulator) -> None:
    board = warm(trip=150, polling="500ms", resistance=10, heat_capacity=0.5, base_mw=500)
    seen = temperatures(sim, board, hogs(range(4, 8), "10s"))
    assert len(seen) >= 18
    start, end = 25 + 10 * 0.5, 25 + 10 * (0.5 + 4 * TOP_MW / 1000)
    for time, found in seen:
        assert found == pytest.approx(end - (end - start) * math.exp(-time / 5), abs=0.4)


def test_a_quick_one_does_not_swing(sim: Simulator) -> None:
    """Its time constant is a tenth of a second, the kernel looks once a second."""
    board = warm(trip=150, polling="1s", resistance=10, heat_capacity=0.01, base_mw=500)
    _, *found = (degrees for _, degrees in temperatures(sim, board, hogs(range(4, 8), "5s")))
    assert all(degrees == pytest.approx(25 + 10 * 6.788, abs=0.5) for degrees in found)


def test_an_idle_board_stays_as_it_is(sim: Simulator) -> None:
    seen = temperatures(sim, warm(ambient=30, base_mw=1000, resistance=10), {"duration": "3s"})
    assert seen
    assert all(found == pytest.approx(40, abs=0.2) for _, found in seen)


@pytest.mark.parametrize("governor", ["performance", "schedutil"])
def test_the_trip_holds_it(sim: Simulator, governor: str) -> None:
    """Four busy big CPUs would end at 88 degrees at 2112 MHz and at 71 at 1805: they go to and fro."""
    board = warm(heat_capacity=0.2, resistance=12)
    for entry in board["cpu"]:
        entry["governor"] = governor
    seen = temperatures(sim, board, hogs(range(4, 8), "20s"))
    late = [found for time, found in seen if time > 5]
    assert min(late) > 74 and max(late) < 82
    changes = [
        mhz for time, mhz in frequencies(sim, board, hogs(range(4, 8), "20s"), 4) if time > 5
    ]
    assert {1805, 2112} <= set(changes)


def test_a_capped_cpu_does_less(sim: Simulator) -> None:
    cool, hot = (
        sum(task["ops"] for task in sim(board, hogs(range(4, 8), "10s"))["tasks"])
        for board in (warm(trip=190), warm(heat_capacity=0.2))
    )
    sustained = ((75 - 25) / 9.72 - 0.645) / (4 * TOP_MW / 1000)
    assert sustained < hot / cool < 0.95


def test_the_scheduler_sees_what_is_left(sim: Simulator) -> None:
    """A task that wakes goes to a little CPU when a big one can do a fifth."""
    program = [{"run": "3ms"}, {"sleep": "1ms"}]
    asked = {"duration": "3s", "tasks": [{"name": "t", "program": program}]}
    cool = sim(warm(trip=190), asked)["per_cpu"]
    hot = sim(capped(), asked)["per_cpu"]
    assert sum(cpu["user_ns"] for cpu in cool[4:]) > 2e9
    assert sum(cpu["user_ns"] for cpu in hot[:4]) > 2e9


def capped() -> dict[str, Any]:
    """Its big CPUs can do a fifth as soon as the first look finds it too warm."""
    board = warm(ambient=80, trip=60, polling="10ms", passive_polling="1s", heat_capacity=1e4)
    little, big = board["cpu"]
    little["opp"] = little["opp"][-1:]
    big["opp"] = [{"mhz": 472, "power_mw": 100}, big["opp"][-1]]
    return board


def test_without_a_zone_nothing_looks(sim: Simulator) -> None:
    counted = sim("juno-r0", hogs(range(1, 3), "2s"))["counters"]
    assert not [name for name in counted if name.startswith("thermal:")]


def test_a_cool_board_under_performance_never_changes(sim: Simulator) -> None:
    assert frequencies(sim, warm(trip=190), hogs(range(8), "3s"), 4) == []


def refusal(sim: Simulator, board: dict[str, Any]) -> str:
    return refused(sim, board, {"duration": "1s"})


def test_bad_zones(sim: Simulator) -> None:
    missing = warm()
    del missing["thermal"]["trip"]
    assert "thermal.trip: missing" in refusal(sim, missing)
    assert "thermal.resistance:" in refusal(sim, warm(resistance=0))
    assert "1 ms or more" in refusal(sim, warm(polling="10us"))
    assert "thermal.zone: unknown key" in refusal(sim, warm(zone=1))
    powerless = warm()
    powerless["cpu"] = [{"cpus": "0-7"}]
    assert "thermal: the power of the CPUs' operating points is missing" in refusal(sim, powerless)
    misnamed = warm()
    misnamed["cpu"][0]["governor"] = "ondemand"
    assert "cpu[0].governor: schedutil or performance" in refusal(sim, misnamed)


def test_the_misfit_test_on_a_board_that_warms_up(sim: Simulator) -> None:
    """The first rounds at full speed, the last at about one operating point less."""
    load = Load(sim, "hikey960", scenario("misfit", rounds=10))
    longest = [load[f"longest {number}"] for number in range(1, 11)]
    assert longest[0] == max(load[f"time {number}"] for number in range(1, 5))
    assert sum(longest) / 10 == pytest.approx(load["longest"])
    assert max(longest[:3]) < 1.85
    assert longest[-1] > 1.85
