"""The watch for a settled state, and runs that are measured from then on."""

from __future__ import annotations

from typing import Any

import pytest

from tests.helpers.engine.loads import Load, refused, scenario
from tests.helpers.engine.simulator import Json, Simulator

SETTLED = {"warmup": "settled"}
NO_NUMA = {"knobs": {"/proc/sys/kernel/numa_balancing": "0"}}


def load(more: Json, kind: str, **options: Any) -> Json:
    return scenario(kind, **options) | more


def steady(result: Json) -> Json:
    state: Json = result["steady"]
    return state


def test_a_run_too_short_names_what_had_not_settled(sim: Simulator) -> None:
    """The LLC of 112 CPUs is balanced by a busy CPU every 3.6 s."""
    asked = scenario("netperf", clients=224, length="40ms")
    state = steady(sim("spr-8480-2p", asked))
    said = "\n".join(state["unsettled"])
    assert "busy CPUs balance MC (112 CPUs) every 3.58 s, and only 0 of 2 such domains" in said
    assert "how many CPUs a wakeup searches (nr_idle_scan) dates from before the load" in said
    assert "load averages remember 0.328 s" in said
    assert state["settled_s"] is None


def test_a_long_run_names_nothing(sim: Simulator) -> None:
    asked = scenario("unixbench", test="dhry2reg", copies=16, duration="30s")
    state = steady(sim("small-2n-smt2", asked))
    assert state["unsettled"] == []
    assert not state["wound"]
    assert 1 < state["settled_s"] < 15, "NUMA scans come after seconds of a task's CPU time"
    assert {domain["name"] for domain in state["domains"]} == {"SMT", "MC", "NUMA"}
    assert all(domain["gone_round"] == domain["domains"] for domain in state["domains"])


def test_a_state_that_settles_late_in_the_measured_part_is_not_its_state(sim: Simulator) -> None:
    long = steady(sim("smp4", scenario("unixbench", test="dhry2reg", copies=8, duration="4s")))
    assert long["unsettled"] == []
    late = f"{long['settled_s'] * 1300:.0f}ms"
    short = steady(sim("smp4", scenario("unixbench", test="dhry2reg", copies=8, duration=late)))
    assert short["settled_s"] == long["settled_s"]
    assert len(short["unsettled"]) == 1
    assert "after measuring began" in short["unsettled"][0]


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("hackbench", {"groups": 1, "loops": 300, "pipe": True, "threads": True}),
        ("netperf", {"clients": 6, "length": "50ms"}),
        ("tbench", {"nprocs": 6, "timelimit": "50ms", "warmup": "1ms"}),
        ("schbench", {"threads": 4, "runtime": "500ms"}),
        ("schbench-old", {"message_threads": 1, "threads": 4, "runtime": "500ms"}),
        ("unixbench", {"test": "pipe", "copies": 4, "duration": "50ms"}),
        ("unixbench", {"test": "execl", "copies": 4, "duration": "50ms"}),
        ("stream", {"ntimes": 2}),
        ("sched-pipe", {"loop": 300}),
    ],
)
def test_a_warm_run_is_measured_from_where_its_state_has_settled(
    sim: Simulator, kind: str, options: Json
) -> None:
    asked = load(SETTLED, kind, **options)
    result = sim("smp4", asked)
    state = steady(result)
    assert state["unsettled"] == []
    assert state["wound"]
    assert state["settled_s"] > 0.3
    middle = state["measured_from_s"] + result["window_s"] / 2
    assert middle >= state["settled_s"], "what is measured is mostly of a settled state"
    assert result["window_s"] < 1
    assert sim("smp4", asked)["trace_hash"] == result["trace_hash"]


@pytest.mark.parametrize("loops", [2000, 2300, 2600])
def test_what_is_counted_of_a_call_is_what_its_time_is_of(sim: Simulator, loops: int) -> None:
    """A call in whose middle the state settles, and which counts, is not cut there."""
    result = sim("hikey960", load(SETTLED, "sched-pipe", loop=loops))
    assert result["window_s"] == pytest.approx(result["metrics"]["sched-pipe.time"], rel=1e-3)


