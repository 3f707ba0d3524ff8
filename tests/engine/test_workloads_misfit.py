"""The misfit series' test and nanosleep in the simulator."""

from __future__ import annotations

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Simulator

# Seconds on a big CPU and on a little one, from the misfit series (docs/internals/workloads.md)
ALONE = {"juno-r0": (1.169, 1.746), "hikey960": (1.585, 2.598)}


@pytest.mark.parametrize("name", ALONE)
def test_big_cpus_are_used_when_they_become_free(sim: Simulator, name: str) -> None:
    big, little = ALONE[name]
    load = Load(sim, name, scenario("misfit"))
    times = [load[f"time {n}"] for n in (1, 2, 3, 4)]
    assert max(times) == load["longest"]
    assert sum(times) / 4 == pytest.approx(load["mean"])
    assert all(big < time < 0.97 * little for time in times)


def test_unpinned_tasks(sim: Simulator) -> None:
    load = Load(sim, "juno-r0", scenario("misfit", unpinned=2, requests=100))
    assert {name for name in load.results if name.startswith("time")} == {"time 1", "time 2"}


def test_rounds_follow_each_other(sim: Simulator) -> None:
    load = Load(sim, "juno-r0", scenario("misfit", unpinned=2, requests=100, rounds=3))
    rounds = [load[f"longest {number}"] for number in (1, 2, 3)]
    assert load["longest"] == pytest.approx(sum(rounds) / 3)
    assert max(load["time 1"], load["time 2"]) == rounds[0]
    assert load["mean"] < load["longest"]


def test_no_little_cpu(sim: Simulator) -> None:
    assert "no CPU is smaller than the others" in refused(sim, "smp4", scenario("misfit"))


def test_nanosleep_ends_late_by_the_timer_slack(sim: Simulator) -> None:
    load = Load(sim, "smp4", scenario("nanosleep", processes=2, time="100ms"))
    assert 1 <= load["oversleep p50"] < 100
    assert load["oversleep p50"] <= load["oversleep p99"] <= load["oversleep max"]
    turn = load["oversleep mean"] + 1
    assert load["loops"] == pytest.approx(2 * 100_000 / turn, rel=0.1)


@pytest.mark.parametrize("kind", ["misfit", "nanosleep"])
def test_repeats(sim: Simulator, kind: str) -> None:
    asked = scenario(kind, **({"requests": 50} if kind == "misfit" else {"time": "50ms"}))
    first, again = (Load(sim, "juno-r0", asked) for _ in range(2))
    assert (first.hash, first.results) == (again.hash, again.results)
