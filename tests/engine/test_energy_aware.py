"""Energy-aware scheduling, the governor and utilisation clamps on a board with two clusters."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.helpers.engine.loads import refused
from tests.helpers.engine.simulator import Json, Simulator, machine

ENERGY_AWARE = "/proc/sys/kernel/sched_energy_aware"
CLAMP = "/proc/sys/kernel/sched_util_clamp_{}"
SMALL = {"name": "small", "count": 3, "program": [{"run": "500us"}, {"sleep": "10ms"}]}
SCHEDUTIL = {"cpufreq": {"governor": "schedutil"}}


def ran(result: Json, name: str) -> dict[int, float]:
    """How long tasks of a name had CPUs of each capacity."""
    return {each["capacity"]: each["seconds"] for each in result["kinds"] if each["group"] == name}


def small_tasks(sim: Simulator, **more: Any) -> Json:
    return sim("hikey960", {"duration": "2s", "warmup": "500ms", "tasks": [SMALL], **more})


def test_small_tasks_stay_on_small_cpus(series: str, sim: Simulator) -> None:
    """With the energy model every one of their wakeups asks where it takes least."""
    aware = small_tasks(sim, **SCHEDUTIL)
    assert aware["settings"]["cpufreq governor"] == "schedutil"
    assert ran(aware, "small")[1024] < 0.01 * ran(aware, "small")[462]
    asked = "sched:sched_compute_energy_tp"
    if series != "6.1":  # has no tracepoint there
        assert aware["counters"][asked] > 100
        off = small_tasks(sim, knobs={ENERGY_AWARE: "0"}, **SCHEDUTIL)
        assert off["settings"][ENERGY_AWARE] == "0"
        assert off["counters"][asked] == 0
        assert off["trace_hash"] != aware["trace_hash"]


def test_without_the_energy_model_nobody_asks(series: str, sim: Simulator) -> None:
    """Under performance, or with operating points whose power is not known."""
    if series == "6.1":
        pytest.skip("6.1 has no tracepoint in compute_energy()")
    powerless = copy.deepcopy(machine("hikey960"))
    del powerless["thermal"]
    for entry in powerless["cpu"]:
        entry["opp"] = [{"mhz": point["mhz"]} for point in entry["opp"]]
    asked = {"duration": "1s", "tasks": [SMALL]}
    for board, more in ((machine("hikey960"), {}), (powerless, SCHEDUTIL)):
        counters = sim(board, {**asked, **more})["counters"]
        assert counters["sched:sched_compute_energy_tp"] == 0


def test_the_switch_is_refused_where_there_is_nothing_to_switch(sim: Simulator) -> None:
    asked = {"duration": "1s", "knobs": {ENERGY_AWARE: "0"}}
    for board in ("hikey960", "smp4"):  # under performance; CPUs all alike
        said = refused(sim, machine(board), asked)
        assert "Operation not supported" in said and "schedutil as the cpufreq governor" in said


def test_a_governor_is_refused_without_operating_points(sim: Simulator) -> None:
    said = refused(sim, machine("smp4"), {"duration": "1s", **SCHEDUTIL})
    assert "cpufreq.governor: this machine has no operating points" in said
    said = refused(
        sim, machine("hikey960"), {"duration": "1s", "cpufreq": {"governor": "powersave"}}
    )
    assert "performance or schedutil" in said


def test_clamps_of_the_whole_system_go_together(sim: Simulator) -> None:
    """Both are 1024 at first, so that a lower maximum needs a lower minimum, in any order."""
    lower = {CLAMP.format("max"): "300", CLAMP.format("min"): "300"}
    found = small_tasks(sim, knobs=lower, **SCHEDUTIL)["settings"]
    assert {found[path] for path in lower} == {"300"}
    said = refused(
        sim, machine("hikey960"), {"duration": "1s", "knobs": {CLAMP.format("min"): "1025"}}
    )
    assert "sched_util_clamp_min" in said and "0 to 1024" in said


def clamped(sim: Simulator, least: str, most: str) -> Json:
    group = {"path": "/bench", "cpu.uclamp.min": least, "cpu.uclamp.max": most}
    asked = {"duration": "1s", "workloads": [workload()], "cgroup": group, **SCHEDUTIL}
    return sim("hikey960", asked)


def workload() -> Json:
    return {"kind": "hackbench", "groups": 1, "fds": 1, "loops": 300, "datasize": 100}


def test_a_group_of_the_workloads_is_clamped(sim: Simulator) -> None:
    """All must look big, or small: where they run follows."""
    big, small = clamped(sim, "90.00", "max"), clamped(sim, "0.00", "5.00")
    assert big["settings"]["/sys/fs/cgroup/bench/cpu.uclamp.min"] == "90.00"
    assert small["settings"]["/sys/fs/cgroup/bench/cpu.uclamp.max"] == "5.00"
    assert small["settings"]["cgroup"] == "/bench"
    at_top = [result["frequency_domains"][1]["seconds"][-1] for result in (big, small)]
    assert at_top[0] > 2 * at_top[1]


def test_bad_clamps(sim: Simulator) -> None:
    def said(**more: Any) -> str:
        asked = {"duration": "1s", "workloads": [workload()], **more}
        return refused(sim, machine("hikey960"), asked)

    group = {"path": "/bench", "cpu.uclamp.max": "50.00"}
    assert "cgroup.path: missing" in said(cgroup={"cpu.uclamp.max": "50.00"})
    assert "cpu.uclamp.max" in said(cgroup=group | {"cpu.uclamp.max": "101.00"})
    assert "cgroup: no workload is in it" in refused(
        sim, machine("hikey960"), {"duration": "1s", "cgroup": group}
    )