def test_hackbench_warm_takes_as_long_as_in_a_long_run(sim: Simulator, series: str) -> None:
    """A short cold one is mostly its start, which CFS makes much quicker than what follows."""
    times = {"cold": 0.0, "warm": 0.0, "long": 0.0}
    seeds = (1, 2)
    for kind, more, thousands in (("cold", {}, 1), ("warm", SETTLED, 2), ("long", {}, 5)):
        options = {"groups": 1, "loops": 1000 * thousands, "pipe": True, "threads": True}
        for seed in seeds:
            run = Load(sim, "smp4", load(more, "hackbench", **options), seed=seed)
            times[kind] += run["time"] / thousands / len(seeds)
    assert times["warm"] == pytest.approx(times["long"], rel=0.2)  # seeds differ by a tenth
    if series == "6.1":
        assert times["cold"] < 0.8 * times["long"]


def test_wound_clocks_end_where_the_kernels_own_do(sim: Simulator) -> None:
    """On eight CPUs these take a second or two, so both can be waited for."""
    wound, own = (
        sim("small-2n-smt2", load(more | NO_NUMA, "netperf", clients=16, length="200ms"))
        for more in (SETTLED, SETTLED | {"wind_clocks": False})
    )
    assert not steady(own)["wound"]
    rates = [result["metrics"]["netperf.transactions per client"] for result in (wound, own)]
    assert rates[0] == pytest.approx(rates[1], rel=0.05)
    assert steady(wound)["nr_idle_scan"] == steady(own)["nr_idle_scan"]


def test_numa_scans_are_waited_for_where_they_are_on(sim: Simulator) -> None:
    scanned, alone = (
        steady(sim("small-2n-smt2", load(SETTLED | more, "netperf", clients=8, length="50ms")))
        for more in ({}, NO_NUMA)
    )
    assert scanned["unsettled"] == alone["unsettled"] == []
    assert scanned["numa_scanned_tasks"] == scanned["numa_tasks"] > 0
    assert alone["numa_tasks"] == 0


@pytest.mark.parametrize(
    ("kind", "options"),
    [
        ("stream", {"array_size": 400_000, "ntimes": 4, "threads": 4}),
        ("unixbench", {"test": "execl", "copies": 8, "duration": "50ms"}),
    ],
)
def test_programs_that_come_and_go_are_not_waited_for(
    sim: Simulator, kind: str, options: Json
) -> None:
    """Each ends before NUMA balancing scans it, on a machine as here."""
    state = steady(sim("small-2n-smt2", load(SETTLED, kind, **options)))
    assert (state["unsettled"], state["numa_scanned_tasks"], state["numa_tasks"]) == ([], 0, 0)


def test_a_load_warms_up_for_a_time_too(sim: Simulator) -> None:
    asked = load({"warmup": "300ms"}, "netperf", clients=2, length="50ms")
    result = sim("smp4", asked)
    assert steady(result)["measured_from_s"] == pytest.approx(0.3, abs=1e-4)
    assert not steady(result)["wound"]


def test_what_warmup_takes(sim: Simulator) -> None:
    said = refused(sim, "smp4", load({"warmup": "sett"}, "sched-pipe", loop=10))
    assert 'warmup: "sett"' in said
    said = refused(sim, "smp4", load({"wind_clocks": False}, "sched-pipe", loop=10))
    assert 'wind_clocks: only where warmup is "settled"' in said


def test_tasks_are_measured_for_the_duration_once_settled(sim: Simulator) -> None:
    spin: Json = {"name": "spin", "count": 6, "program": [{"run": "1ms"}]}
    result = sim("smp4", {"duration": "200ms", "warmup": "settled", "tasks": [spin]})
    assert result["window_s"] == pytest.approx(0.2, abs=1e-6)
    assert steady(result)["unsettled"] == []
